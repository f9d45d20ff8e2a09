/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mem_pool.c - allocates and frees pieces in the blocks of an arena, for pools.
 */
#include "base/assert.h"
#include "base/err.h"
#include "device/share_file.h"
#include "device/space_arena.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

static uint64_t round_up(uint64_t n, uint64_t to)
{
	return (n + to - 1) & ~(to - 1);
}

static void raise_to(uint64_t *high, uint64_t value)
{
	if (*high < value)
		*high = value;
}

/* ---- blocks ---- */

static int take_blocks(struct gkf_mem_pool *pool, uint32_t n, uint32_t align,
		       uint32_t *ret_block)
{
	struct arena *a = pool->arena;
	int r = pool_charge(pool, n * BLOCK_SIZE);

	if (r)
		return r;
	if (!fit_take(&a->blocks, n, align, ret_block)) {
		pool_repay(pool, n * BLOCK_SIZE);
		return GK_ERR_NO_SPACE;
	}
	for (uint32_t i = 0; i < n; i++) {
		a->kept -= a->dirty[*ret_block + i] ? BLOCK_SIZE : 0;
		a->dirty[*ret_block + i] = 1;
	}
	return 0;
}

/*
 * Returns the pages of freed blocks to the host, if there are many or the arena
 * already keeps enough pages. The blocks are still marked as used, so the lock
 * can be released meanwhile.
 */
static void drop_pages(struct arena *a, uint32_t block, uint32_t n)
{
	uint64_t bytes = n * BLOCK_SIZE;

	GK_ASSERT(gk_lock_held(&a->lock));
	if (bytes < KEPT_PIECE && a->kept + bytes <= KEPT_MAX) {
		a->kept += bytes;
		return;
	}
	pthread_mutex_unlock(&a->lock);
	madvise(a->view + block * BLOCK_SIZE, bytes,
		a->kind == GKF_MEMORY_HOST ? MADV_DONTNEED : MADV_REMOVE);
	pthread_mutex_lock(&a->lock);
	memset(&a->dirty[block], 0, n);
}

static void give_blocks(struct gkf_mem_pool *pool, uint32_t block, uint32_t n)
{
	struct arena *a = pool->arena;
	uint32_t first, length;

	for (uint32_t i = 0; i < n; i++)
		atomic_store_explicit(&a->block[block + i], 0,
				      memory_order_release);
	if (a->kind == GKF_MEMORY_MANAGED)
		resident_free(block, n);
	drop_pages(a, block, n);
	fit_give(&a->blocks, block, n, &first, &length);
	pool_repay(pool, n * BLOCK_SIZE);
}

/* ---- small pieces ---- */

static uint32_t new_shared(struct arena *a)
{
	uint32_t number = a->first_shared;
	struct shared_block *s;

	if (number) {
		a->first_shared = a->shared[number]->next_free;
		return number;
	}
	s = mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (s == MAP_FAILED)
		return 0;
	number = ++a->shared_count;
	a->note[number] = s->note;
	__atomic_store_n(&a->shared[number], s, __ATOMIC_RELEASE);
	return number;
}

/* Adds a block for the small pieces of a pool. */
static int share_block(struct gkf_mem_pool *pool)
{
	struct arena *a = pool->arena;
	uint32_t number = new_shared(a);
	uint32_t block, first, length;
	int r;

	if (!number)
		return GK_ERR_NOMEM;
	r = take_blocks(pool, 1, 1, &block);
	if (r) {
		a->shared[number]->next_free = a->first_shared;
		a->first_shared = number;
		return r;
	}
	a->shared[number]->pool = pool;
	a->shared[number]->block = block;
	fit_give(&pool->small, number * BLOCK_UNITS, BLOCK_UNITS, &first,
		 &length);
	atomic_store_explicit(&a->block[block], number << 1 | 1,
			      memory_order_release);
	return 0;
}

static void mark_start(struct shared_block *s, unsigned unit, bool on)
{
	_Atomic uint64_t *word = &s->starts[unit / 64];
	uint64_t bit = 1ULL << (unit % 64);
	uint64_t bits = atomic_load_explicit(word, memory_order_relaxed);
	uint64_t words = atomic_load_explicit(&s->words, memory_order_relaxed);

	bits = on ? bits | bit : bits & ~bit;
	atomic_store_explicit(word, bits, memory_order_release);
	bit = 1ULL << (unit / 64);
	words = bits ? words | bit : words & ~bit;
	atomic_store_explicit(&s->words, words, memory_order_release);
}

