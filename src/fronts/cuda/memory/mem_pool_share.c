/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mem_pool_share.c - shares pools with other processes. A pool is passed as a
 * file descriptor, each of its pieces as a handle. An imported pool cannot be
 * allocated from.
 */
#include "base/err.h"
#include "fronts/cuda/memory/ipc.h"
#include "fronts/cuda/memory/mem_pool.h"

#include <pthread.h>

/* Held while a pool is exported, so that it gets only one entry of share.h. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static bool is_pool(CUmemoryPool pool)
{
	return handle_is(pool, HANDLE_POOL);
}

static CUresult export_pool(CUmemoryPool pool, int *ret_fd)
{
	unsigned device = front_device(pool->device)->index;
	int error = 0;

	pthread_mutex_lock(&lock);
	if (!pool->shared) {
		error =
		    gkf_share_new(device, GKF_SHARE_POOL, 0, 0, 0, &pool->row);
		pool->shared = !error;
	}
	if (!error)
		error = gkf_share_descriptor(device, pool->row, ret_fd);
	pthread_mutex_unlock(&lock);
	return error ? ipc_error(ROW_cuMemPoolExportToShareableHandle, error)
		     : CUDA_SUCCESS;
}

CUresult cuMemPoolExportToShareableHandle(void *handle_out, CUmemoryPool pool,
					  CUmemAllocationHandleType handleType,
					  unsigned long long flags)
{
	CUresult r;

	ENTER(cuMemPoolExportToShareableHandle);
	if (!handle_out || !is_pool(pool))
		return CUDA_ERROR_INVALID_VALUE;
	r = ipc_check_type(ROW_cuMemPoolExportToShareableHandle, handleType,
			   flags);
	if (r)
		return r;
	if (pool->types != handleType || pool->all)
		return CUDA_ERROR_INVALID_VALUE;
	return export_pool(pool, handle_out);
}

static CUresult import_pool(int fd, CUmemoryPool *ret_pool)
{
	struct gkf_share_about about;
	const struct cuda_device *d;
	CUmemoryPool pool;

	if (gkf_share_received(cuda.machine, fd, GKF_SHARE_POOL, &about))
		return CUDA_ERROR_INVALID_VALUE;
	d = ipc_device(about.device);
	if (!d)
		return CUDA_ERROR_INVALID_DEVICE;
	pool = pool_new(front_number(d));
	if (!pool)
		return CUDA_ERROR_OUT_OF_MEMORY;
	pool->all = gkf_share_all(fd, &pool->all_size);
	if (!pool->all) {
		handle_free(pool);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	*ret_pool = pool;
	return CUDA_SUCCESS;
}

CUresult
cuMemPoolImportFromShareableHandle(CUmemoryPool *pool_out, void *handle,
				   CUmemAllocationHandleType handleType,
				   unsigned long long flags)
{
	CUresult r;

	ENTER(cuMemPoolImportFromShareableHandle);
	if (!pool_out)
		return CUDA_ERROR_INVALID_VALUE;
	r = ipc_check_type(ROW_cuMemPoolImportFromShareableHandle, handleType,
			   flags);
	return r ? r : import_pool((int)(intptr_t)handle, pool_out);
}

CUresult cuMemPoolExportPointer(CUmemPoolPtrExportData *shareData_out,
				CUdeviceptr ptr)
{
	struct gkf_extent e;
	CUmemoryPool pool;
	uint32_t row;
	int error;

	ENTER(cuMemPoolExportPointer);
	if (!shareData_out || !gkf_space_find(ptr, &e) || !e.pool ||
	    tag_is_leaving(&e))
		return CUDA_ERROR_INVALID_VALUE;
	pool = pool_of(&e);
	if (!pool || !pool->types || pool->all)
		return CUDA_ERROR_INVALID_VALUE;
	error =
	    gkf_share_piece(e.device, GKF_SHARE_POINTER, e.base, e.size, &row);
	if (error)
		return ipc_error(ROW_cuMemPoolExportPointer, error);
	gkf_share_handle(e.device, row, (struct gkf_shared *)shareData_out);
	return CUDA_SUCCESS;
}

/* The importer must free the piece before the exporter does so. */
CUresult cuMemPoolImportPointer(CUdeviceptr *ptr_out, CUmemoryPool pool,
				CUmemPoolPtrExportData *shareData)
{
	struct gkf_memory_ask ask = {.owner = pool};
	struct gkf_share_about about;
	uint64_t address;

	ENTER(cuMemPoolImportPointer);
	if (!ptr_out || !shareData || !is_pool(pool) || !pool->all)
		return CUDA_ERROR_INVALID_VALUE;
	if (gkf_share_find(cuda.machine, pool->all, pool->all_size,
			   (const struct gkf_shared *)shareData,
			   GKF_SHARE_POINTER, &about) ||
	    !about.size || about.device != front_device(pool->device)->index)
		return CUDA_ERROR_INVALID_VALUE;
	/*
	 * A value other than NULL makes the piece belong to the imported pool,
	 * so that the pool's access rights apply.
	 */
	ask.pool = (struct gkf_mem_pool *)(void *)pool;
	if (gkf_share_map(-1, pool->all, &about, &ask, &address))
		return CUDA_ERROR_OUT_OF_MEMORY;
	*ptr_out = address;
	return CUDA_SUCCESS;
}
