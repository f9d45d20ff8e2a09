/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tape_block.h - the blocks of a tape. A block is a head of 32 bytes, followed
 * by a part of a zstd stream.
 */
#ifndef GK_RECORD_TAPE_BLOCK_H
#define GK_RECORD_TAPE_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GK_TAPE_HEAD_LEN 32

/* The maximum size of a block in bytes, both stored and unpacked. */
#define GK_TAPE_BLOCK_MAX (16U << 20)

/*
 * The maximum compression ratio of blocks that unpack to more than 4 MiB. This
 * protects readers from small blocks that unpack to huge ones. Snapshots that
 * do not change come close to this ratio.
 */
#define GK_TAPE_RATIO_MAX  1000
#define GK_TAPE_RATIO_FREE (4U << 20)

/* A stream refers to at most 2^n earlier bytes, which readers must keep. */
#define GK_TAPE_WINDOW_MAX 19

enum gk_tape_flag {
	GK_TAPE_KEY = 1, /* begins a new stream, and contains a schema */
};

struct gk_tape_head {
	uint32_t flags;
	uint32_t stored;  /* size of the block without its head */
	uint32_t raw;     /* size when unpacked */
	uint64_t wall_ns; /* time of the snapshot */
	uint32_t check;   /* CRC-32C of the bytes after the head */
};

/* Returns the CRC-32C (Castagnoli) of bytes, as in iSCSI. */
uint32_t gk_crc32c(const void *bytes, size_t len);

/* Whether the sizes in a head, and the ratio between them, are allowed. */
bool gk_tape_head_fits(const struct gk_tape_head *head);

void gk_tape_head_write(const struct gk_tape_head *head,
			unsigned char bytes[GK_TAPE_HEAD_LEN]);
/* Reads a head. Returns false if the bytes are not a head, or are damaged. */
bool gk_tape_head_read(const unsigned char bytes[GK_TAPE_HEAD_LEN],
		       struct gk_tape_head *ret_head);

#endif
