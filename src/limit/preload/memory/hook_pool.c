/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hook_pool.c - hooks of stream-ordered memory: cuMemAllocAsync() and similar
 * calls, cuMemFreeAsync(), and calls that change pools.
 */
#include "limit/preload/memory/hook.h"
#include "limit/preload/memory/sharing.h"

/*
 * After this many measurements, the driver is assumed to have given back memory
 * that was freed by cuMemFreeAsync().
 */
#define LOOKS 16

typedef CUresult alloc_async(CUdeviceptr *, size_t, CUstream);
typedef CUresult alloc_from_pool(CUdeviceptr *, size_t, CUmemoryPool, CUstream);
typedef CUresult free_async(CUdeviceptr, CUstream);

/* The driver's functions for one of the two meanings of stream 0. */
struct stream_calls {
	__typeof__(cuStreamIsCapturing) *is_capturing;
	__typeof__(cuStreamSynchronize) *wait;
};

static const struct stream_calls *calls_of(bool per_thread,
					   struct stream_calls *room)
{
	room->is_capturing = per_thread ? REAL(cuStreamIsCapturing_ptsz)
					: REAL(cuStreamIsCapturing);
	room->wait = per_thread ? REAL(cuStreamSynchronize_ptsz)
				: REAL(cuStreamSynchronize);
	return room;
}

static bool is_captured(const struct stream_calls *c, CUstream stream)
{
	CUstreamCaptureStatus status;

	return !c->is_capturing(stream, &status) &&
	       status == CU_STREAM_CAPTURE_STATUS_ACTIVE;
}

static void note_piece(CUdeviceptr address, size_t bytes,
		       const struct memory_pool *pool)
{
	struct table_row row = {.key = address,
				.bytes = bytes,
				.owner = (uintptr_t)pool->handle,
				.device = (uint16_t)pool->device,
				.kind = GKL_POOL};

	table_put(&memory_state()->pieces, &row);
}

/*
 * If too little is left, memory that was freed earlier in the stream may become
 * available. The driver would make the stream wait for it; here the calling
 * thread waits.
 */
static CUresult begin_in_stream(struct memory_call *call,
				struct memory_pool *pool, size_t bytes,
				CUstream stream, const struct stream_calls *c,
				bool captured)
{
	uint64_t most = piece_most(bytes);
	CUresult r = pool_begin(call, pool, most);

	if (r == CUDA_ERROR_OUT_OF_MEMORY && !captured && !c->wait(stream))
		r = pool_begin(call, pool, most);
	if (r == CUDA_ERROR_OUT_OF_MEMORY)
		memory_refuse(pool->device, most);
	return r;
}

/* Memory allocated in a captured stream belongs to the graph. */
static CUresult alloc_in(CUmemoryPool handle, CUdeviceptr *dptr, size_t bytes,
			 CUstream stream, bool per_thread, alloc_async *plain,
			 alloc_from_pool *from_pool)
{
	struct stream_calls room;
	const struct stream_calls *c = calls_of(per_thread, &room);
	bool captured = is_captured(c, stream);
	CUmemoryPool standard = handle;
	struct memory_pool *pool;
	struct memory_call call;
	CUdevice ordinal;
	CUresult r;

	if (!limited() || REAL(cuCtxGetDevice)(&ordinal) ||
	    (!captured && !handle &&
	     REAL(cuDeviceGetMemPool)(&standard, ordinal)))
		return from_pool ? from_pool(dptr, bytes, handle, stream)
				 : plain(dptr, bytes, stream);
	pool = pool_find(captured ? NULL : standard, ordinal);
	if (!pool)
		return CUDA_ERROR_OUT_OF_MEMORY;
	r = begin_in_stream(&call, pool, bytes, stream, c, captured);
	if (r)
		return r;
	r = from_pool ? from_pool(dptr, bytes, handle, stream)
		      : plain(dptr, bytes, stream);
	if (!r && !captured && call.device >= 0)
		note_piece(*dptr, bytes, pool);
	pool_end(&call, pool);
	return r;
}

CUresult cuMemAllocAsync(CUdeviceptr *dptr, size_t bytesize, CUstream hStream)
{
	if (MISSING(cuMemAllocAsync))
		return CUDA_ERROR_NO_DEVICE;
	return alloc_in(NULL, dptr, bytesize, hStream, false,
			REAL(cuMemAllocAsync), NULL);
}

CUresult cuMemAllocAsync_ptsz(CUdeviceptr *dptr, size_t bytesize,
			      CUstream hStream)
{
	if (MISSING(cuMemAllocAsync_ptsz))
		return CUDA_ERROR_NO_DEVICE;
	return alloc_in(NULL, dptr, bytesize, hStream, true,
			REAL(cuMemAllocAsync_ptsz), NULL);
}

CUresult cuMemAllocFromPoolAsync(CUdeviceptr *dptr, size_t bytesize,
				 CUmemoryPool pool, CUstream hStream)
{
	if (MISSING(cuMemAllocFromPoolAsync))
		return CUDA_ERROR_NO_DEVICE;
	return alloc_in(pool, dptr, bytesize, hStream, false, NULL,
			REAL(cuMemAllocFromPoolAsync));
}

CUresult cuMemAllocFromPoolAsync_ptsz(CUdeviceptr *dptr, size_t bytesize,
				      CUmemoryPool pool, CUstream hStream)
{
	if (MISSING(cuMemAllocFromPoolAsync_ptsz))
		return CUDA_ERROR_NO_DEVICE;
	return alloc_in(pool, dptr, bytesize, hStream, true, NULL,
			REAL(cuMemAllocFromPoolAsync_ptsz));
}

