/*
 * mem_pool_charge.c - charges the ledger for the blocks of a pool, and repays
 * it.
 */
#include "base/err.h"
#include "device/space_arena.h"
#include "machine/store/books.h"

bool is_still_charged(int error)
{
	return error && error != GK_ERR_NOT_FOUND && error != GK_ERR_RANGE;
}

static void note_owed(struct gkf_mem_pool *pool, uint64_t bytes)
{
	if (pool->owed < bytes)
		pool->owed = bytes;
	atomic_store(&pool->arena->owes, true);
}

/* False: the books cannot be had. What was owed is among what is in reserve. */
static bool refund_to(struct gkf_mem_pool *pool, uint64_t keep)
{
	struct arena *a = pool->arena;
	uint64_t target = keep > pool->blocks ? keep : pool->blocks, bytes;

	if (target >= pool->usage.reserved)
		return true;
	bytes = pool->usage.reserved - target;
	if (a->machine &&
	    is_still_charged(gkf_books_refund(a->machine, a->slot, bytes))) {
		note_owed(pool, bytes);
		return false;
	}
	pool->usage.reserved = target;
	pool->owed = pool->owed > bytes ? pool->owed - bytes : 0;
	return true;
}

/* The first that the books do not take ends it: each waits for them. */
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

static void reclaim(struct arena *a)
{
	struct gkf_mem_pool *pool = &a->pool;

	while (pool && refund_to(pool, 0))
		pool = pool->next;
}

/* Reserves so much for a pool's blocks, if it has not that much already. */
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

/* The part of the reserve that is used is not owed any more. */
static void use(struct gkf_mem_pool *pool, uint64_t blocks)
{
	uint64_t rest = pool->usage.reserved - blocks;

	pool->blocks = blocks;
	if (pool->usage.reserved_high < pool->usage.reserved)
		pool->usage.reserved_high = pool->usage.reserved;
	if (pool->owed > rest)
		pool->owed = rest;
}

/*
 * Reserves of pools, this one's too, are given up when memory is needed, and
 * managed memory can be elsewhere.
 */
int pool_charge(struct gkf_mem_pool *pool, uint64_t bytes)
{
	struct arena *a = pool->arena;
	uint64_t blocks = pool->blocks + bytes;
	int r;

	if (pool->max && blocks > pool->max)
		return GK_ERR_NO_SPACE;
	r = reserve_blocks(pool, blocks);
	if (r == GK_ERR_NO_SPACE && (a->pool.next || atomic_load(&a->owes))) {
		reclaim(a);
		r = reserve_blocks(pool, blocks);
	}
	if (r == GK_ERR_NO_SPACE &&
	    resident_evict(a, blocks - pool->usage.reserved))
		r = reserve_blocks(pool, blocks);
	if (r)
		return r;
	use(pool, blocks);
	settle_pools(a);
	return 0;
}

void pool_trim(struct gkf_mem_pool *pool, uint64_t keep)
{
	if (refund_to(pool, keep))
		settle_pools(pool->arena);
}

void pool_repay(struct gkf_mem_pool *pool, uint64_t bytes)
{
	pool->blocks -= bytes;
	pool_trim(pool, pool->threshold & ~(BLOCK_SIZE - 1));
}

void pool_owe(struct gkf_mem_pool *pool, uint64_t bytes)
{
	pool->usage.reserved += bytes;
	pool->owed += bytes;
	atomic_store(&pool->arena->owes, true);
	settle_pools(pool->arena);
}

/* Nothing of it is in use, so all that is left in reserve is owed. */
void pool_bequeath(struct gkf_mem_pool *pool)
{
	struct gkf_mem_pool *heir = &pool->arena->pool;

	heir->usage.reserved += pool->usage.reserved;
	heir->owed += pool->usage.reserved;
}

void arena_close(struct arena *a)
{
	pthread_mutex_lock(&a->lock);
	reclaim(a);
	for (struct gkf_mem_pool *pool = &a->pool; pool; pool = pool->next)
		pool->usage.reserved = pool->owed = 0;
	resident_close(a);
	atomic_store(&a->owes, false);
	pthread_mutex_unlock(&a->lock);
}
