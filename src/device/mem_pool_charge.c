/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mem_pool_charge.c - charges the books for the blocks of pools, and refunds
 * the charges.
 */
#include "base/assert.h"
#include "base/err.h"
#include "device/space_arena.h"
#include "machine/store/process/books.h"

static void note_owed(struct gkf_mem_pool *pool, uint64_t bytes)
{
	if (pool->owed < bytes)
		pool->owed = bytes;
	atomic_store(&pool->arena->owes, true);
}

/*
 * Reduces the reserve to `keep` bytes and refunds the rest, beginning with the
 * bytes counted in pool->owed. Returns false if the books could not be changed.
 */
static bool refund_to(struct gkf_mem_pool *pool, uint64_t keep)
{
	struct arena *a = pool->arena;
	uint64_t target = keep > pool->blocks ? keep : pool->blocks, bytes;

	GK_ASSERT(gk_lock_held(&a->lock));
	if (target >= pool->usage.reserved)
		return true;
	bytes = pool->usage.reserved - target;
	if (a->machine &&
	    arena_still_charged(gkf_books_refund(a->machine, a->slot, bytes))) {
		note_owed(pool, bytes);
		return false;
	}
	pool->usage.reserved = target;
	pool->owed = pool->owed > bytes ? pool->owed - bytes : 0;
	return true;
}

/*
 * Stops at the first failure, since every attempt waits for the lock of the
 * books.
 */
static void settle_pools(struct arena *a)
{
	if (!atomic_exchange(&a->owes, false))
		return;
	resident_settle(a);
	for (struct gkf_mem_pool *pool = &a->pool;
	     pool && !atomic_load(&a->owes); pool = pool->next)
		if (pool->owed)
			refund_to(pool, pool->usage.reserved - pool->owed);
}

static void reclaim_reserves(struct arena *a)
{
	struct gkf_mem_pool *pool = &a->pool;

	while (pool && refund_to(pool, 0))
		pool = pool->next;
}

/* Makes the pool's reserve at least `blocks` bytes. */
static int reserve_blocks(struct gkf_mem_pool *pool, uint64_t blocks)
{
	struct arena *a = pool->arena;
	int r = 0;

	if (blocks <= pool->usage.reserved)
		return 0;
	if (a->machine)
		r = gkf_books_charge(a->machine, a->slot,
				     blocks - pool->usage.reserved);
	if (!r)
		pool->usage.reserved = blocks;
	return r;
}

/* Bytes of the reserve that come into use need no longer be refunded. */
static void use_reserve(struct gkf_mem_pool *pool, uint64_t blocks)
{
	uint64_t rest = pool->usage.reserved - blocks;

	pool->blocks = blocks;
	if (pool->usage.reserved_high < pool->usage.reserved)
		pool->usage.reserved_high = pool->usage.reserved;
	if (pool->owed > rest)
		pool->owed = rest;
}

/*
 * If memory is short, refunds the reserves of all pools, then evicts managed
 * memory.
 */
int pool_charge(struct gkf_mem_pool *pool, uint64_t bytes)
{
	struct arena *a = pool->arena;
	uint64_t blocks = pool->blocks + bytes;
	int r;

	GK_ASSERT(gk_lock_held(&a->lock));
	if (pool->max && blocks > pool->max)
		return GK_ERR_NO_SPACE;
	r = reserve_blocks(pool, blocks);
	if (r == GK_ERR_NO_SPACE && (a->pool.next || atomic_load(&a->owes))) {
		reclaim_reserves(a);
		r = reserve_blocks(pool, blocks);
	}
	if (r == GK_ERR_NO_SPACE &&
	    resident_evict(a, blocks - pool->usage.reserved))
		r = reserve_blocks(pool, blocks);
	if (r)
		return r;
	use_reserve(pool, blocks);
	settle_pools(a);
	return 0;
}

void pool_trim(struct gkf_mem_pool *pool, uint64_t keep)
{
	GK_ASSERT(gk_lock_held(&pool->arena->lock));
	if (refund_to(pool, keep))
		settle_pools(pool->arena);
}

void pool_repay(struct gkf_mem_pool *pool, uint64_t bytes)
{
	GK_ASSERT(gk_lock_held(&pool->arena->lock));
	GK_ASSERT(bytes <= pool->blocks);
	pool->blocks -= bytes;
	pool_trim(pool, pool->threshold & ~(BLOCK_SIZE - 1));
}

void pool_owe(struct gkf_mem_pool *pool, uint64_t bytes)
{
	GK_ASSERT(gk_lock_held(&pool->arena->lock));
	pool->usage.reserved += bytes;
	pool->owed += bytes;
	atomic_store(&pool->arena->owes, true);
	settle_pools(pool->arena);
}

/* Nothing in the pool is in use, so its whole reserve must be refunded. */
void pool_bequeath(struct gkf_mem_pool *pool)
{
	struct gkf_mem_pool *heir = &pool->arena->pool;

	GK_ASSERT(gk_lock_held(&pool->arena->lock));
	GK_ASSERT(!pool->pieces);
	heir->usage.reserved += pool->usage.reserved;
	heir->owed += pool->usage.reserved;
}

void arena_close(struct arena *a)
{
	pthread_mutex_lock(&a->lock);
	reclaim_reserves(a);
	for (struct gkf_mem_pool *pool = &a->pool; pool; pool = pool->next)
		pool->usage.reserved = pool->owed = 0;
	resident_close(a);
	atomic_store(&a->owes, false);
	pthread_mutex_unlock(&a->lock);
}
