/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blocks.c - counts the pieces in partly filled blocks. A block that one piece
 * fills belongs to that piece, and needs no count.
 */
#include "limit/preload/memory/blocks.h"
#include "limit/preload/own.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>

#define CHUNK_BLOCKS (1u << 14)

/*
 * In each word: the number of pieces, and in the upper half the epoch
 * (memory_epoch()) in which the first of them was added.
 */
struct blocks_chunk {
	_Atomic uint64_t word[CHUNK_BLOCKS];
};

uint64_t blocks_round(uint64_t bytes)
{
	return bytes > UINT64_MAX - BLOCK_BYTES
		   ? UINT64_MAX & -BLOCK_BYTES
		   : (bytes + BLOCK_BYTES - 1) & -BLOCK_BYTES;
}

__attribute__((noinline, cold)) static struct blocks_chunk *
make_chunk(struct blocks *b, uint64_t index)
{
	struct blocks_chunk *made = own_map(sizeof(*made)), *none = NULL;

	if (made &&
	    !atomic_compare_exchange_strong(&b->chunk[index], &none, made)) {
		munmap(made, sizeof(*made));
		return none;
	}
	return made;
}

/* The word of a block; NULL: out of memory. */
static _Atomic uint64_t *word_of(struct blocks *b, uint64_t block)
{
	uint64_t index = block / CHUNK_BLOCKS % BLOCKS_CHUNKS;
	struct blocks_chunk *c =
	    atomic_load_explicit(&b->chunk[index], memory_order_acquire);

	if (!c)
		c = make_chunk(b, index);
	return c ? &c->word[block % CHUNK_BLOCKS] : NULL;
}

/* True: the block was free. */
static bool enter_block(_Atomic uint64_t *word, uint32_t now)
{
	uint64_t seen = atomic_load_explicit(word, memory_order_relaxed), next;

	do
		next = (uint32_t)seen ? seen + 1 : (uint64_t)now << 32 | 1;
	while (!atomic_compare_exchange_weak(word, &seen, next));
	return !(uint32_t)seen;
}

/* True: the block is free now. */
static bool leave_block(_Atomic uint64_t *word, uint32_t since, bool *ret_old)
{
	uint64_t seen = atomic_fetch_sub(word, 1);

	*ret_old = (uint32_t)(seen >> 32) < since;
	return (uint32_t)seen == 1;
}

/*
 * The partly filled blocks of a piece. Only its first and its last block can be
 * partly filled; all others are full.
 */
struct edges {
	unsigned count;
	uint64_t block[2];
	uint64_t filled; /* number of full blocks */
};

static struct edges find_edges(uint64_t address, uint64_t bytes)
{
	uint64_t end = address + bytes;
	uint64_t first = address / BLOCK_BYTES;
	uint64_t last = (end - 1) / BLOCK_BYTES;
	struct edges e = {.filled = last - first + 1};

	if (address % BLOCK_BYTES || (first == last && end % BLOCK_BYTES))
		e.block[e.count++] = first;
	if (first != last && end % BLOCK_BYTES)
		e.block[e.count++] = last;
	e.filled -= e.count;
	return e;
}

/*
 * Whether a piece lies within one block and leaves space for others, as most
 * do.
 */
static inline bool is_small(uint64_t address, uint64_t bytes)
{
	uint64_t offset = address % BLOCK_BYTES;

	return bytes < BLOCK_BYTES && offset + bytes <= BLOCK_BYTES;
}

static uint64_t add_small(struct blocks *b, uint64_t address, uint32_t now)
{
	_Atomic uint64_t *word = word_of(b, address / BLOCK_BYTES);

	if (!word)
		return UINT64_MAX;
	return enter_block(word, now) ? BLOCK_BYTES : 0;
}

static uint64_t remove_small(struct blocks *b, uint64_t address, uint32_t since,
			     uint64_t *ret_old)
{
	_Atomic uint64_t *word = word_of(b, address / BLOCK_BYTES);
	bool old, free = leave_block(word, since, &old);

	*ret_old = free && old ? BLOCK_BYTES : 0;
	return free ? BLOCK_BYTES : 0;
}

uint64_t blocks_add(struct blocks *b, uint64_t address, uint64_t bytes,
		    uint32_t now)
{
	_Atomic uint64_t *word[2];
	struct edges e;

	if (is_small(address, bytes))
		return add_small(b, address, now);
	e = find_edges(address, bytes);
	for (unsigned i = 0; i < e.count; i++) {
		word[i] = word_of(b, e.block[i]);
		if (!word[i])
			return UINT64_MAX;
	}
	for (unsigned i = 0; i < e.count; i++)
		e.filled += enter_block(word[i], now);
	return e.filled * BLOCK_BYTES;
}

uint64_t blocks_remove(struct blocks *b, uint64_t address, uint64_t bytes,
		       uint32_t since, uint64_t *ret_old)
{
	struct edges e;
	bool old;

	if (is_small(address, bytes))
		return remove_small(b, address, since, ret_old);
	*ret_old = 0;
	e = find_edges(address, bytes);
	for (unsigned i = 0; i < e.count; i++) {
		if (!leave_block(word_of(b, e.block[i]), since, &old))
			continue;
		e.filled++;
		*ret_old += old ? BLOCK_BYTES : 0;
	}
	return e.filled * BLOCK_BYTES;
}
