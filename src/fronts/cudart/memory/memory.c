/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory.c - allocates and frees memory: device, pitched, pinned,
 * stream-ordered.
 */
#include "fronts/cudart/runtime.h"

#include <stddef.h>

/* Allocating 0 bytes gives NULL, which may be freed. */
static cudaError_t allocate_nothing(void **ret_pointer)
{
	*ret_pointer = NULL;
	return cudaSuccess;
}

cudaError_t cudaMalloc(void **devPtr, size_t size)
{
	ENTER_CONTEXT();
	REQUIRE(devPtr, cudaErrorInvalidValue);
	if (!size)
		return allocate_nothing(devPtr);
	return runtime_result(
	    legacy->cuMemAlloc_v2((CUdeviceptr *)devPtr, size));
}

cudaError_t cudaFree(void *devPtr)
{
	ENTER_CONTEXT();
	return devPtr
		   ? runtime_result(legacy->cuMemFree_v2((CUdeviceptr)devPtr))
		   : cudaSuccess;
}

static cudaError_t allocate_pitched(void **ret_pointer, size_t *ret_pitch,
				    size_t width, size_t height)
{
	if (!width || !height) {
		*ret_pitch = 0;
		return allocate_nothing(ret_pointer);
	}
	/* The widest access has 16 bytes, so this pitch suits all accesses. */
	return runtime_result(legacy->cuMemAllocPitch_v2(
	    (CUdeviceptr *)ret_pointer, ret_pitch, width, height, 16));
}

cudaError_t cudaMallocPitch(void **devPtr, size_t *pitch, size_t width,
			    size_t height)
{
	ENTER_CONTEXT();
	REQUIRE(devPtr && pitch, cudaErrorInvalidValue);
	return allocate_pitched(devPtr, pitch, width, height);
}

cudaError_t cudaMalloc3D(struct cudaPitchedPtr *pitchedDevPtr,
			 struct cudaExtent extent)
{
	void *pointer;
	size_t rows, pitch;

	ENTER_CONTEXT();
	REQUIRE(pitchedDevPtr, cudaErrorInvalidValue);
	REQUIRE(!__builtin_mul_overflow(extent.height, extent.depth, &rows),
		cudaErrorMemoryAllocation);
	TRY(allocate_pitched(&pointer, &pitch, extent.width, rows));
	*pitchedDevPtr = (struct cudaPitchedPtr){.ptr = pointer,
						 .pitch = pitch,
						 .xsize = extent.width,
						 .ysize = extent.height};
	return cudaSuccess;
}

static cudaError_t allocate_pinned(void **ret_pointer, size_t size,
				   unsigned int flags)
{
	ENTER_CONTEXT();
	REQUIRE(ret_pointer, cudaErrorInvalidValue);
	if (!size)
		return allocate_nothing(ret_pointer);
	return runtime_result(legacy->cuMemHostAlloc(ret_pointer, size, flags));
}

cudaError_t cudaMallocHost(void **ptr, size_t size)
{
	return allocate_pinned(ptr, size, cudaHostAllocDefault);
}

cudaError_t cudaHostAlloc(void **pHost, size_t size, unsigned int flags)
{
	return allocate_pinned(pHost, size, flags);
}

cudaError_t cudaFreeHost(void *ptr)
{
	ENTER_CONTEXT();
	return ptr ? runtime_result(legacy->cuMemFreeHost(ptr)) : cudaSuccess;
}

BOTH_STREAMS(cudaMallocAsync, _ptsz,
	     (void **devPtr, size_t size, cudaStream_t stream),
	     (devPtr, size, stream))
{
	ENTER_CONTEXT();
	REQUIRE(devPtr, cudaErrorInvalidValue);
	if (!size)
		return allocate_nothing(devPtr);
	return runtime_result(
	    d->cuMemAllocAsync((CUdeviceptr *)devPtr, size, stream));
}
