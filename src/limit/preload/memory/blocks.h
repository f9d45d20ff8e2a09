/*
 * blocks.h - the blocks of 2 MiB that this process's memory lies in. A driver
 * takes whole blocks and puts small pieces together in one: the first piece in
 * a block takes it, the last one gives it back.
 */
#ifndef GKL_PRELOAD_BLOCKS_H
#define GKL_PRELOAD_BLOCKS_H

#include <stdatomic.h>
#include <stdint.h>

#define BLOCK_BYTES (2ULL << 20)

enum { BLOCKS_CHUNKS = 1 << 14 }; /* of 32 GiB each: all of 49 bits */

struct blocks_chunk;

/* Zeroed memory has no blocks. Any thread; without locks. */
struct blocks {
	_Atomic(struct blocks_chunk *) chunk[BLOCKS_CHUNKS];
};

uint64_t blocks_round(uint64_t bytes);

/*
 * A piece comes. Returns the bytes of blocks that were nobody's before, to
 * which `now` is noted; UINT64_MAX: no memory for the table.
 */
uint64_t blocks_add(struct blocks *b, uint64_t address, uint64_t bytes,
		    uint32_t now);

/*
 * A piece goes. Returns the bytes of blocks that are nobody's any more;
 * *ret_old: those among them that small pieces shared and that were taken
 * before `since`.
 */
uint64_t blocks_remove(struct blocks *b, uint64_t address, uint64_t bytes,
		       uint32_t since, uint64_t *ret_old);

#endif