static int alloc_small(struct gkf_mem_pool *pool, struct piece_words *words,
		       uint32_t align)
{
	struct arena *a = pool->arena;
	struct shared_block *s;
	uint32_t unit, first, length, piece;
	int r;

	if (!fit_take(&pool->small, words->units, align, &unit)) {
		r = share_block(pool);
		if (r)
			return r;
		if (!fit_take(&pool->small, words->units, align, &unit))
			return GK_ERR_NO_SPACE;
	}
	s = a->shared[unit / BLOCK_UNITS];
	words->base =
	    a->base + s->block * BLOCK_SIZE + unit % BLOCK_UNITS * UNIT_SIZE;
	piece = piece_new(&a->pieces, words);
	if (!piece) {
		fit_give(&pool->small, unit, words->units, &first, &length);
		return GK_ERR_NOMEM;
	}
	atomic_store_explicit(&s->piece[unit % BLOCK_UNITS], piece,
			      memory_order_release);
	mark_start(s, unit % BLOCK_UNITS, true);
	return 0;
}

/* Frees a small piece, and its block if that contains no other piece. */
static void free_small(struct arena *a, uint32_t number,
		       const struct piece_words *words)
{
	struct shared_block *s = a->shared[number];
	struct gkf_mem_pool *pool = s->pool;
	unsigned unit =
	    (unsigned)((words->base - a->base) % BLOCK_SIZE / UNIT_SIZE);
	uint32_t first, length;

	mark_start(s, unit, false);
	piece_free(&a->pieces,
		   atomic_load_explicit(&s->piece[unit], memory_order_relaxed));
	fit_give(&pool->small, number * (uint32_t)BLOCK_UNITS + unit,
		 words->units, &first, &length);
	if (length < BLOCK_UNITS)
		return;
	fit_remove(&pool->small, first);
	s->next_free = a->first_shared;
	a->first_shared = number;
	give_blocks(pool, s->block, 1);
}

/* ---- pieces that consist of whole blocks ---- */

static int alloc_large(struct gkf_mem_pool *pool, struct piece_words *words,
		       uint32_t align)
{
	struct arena *a = pool->arena;
	uint32_t block, piece;
	int r = take_blocks(pool, words->units, align, &block);

	if (r)
		return r;
	words->base = a->base + block * BLOCK_SIZE;
	piece = piece_new(&a->pieces, words);
	if (!piece) {
		give_blocks(pool, block, words->units);
		return GK_ERR_NOMEM;
	}
	for (uint32_t i = 0; i < words->units; i++)
		atomic_store_explicit(&a->block[block + i], piece << 1,
				      memory_order_release);
	return 0;
}

static void free_large(struct arena *a, uint32_t piece,
		       const struct piece_words *words)
{
	struct gkf_mem_pool *pool =
	    (struct gkf_mem_pool *)(uintptr_t)words->pool;

	piece_free(&a->pieces, piece);
	give_blocks(pool, (uint32_t)((words->base - a->base) / BLOCK_SIZE),
		    words->units);
}

/* ---- all pieces ---- */

/*
 * Returns how many bytes of its pool a piece uses: its size, rounded up to
 * whole units.
 */
static uint64_t used_bytes(const struct piece_words *words)
{
	return round_up(words->size, UNIT_SIZE);
}

static void pool_end(struct gkf_mem_pool *pool)
{
	struct gkf_mem_pool **link = &pool->arena->pool.next;

	GK_ASSERT(gk_lock_held(&pool->arena->lock));
	if (!pool->released || pool->pieces)
		return;
	pool_bequeath(pool);
	while (*link != pool)
		link = &(*link)->next;
	*link = pool->next;
	munmap(pool, sizeof(*pool));
}

int arena_alloc(struct gkf_mem_pool *pool, const struct gkf_memory_ask *ask,
		uint64_t *ret_address)
{
	struct arena *a = pool->arena;
	uint64_t align = ask->align > UNIT_SIZE ? ask->align : UNIT_SIZE;
	bool small = ask->size <= SMALL_MAX && align <= BLOCK_SIZE / 4;
	uint64_t unit = small ? UNIT_SIZE : BLOCK_SIZE;
	struct piece_words words = {.size = ask->size,
				    .owner = (uintptr_t)ask->owner,
				    .pool = (uintptr_t)pool,
				    .kind = ask->kind,
				    .device = ask->device,
				    .flags = ask->flags};
	int r;

	if (ask->size > a->size)
		return GK_ERR_NO_SPACE;
	words.id = space_id();
	words.units = (uint32_t)(round_up(ask->size, unit) / unit);
	align = align > unit ? align / unit : 1;
	pthread_mutex_lock(&a->lock);
	r = small ? alloc_small(pool, &words, (uint32_t)align)
		  : alloc_large(pool, &words, (uint32_t)align);
	if (!r) {
		pool->pieces++;
		pool->usage.used += used_bytes(&words);
		raise_to(&pool->usage.used_high, pool->usage.used);
	}
	pthread_mutex_unlock(&a->lock);
	if (!r)
		*ret_address = words.base;
	return r;
}

