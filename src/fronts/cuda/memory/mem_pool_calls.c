/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mem_pool_calls.c - cuMemAllocAsync and similar functions: allocate and free
 * memory in the order of streams. An allocated piece exists when the call
 * returns; a freed piece can be reused when earlier work of its stream is done.
 */
#include "fronts/cuda/graph/capture.h"
#include "fronts/cuda/graph/graph_memory.h"
#include "fronts/cuda/memory/mem_pool.h"

BOTH_STREAMS(cuMemAllocAsync, _ptsz,
	     (CUdeviceptr * dptr, size_t bytesize, CUstream hStream),
	     (dptr, bytesize, hStream))
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

BOTH_STREAMS(cuMemAllocFromPoolAsync, _ptsz,
	     (CUdeviceptr * dptr, size_t bytesize, CUmemoryPool pool,
	      CUstream hStream),
	     (dptr, bytesize, pool, hStream))
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

BOTH_STREAMS(cuMemFreeAsync, _ptsz, (CUdeviceptr dptr, CUstream hStream),
	     (dptr, hStream))
{
	CUcontext ctx;
	CUresult r = stream_enter_context(row, hStream, per_thread, &ctx);

	return r ? r : free_async(ctx, dptr, hStream, per_thread);
}
