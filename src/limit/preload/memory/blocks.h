/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blocks.h - the 2 MiB blocks in which this process's memory lies. A driver
 * takes whole blocks and packs small allocations (pieces) into one: the first
 * piece in a block takes the block, the last one gives it back.
 */
#ifndef GKL_PRELOAD_BLOCKS_H
#define GKL_PRELOAD_BLOCKS_H

#include <stdatomic.h>
#include <stdint.h>

#define BLOCK_BYTES (2ULL << 20)

/* Chunks of 32 GiB each, which cover 49-bit addresses. */
enum { BLOCKS_CHUNKS = 1 << 14 };

struct blocks_chunk;

/* All zeros: no blocks. Any thread; without locks. */
struct blocks {
	_Atomic(struct blocks_chunk *) chunk[BLOCKS_CHUNKS];
};

uint64_t blocks_round(uint64_t bytes);

/*
 * Adds a piece. Returns the total size of its blocks that were free before, and
 * records `now` for them; UINT64_MAX: out of memory.
 */
uint64_t blocks_add(struct blocks *b, uint64_t address, uint64_t bytes,
		    uint32_t now);

/*
 * Removes a piece. Returns the total size of its blocks that are free now.
 * *ret_old: the part of that size in partly filled blocks that have been in use
 * since before `since`.
 */
uint64_t blocks_remove(struct blocks *b, uint64_t address, uint64_t bytes,
		       uint32_t since, uint64_t *ret_old);

#endif
