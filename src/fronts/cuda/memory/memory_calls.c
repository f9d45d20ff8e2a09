/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_calls.c - cuMemAlloc, cuMemFree and queries about device memory; frees
 * the memory that is left when a context ends.
 */
#include "fronts/cuda/graph/graph_memory.h"
#include "fronts/cuda/memory/array.h"
#include "fronts/cuda/memory/ipc.h"
#include "fronts/cuda/memory/memory.h"

/* Rows of pitched memory are rounded up to this many bytes. */
#define PITCH_STEP 512u

/* Frees all remaining memory of a context. */
static void close_memory(CUcontext ctx)
{
	array_close(ctx);
	ipc_close(ctx);
	gkf_space_drop(ctx);
}

const struct cuda_part_row memory_part = {NULL, close_memory};

CUresult cuMemAlloc_v2(CUdeviceptr *dptr, size_t bytesize)
{
	ENTER_CONTEXT(cuMemAlloc_v2, ctx);
	if (!dptr || !bytesize)
		return CUDA_ERROR_INVALID_VALUE;
	return memory_alloc(ctx, bytesize, 0, 0, dptr);
}

/* Always fails: addresses do not fit in its 32-bit result. */
CUresult cuMemAlloc(CUdeviceptr_v1 *dptr, unsigned int bytesize)
{
	ENTER_CONTEXT(cuMemAlloc, ctx);
	return !dptr || !bytesize ? CUDA_ERROR_INVALID_VALUE
				  : CUDA_ERROR_OUT_OF_MEMORY;
}

static CUresult check_pitched(size_t width, size_t height, unsigned element)
{
	if (!width || !height ||
	    (element != 4 && element != 8 && element != 16) ||
	    width > MEMORY_MAX_PITCH - PITCH_STEP)
		return CUDA_ERROR_INVALID_VALUE;
	return CUDA_SUCCESS;
}

CUresult cuMemAllocPitch_v2(CUdeviceptr *dptr, size_t *pPitch,
			    size_t WidthInBytes, size_t Height,
			    unsigned int ElementSizeBytes)
{
	size_t pitch = (WidthInBytes + PITCH_STEP - 1) & -(size_t)PITCH_STEP;
	size_t size;
	CUresult r;

	ENTER_CONTEXT(cuMemAllocPitch_v2, ctx);
	r = dptr && pPitch
		? check_pitched(WidthInBytes, Height, ElementSizeBytes)
		: CUDA_ERROR_INVALID_VALUE;
	if (r)
		return r;
	if (__builtin_mul_overflow(pitch, Height, &size))
		return CUDA_ERROR_OUT_OF_MEMORY;
	r = memory_alloc(ctx, size, 0, 0, dptr);
	if (!r)
		*pPitch = pitch;
	return r;
}

CUresult cuMemAllocPitch(CUdeviceptr_v1 *dptr, unsigned int *pPitch,
			 unsigned int WidthInBytes, unsigned int Height,
			 unsigned int ElementSizeBytes)
{
	CUresult r;

	ENTER_CONTEXT(cuMemAllocPitch, ctx);
	r = dptr && pPitch
		? check_pitched(WidthInBytes, Height, ElementSizeBytes)
		: CUDA_ERROR_INVALID_VALUE;
	return r ? r : CUDA_ERROR_OUT_OF_MEMORY;
}

/* Frees memory that was allocated by a graph, after all work that uses it. */
static CUresult free_of_graph(CUcontext ctx, const struct gkf_extent *e)
{
	CUresult r = memory_quiet(ctx, e);

	if (!r && !graph_memory_free(e->base, (struct gkf_ticket){0}, &r))
		r = CUDA_ERROR_INVALID_VALUE;
	return r;
}

/* Accepts address 0 and does nothing, like free(NULL). */
static CUresult free_piece(CUcontext ctx, CUdeviceptr address)
{
	struct gkf_extent e;
	CUresult r;

	if (!address)
		return CUDA_SUCCESS;
	if (!memory_base(address,
			 MEMORY_BIT(GKF_MEMORY_DEVICE) |
			     MEMORY_BIT(GKF_MEMORY_MANAGED),
			 &e))
		return CUDA_ERROR_INVALID_VALUE;
	if (e.flags & MEMORY_FIXED)
		return free_of_graph(ctx, &e);
	r = memory_quiet(ctx, &e);
	return r ? r : memory_free(&e);
}

CUresult cuMemFree_v2(CUdeviceptr dptr)
{
	ENTER_CONTEXT(cuMemFree_v2, ctx);
	return free_piece(ctx, dptr);
}

CUresult cuMemFree(CUdeviceptr_v1 dptr)
{
	ENTER_CONTEXT(cuMemFree, ctx);
	return free_piece(ctx, dptr);
}

CUresult cuMemGetInfo_v2(size_t *free, size_t *total)
{
	uint64_t all, left;

	ENTER_CONTEXT(cuMemGetInfo_v2, ctx);
	device_memory(ctx->device, &all, &left);
	if (free)
		*free = left;
	if (total)
		*total = all;
	return CUDA_SUCCESS;
}

static unsigned clamp_to_unsigned(uint64_t n)
{
	return n < UINT32_MAX ? (unsigned)n : UINT32_MAX;
}

CUresult cuMemGetInfo(unsigned int *free, unsigned int *total)
{
	uint64_t all, left;

	ENTER_CONTEXT(cuMemGetInfo, ctx);
	device_memory(ctx->device, &all, &left);
	if (free)
		*free = clamp_to_unsigned(left);
	if (total)
		*total = clamp_to_unsigned(all);
	return CUDA_SUCCESS;
}

CUresult cuMemGetAddressRange_v2(CUdeviceptr *pbase, size_t *psize,
				 CUdeviceptr dptr)
{
	struct gkf_extent e;

	ENTER_CONTEXT(cuMemGetAddressRange_v2, ctx);
	if (!memory_known(dptr, &e))
		return CUDA_ERROR_NOT_FOUND;
	if (pbase)
		*pbase = e.base;
	if (psize)
		*psize = e.size;
	return CUDA_SUCCESS;
}

/* The results have 32 bits; larger sizes become UINT_MAX. */
CUresult cuMemGetAddressRange(CUdeviceptr_v1 *pbase, unsigned int *psize,
			      CUdeviceptr_v1 dptr)
{
	struct gkf_extent e;

	ENTER_CONTEXT(cuMemGetAddressRange, ctx);
	if (!memory_known(dptr, &e))
		return CUDA_ERROR_NOT_FOUND;
	if (pbase)
		*pbase = (CUdeviceptr_v1)e.base;
	if (psize)
		*psize = clamp_to_unsigned(e.size);
	return CUDA_SUCCESS;
}

/* Memory cannot be exported as a dma-buf here. */
CUresult cuMemGetHandleForAddressRange(void *handle, CUdeviceptr dptr,
				       size_t size,
				       CUmemRangeHandleType handleType,
				       unsigned long long flags)
{
	ENTER_CONTEXT(cuMemGetHandleForAddressRange, ctx);
	if (!handle || !size ||
	    handleType != CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD ||
	    (flags & ~(unsigned long long)
			 CU_MEM_RANGE_FLAG_DMA_BUF_MAPPING_TYPE_PCIE) ||
	    !gkf_space_view(dptr, size))
		return CUDA_ERROR_INVALID_VALUE;
	return memory_counted(ROW_cuMemGetHandleForAddressRange,
			      CUDA_ERROR_NOT_SUPPORTED);
}
