/*
 * mem_pool_alloc.c - memory in the order of streams. A piece is there when the
 * call returns; it is free again when what was in the stream before is done.
 */
#include "base/err.h"
#include "fronts/cuda/mem_pool.h"
#include "fronts/cuda/capture.h"
#include "fronts/cuda/graph_memory.h"

/* Opens the pool that the piece comes from; made when it is first needed. */
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

/* Would it have room if nobody had any? */
static bool may_fit(CUmemoryPool pool, size_t size)
{
	uint64_t all, left;

	device_memory(front_device(pool->device), &all, &left);
	return size <= all && (!pool->bound || size <= pool->bound);
}

/*
 * When there is no more, what leaves is waited for: on a GPU the stream would
 * wait, here it is the caller.
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
	uint64_t address;
	int error;

	if (r)
		return r;
	if (memory_fault(front_device(pool->device)))
		return CUDA_ERROR_OUT_OF_MEMORY;
	if (pool_take_back(ask.pool, stream, size, dptr))
		return CUDA_SUCCESS;
	do
		error = gkf_space_alloc(&ask, &address);
	while (error == GK_ERR_NO_SPACE && may_fit(pool, size) && stream &&
	       pool_await(ask.device, any ? 0 : stream));
	if (error)
		return memory_error(error);
	*dptr = address;
	return CUDA_SUCCESS;
}

static CUresult cuMemAllocAsync_on(enum cuda_row row, bool per_thread,
				   CUdeviceptr *dptr, size_t bytesize,
				   CUstream hStream)
{
	CUmemoryPool pool;
	CUcontext ctx;
	CUstream s;
	CUresult r = stream_enter_context(row, hStream, per_thread, &ctx);

	if (!r && (!dptr || !bytesize))
		r = CUDA_ERROR_INVALID_VALUE;
	if (!r && capture_finds(ctx, hStream, per_thread, &s))
		return GRAPH_LOCKED(capture_alloc(s, front_number(ctx->device),
						  bytesize, dptr));
	if (!r)
		r = capture_permit_stream(ctx, hStream, per_thread);
	if (!r)
		r = pool_current(front_number(ctx->device), &pool);
	return r ? r
		 : pool_alloc(pool, bytesize,
			      stream_number(ctx, hStream, per_thread), dptr);
}

BOTH_STREAMS(cuMemAllocAsync, _ptsz,
	     (CUdeviceptr * dptr, size_t bytesize, CUstream hStream),
	     (dptr, bytesize, hStream))

static CUresult cuMemAllocFromPoolAsync_on(enum cuda_row row, bool per_thread,
					   CUdeviceptr *dptr, size_t bytesize,
					   CUmemoryPool pool, CUstream hStream)
{
	CUcontext ctx;
	CUstream s;
	CUresult r = stream_enter_context(row, hStream, per_thread, &ctx);

	if (!r &&
	    (!dptr || !bytesize || !handle_is(pool, HANDLE_POOL) || pool->all))
		r = CUDA_ERROR_INVALID_VALUE;
	if (!r && capture_finds(ctx, hStream, per_thread, &s))
		return GRAPH_LOCKED(
		    capture_alloc(s, pool->device, bytesize, dptr));
	if (!r)
		r = capture_permit_stream(ctx, hStream, per_thread);
	return r ? r
		 : pool_alloc(pool, bytesize,
			      stream_number(ctx, hStream, per_thread), dptr);
}

BOTH_STREAMS(cuMemAllocFromPoolAsync, _ptsz,
	     (CUdeviceptr * dptr, size_t bytesize, CUmemoryPool pool,
	      CUstream hStream),
	     (dptr, bytesize, pool, hStream))

static CUresult free_async(CUcontext ctx, CUdeviceptr address, CUstream stream,
			   bool per_thread)
{
	struct gkf_extent e;
	CUstream s;
	CUresult r = stream_find(ctx, stream, per_thread, &s);

	if (r)
		return r;
	if (stream_captures(s))
		return GRAPH_LOCKED(capture_free(s, address));
	if (graph_memory_free(address, gkf_queue_ticket(s->queue), &r))
		return r;
	if (!memory_base(address, MEMORY_BIT(GKF_MEMORY_DEVICE), &e) ||
	    (e.flags & MEMORY_FIXED))
		return CUDA_ERROR_INVALID_VALUE;
	return pool_leave(ctx, &e, stream, per_thread);
}

static CUresult cuMemFreeAsync_on(enum cuda_row row, bool per_thread,
				  CUdeviceptr dptr, CUstream hStream)
{
	CUcontext ctx;
	CUresult r = stream_enter_context(row, hStream, per_thread, &ctx);

	return r ? r : free_async(ctx, dptr, hStream, per_thread);
}

BOTH_STREAMS(cuMemFreeAsync, _ptsz, (CUdeviceptr dptr, CUstream hStream),
	     (dptr, hStream))
