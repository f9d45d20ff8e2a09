/* SPDX-License-Identifier: Apache-2.0 */
/* mem_pool_alloc.c - allocates from a pool, for a stream. */
#include "base/err.h"
#include "fronts/cuda/memory/mem_pool.h"

/* Returns the gkf_mem_pool of a pool, which is created on first use. */
static CUresult open_pool(CUmemoryPool pool, struct gkf_mem_pool **ret_at)
{
	struct gkf_mem_pool *at = atomic_load(&pool->at), *none = NULL;
	int error;

	if (!at) {
		error = gkf_mem_pool_new(front_device(pool->device)->index,
					 pool->bound, &at);
		if (error)
			return error == GK_ERR_NOT_FOUND
				   ? CUDA_ERROR_INVALID_CONTEXT
				   : front_error(error);
		gkf_mem_pool_keep(at, atomic_load(&pool->threshold));
		if (!atomic_compare_exchange_strong(&pool->at, &none, at)) {
			gkf_mem_pool_release(at);
			at = none;
		}
	}
	*ret_at = at;
	return CUDA_SUCCESS;
}

/* Whether a piece of this size would fit if all memory were free. */
static bool may_fit(CUmemoryPool pool, size_t size)
{
	uint64_t all, left;

	device_memory(front_device(pool->device), &all, &left);
	return size <= all && (!pool->bound || size <= pool->bound);
}

/*
 * If memory is short, waits for leaving pieces. On a real GPU the stream would
 * wait; here the calling thread does.
 */
CUresult pool_alloc(CUmemoryPool pool, size_t size, uint64_t stream,
		    CUdeviceptr *dptr)
{
	bool any = atomic_load(
	    &pool->reuse[CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES -
			 1]);

	struct gkf_memory_ask ask = {.kind = GKF_MEMORY_DEVICE,
				     .device =
					 front_device(pool->device)->index,
				     .size = size,
				     .owner = pool,
				     .flags = stream ? 0 : MEMORY_FIXED};
	CUresult r = open_pool(pool, &ask.pool);
	uint64_t address, left;
	int error;

	if (r)
		return r;
	if (memory_fault(front_device(pool->device)))
		return CUDA_ERROR_OUT_OF_MEMORY;
	if (pool_take_back(ask.pool, stream, size, dptr))
		return CUDA_SUCCESS;
	do {
		left = pool_left(ask.device);
		error = gkf_space_alloc(&ask, &address);
	} while (error == GK_ERR_NO_SPACE && may_fit(pool, size) && stream &&
		 pool_await(ask.device, any ? 0 : stream, left));
	if (error)
		return memory_error(error);
	*dptr = address;
	return CUDA_SUCCESS;
}