int arena_free(struct arena *a, uint64_t base)
{
	uint64_t offset = base - a->base;
	struct piece_words words;
	struct gkf_mem_pool *pool;
	uint32_t entry;
	int r = GK_ERR_NOT_FOUND;

	pthread_mutex_lock(&a->lock);
	if (arena_find(a, base, &words) && words.base == base) {
		share_drop(a, offset);
		entry = atomic_load_explicit(&a->block[offset / BLOCK_SIZE],
					     memory_order_relaxed);
		pool = (struct gkf_mem_pool *)(uintptr_t)words.pool;
		pool->usage.used -= used_bytes(&words);
		if (entry & 1)
			free_small(a, entry >> 1, &words);
		else
			free_large(a, entry >> 1, &words);
		pool->pieces--;
		pool_end(pool);
		r = 0;
	}
	pthread_mutex_unlock(&a->lock);
	return r;
}

uint64_t gkf_space_room(uint64_t size)
{
	return round_up(size, size <= SMALL_MAX ? UNIT_SIZE : BLOCK_SIZE);
}

/* Returns the number of the piece that starts at an address. */
static uint32_t piece_at_base(const struct arena *a, uint64_t base)
{
	uint64_t offset = base - a->base;
	uint32_t entry = atomic_load_explicit(&a->block[offset / BLOCK_SIZE],
					      memory_order_relaxed);

	if (!(entry & 1))
		return entry >> 1;
	return atomic_load_explicit(
	    &a->shared[entry >> 1]->piece[offset % BLOCK_SIZE / UNIT_SIZE],
	    memory_order_relaxed);
}

int arena_renew(struct arena *a, uint64_t base, uint64_t size)
{
	struct piece_words words;
	struct gkf_mem_pool *pool;
	int r = GK_ERR_NOT_FOUND;

	pthread_mutex_lock(&a->lock);
	if (arena_find(a, base, &words) && words.base == base)
		r = gkf_space_room(size) == gkf_space_room(words.size)
			? 0
			: GK_ERR_RANGE;
	if (!r) {
		share_drop(a, base - a->base);
		pool = (struct gkf_mem_pool *)(uintptr_t)words.pool;
		pool->usage.used -= used_bytes(&words);
		words.size = size;
		words.id = space_id();
		pool->usage.used += used_bytes(&words);
		raise_to(&pool->usage.used_high, pool->usage.used);
		piece_change(&a->pieces, piece_at_base(a, base), &words);
	}
	pthread_mutex_unlock(&a->lock);
	return r;
}

/* ---- pools that callers made ---- */

void gkf_mem_pool_release(struct gkf_mem_pool *pool)
{
	struct arena *a = pool->arena;

	pthread_mutex_lock(&a->lock);
	pool->released = true;
	pool->threshold = 0;
	pool_trim(pool, 0);
	pool_end(pool);
	pthread_mutex_unlock(&a->lock);
}

void gkf_mem_pool_keep(struct gkf_mem_pool *pool, uint64_t threshold)
{
	pthread_mutex_lock(&pool->arena->lock);
	pool->threshold = threshold;
	pthread_mutex_unlock(&pool->arena->lock);
}

void gkf_mem_pool_trim(struct gkf_mem_pool *pool, uint64_t keep)
{
	pthread_mutex_lock(&pool->arena->lock);
	pool_trim(pool, round_up(keep, BLOCK_SIZE));
	pthread_mutex_unlock(&pool->arena->lock);
}

void gkf_mem_pool_read(struct gkf_mem_pool *pool,
		       struct gkf_mem_pool_usage *ret_usage)
{
	pthread_mutex_lock(&pool->arena->lock);
	*ret_usage = pool->usage;
	pthread_mutex_unlock(&pool->arena->lock);
}

void gkf_mem_pool_reset(struct gkf_mem_pool *pool, bool reserved, bool used)
{
	pthread_mutex_lock(&pool->arena->lock);
	if (reserved)
		pool->usage.reserved_high = pool->usage.reserved;
	if (used)
		pool->usage.used_high = pool->usage.used;
	pthread_mutex_unlock(&pool->arena->lock);
}