/* ---- freeing ---- */

/*
 * Accounts for a piece that was passed to cuMemFreeAsync(). The driver keeps it
 * until the stream reaches the call.
 */
static void leave_piece(const struct table_row *row)
{
	uint64_t all, old;

	piece_unexport(row);
	if (row->kind == GKL_POOL) {
		pool_piece_gone(row);
		return;
	}
	all = blocks_remove(&memory_state()->blocks, row->key, row->bytes, 0,
			    &old);
	if (row->kind == GKL_MANAGED)
		memory_give(row->device, row->kind, all);
	else
		memory_doubt(row->device, row->kind, all);
	memory_expect(row->device, LOOKS);
}

static CUresult free_in(CUdeviceptr dptr, CUstream stream, free_async *release)
{
	struct memory_state *s = limited() ? memory_state() : NULL;
	struct table_row row;
	bool ours;
	CUresult r;

	if (!s)
		return release(dptr, stream);
	ours = table_take(&s->pieces, dptr, &row);
	memory_enter();
	r = release(dptr, stream);
	if (ours && r)
		table_put(&s->pieces, &row);
	else if (ours)
		leave_piece(&row);
	memory_leave();
	if (!ours && !r)
		import_gone(EXPORT_POINTER, dptr);
	return r;
}

CUresult cuMemFreeAsync(CUdeviceptr dptr, CUstream hStream)
{
	return MISSING(cuMemFreeAsync)
		   ? CUDA_ERROR_NO_DEVICE
		   : free_in(dptr, hStream, REAL(cuMemFreeAsync));
}

CUresult cuMemFreeAsync_ptsz(CUdeviceptr dptr, CUstream hStream)
{
	return MISSING(cuMemFreeAsync_ptsz)
		   ? CUDA_ERROR_NO_DEVICE
		   : free_in(dptr, hStream, REAL(cuMemFreeAsync_ptsz));
}

/* ---- pools ---- */

static bool is_on_host(const CUmemLocation *location)
{
	return location->type == CU_MEM_LOCATION_TYPE_HOST ||
	       location->type == CU_MEM_LOCATION_TYPE_HOST_NUMA ||
	       location->type == CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT;
}

/* Records pools on the host, and on devices other than the current one. */
static void note_pool_of(CUresult r, const CUmemoryPool *pool,
			 const CUmemLocation *location)
{
	if (r || !limited())
		return;
	if (is_on_host(location))
		pool_find(*pool, CU_DEVICE_INVALID);
	else if (location->type == CU_MEM_LOCATION_TYPE_DEVICE)
		pool_find(*pool, location->id);
}

CUresult cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *poolProps)
{
	CUresult r;

	if (MISSING(cuMemPoolCreate))
		return CUDA_ERROR_NO_DEVICE;
	r = REAL(cuMemPoolCreate)(pool, poolProps);
	if (!r)
		note_pool_of(r, pool, &poolProps->location);
	return r;
}

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *pool_out, CUdevice dev)
{
	CUresult r;

	if (MISSING(cuDeviceGetDefaultMemPool))
		return CUDA_ERROR_NO_DEVICE;
	r = REAL(cuDeviceGetDefaultMemPool)(pool_out, dev);
	if (!r && limited())
		pool_find(*pool_out, dev);
	return r;
}

CUresult cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice dev)
{
	CUresult r;

	if (MISSING(cuDeviceGetMemPool))
		return CUDA_ERROR_NO_DEVICE;
	r = REAL(cuDeviceGetMemPool)(pool, dev);
	if (!r && limited())
		pool_find(*pool, dev);
	return r;
}

CUresult cuMemGetDefaultMemPool(CUmemoryPool *pool_out, CUmemLocation *location,
				CUmemAllocationType type)
{
	CUresult r;

	if (MISSING(cuMemGetDefaultMemPool))
		return CUDA_ERROR_NO_DEVICE;
	r = REAL(cuMemGetDefaultMemPool)(pool_out, location, type);
	note_pool_of(r, pool_out, location);
	return r;
}

CUresult cuMemGetMemPool(CUmemoryPool *pool, CUmemLocation *location,
			 CUmemAllocationType type)
{
	CUresult r;

	if (MISSING(cuMemGetMemPool))
		return CUDA_ERROR_NO_DEVICE;
	r = REAL(cuMemGetMemPool)(pool, location, type);
	note_pool_of(r, pool, location);
	return r;
}

CUresult cuMemPoolDestroy(CUmemoryPool pool)
{
	if (MISSING(cuMemPoolDestroy))
		return CUDA_ERROR_NO_DEVICE;
	if (!limited())
		return REAL(cuMemPoolDestroy)(pool);
	import_gone(EXPORT_POOL, (uintptr_t)pool);
	return pool_destroy(pool);
}

CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t minBytesToKeep)
{
	CUresult r;

	if (MISSING(cuMemPoolTrimTo))
		return CUDA_ERROR_NO_DEVICE;
	r = REAL(cuMemPoolTrimTo)(pool, minBytesToKeep);
	memory_refresh_all();
	return r;
}

CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attr,
			       void *value)
{
	CUresult r;

	if (MISSING(cuMemPoolSetAttribute))
		return CUDA_ERROR_NO_DEVICE;
	r = REAL(cuMemPoolSetAttribute)(pool, attr, value);
	memory_refresh_all();
	return r;
}
