/*
 * tape_block.h - the blocks that a tape is made of: a head of 32 bytes, then
 * a part of a zstd stream.
 */
#ifndef GK_RECORD_TAPE_BLOCK_H
#define GK_RECORD_TAPE_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GK_TAPE_HEAD_LEN 32

/* No snapshot is larger; a head that says so is damaged. */
#define GK_TAPE_BLOCK_MAX (256U << 20)

enum gk_tape_flag {
	GK_TAPE_KEY = 1, /* a stream begins, with a schema */
};

struct gk_tape_head {
	uint32_t flags;
	uint32_t stored;  /* bytes of the block behind its head */
	uint32_t raw;     /* what they become */
	uint64_t wall_ns; /* of the snapshot */
	uint32_t check;   /* CRC-32C of the bytes behind the head */
};

/* CRC-32C (Castagnoli) as iSCSI has it. */
uint32_t gk_crc32c(const void *bytes, size_t len);

void gk_tape_head_write(const struct gk_tape_head *head,
			unsigned char bytes[GK_TAPE_HEAD_LEN]);
/* False: this is no head, or a damaged one. */
bool gk_tape_head_read(const unsigned char bytes[GK_TAPE_HEAD_LEN],
		       struct gk_tape_head *ret_head);

#endif
