/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool_calls.c - accounts for calls that take memory of pools, and ends pools.
 */
#include "limit/preload/memory/hook.h"
#include "limit/preload/memory/sharing.h"

/* Destroys the pool under s->pools, so that nobody queries it afterwards. */
CUresult pool_destroy(CUmemoryPool handle)
{
	struct memory_state *s = memory_state();
	int device = LIMITED_NONE;
	CUresult r;

	if (!s)
		return REAL(cuMemPoolDestroy)(handle);
	memory_enter();
	pthread_mutex_lock(&s->pools);
	r = REAL(cuMemPoolDestroy)(handle);
	if (!r && handle) {
		device = pool_forget(s, handle);
		export_end(EXPORT_POOL, (uintptr_t)handle, true);
	}
	pthread_mutex_unlock(&s->pools);
	memory_leave();
	memory_refresh(device);
	return r;
}

static void count_call(struct memory_pool *pool, int change)
{
	struct memory_state *s = memory_state();

	pthread_mutex_lock(&s->pools);
	pool->calls += (unsigned)change;
	pthread_mutex_unlock(&s->pools);
}

CUresult pool_begin(struct memory_call *ret_call, struct memory_pool *pool,
		    uint64_t most)
{
	CUresult r;

	count_call(pool, 1);
	r = memory_try(ret_call, pool->device, pool_kind(pool), most);
	if (r || ret_call->device < 0)
		count_call(pool, -1);
	return r;
}

void pool_end(struct memory_call *call, struct memory_pool *pool)
{
	struct memory_state *s = memory_state();
	uint64_t reserved, taken = 0;

	if (call->device < 0)
		return;
	pthread_mutex_lock(&s->pools);
	pool->calls--;
	if (!pool_reserved(pool, &reserved))
		reserved = pool->charged + call->pending;
	if (reserved > pool->charged) {
		taken = reserved - pool->charged;
		if (pool->calls && taken > call->pending)
			taken = call->pending;
		pool->charged += taken;
	} else {
		pool_settle(pool, reserved);
	}
	pthread_mutex_unlock(&s->pools);
	memory_end(call, taken);
}

uint64_t pool_claim_idle(struct memory_pool *pool, uint64_t bytes)
{
	struct memory_state *s = memory_state();
	uint64_t reserved, used, idle = 0;

	pthread_mutex_lock(&s->pools);
	if (pool_usage(pool, &reserved, &used) &&
	    reserved > used + pool->claimed)
		idle = reserved - used - pool->claimed;
	idle = idle < bytes ? idle : bytes;
	pool->claimed += idle;
	pthread_mutex_unlock(&s->pools);
	return idle;
}

void pool_unclaim(struct memory_pool *pool, uint64_t bytes)
{
	struct memory_state *s = memory_state();

	pthread_mutex_lock(&s->pools);
	pool->claimed -= bytes;
	pthread_mutex_unlock(&s->pools);
}
