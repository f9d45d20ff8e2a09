/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hook_alloc.c - hooks of cuMemAlloc() and similar calls, and of cuMemFree().
 * If the operator allows oversubscription, memory within the limit that does
 * not fit on the GPU becomes managed memory, which a driver keeps on the host.
 */
#include "limit/preload/memory/hook.h"

/* ---- plain memory ---- */

/*
 * Whether managed memory may be allocated after the driver returned `r`: it
 * said that the memory, though within the limit, does not fit on the GPU.
 */
static bool may_be_managed(CUresult r)
{
	return r == CUDA_ERROR_OUT_OF_MEMORY &&
	       limited_policy()->oversubscribe && REAL(cuMemAllocManaged);
}

/* Allocates managed memory instead of memory that does not fit on the GPU. */
static CUresult alloc_managed(struct memory_call *call, uint64_t bytes,
			      CUdeviceptr *ret_address)
{
	call->kind = GKL_MANAGED;
	return REAL(cuMemAllocManaged)(ret_address, bytes,
				       CU_MEM_ATTACH_GLOBAL);
}

static CUresult begin_alloc(struct memory_call *call, enum gkl_kind kind,
			    uint64_t most)
{
	return memory_begin(call, limited_current_device(), kind, most);
}

CUresult cuMemAlloc_v2(CUdeviceptr *dptr, size_t bytesize)
{
	struct memory_call call;
	CUresult r;

	if (MISSING(cuMemAlloc_v2))
		return CUDA_ERROR_NO_DEVICE;
	r = begin_alloc(&call, GKL_DATA, piece_most(bytesize));
	if (r)
		return r;
	r = REAL(cuMemAlloc_v2)(dptr, bytesize);
	if (may_be_managed(r))
		r = alloc_managed(&call, bytesize, dptr);
	return piece_end(&call, r, r ? 0 : *dptr, bytesize);
}

CUresult cuMemAlloc(CUdeviceptr_v1 *dptr, unsigned int bytesize)
{
	struct memory_call call;
	CUresult r;

	if (MISSING(cuMemAlloc))
		return CUDA_ERROR_NO_DEVICE;
	r = begin_alloc(&call, GKL_DATA, piece_most(bytesize));
	if (r)
		return r;
	r = REAL(cuMemAlloc)(dptr, bytesize);
	return piece_end(&call, r, r ? 0 : *dptr, bytesize);
}

/* ---- pitched memory ---- */

/* Drivers round rows up to a multiple of this. */
#define PITCH 512u

static uint64_t most_of_rows(uint64_t width, uint64_t height)
{
	uint64_t bytes;

	if (width > UINT64_MAX - PITCH ||
	    __builtin_mul_overflow((width + PITCH - 1) & -(uint64_t)PITCH,
				   height, &bytes))
		bytes = UINT64_MAX;
	return piece_most(bytes);
}

static CUresult alloc_managed_rows(struct memory_call *call, uint64_t width,
				   uint64_t height, CUdeviceptr *dptr,
				   size_t *ret_pitch)
{
	size_t pitch = (width + PITCH - 1) & -(size_t)PITCH;
	CUresult r = alloc_managed(call, pitch * height, dptr);

	if (!r)
		*ret_pitch = pitch;
	return r;
}

CUresult cuMemAllocPitch_v2(CUdeviceptr *dptr, size_t *pPitch,
			    size_t WidthInBytes, size_t Height,
			    unsigned int ElementSizeBytes)
{
	struct memory_call call;
	CUresult r;

	if (MISSING(cuMemAllocPitch_v2))
		return CUDA_ERROR_NO_DEVICE;
	r = begin_alloc(&call, GKL_DATA, most_of_rows(WidthInBytes, Height));
	if (r)
		return r;
	r = REAL(cuMemAllocPitch_v2)(dptr, pPitch, WidthInBytes, Height,
				     ElementSizeBytes);
	if (may_be_managed(r))
		r = alloc_managed_rows(&call, WidthInBytes, Height, dptr,
				       pPitch);
	return r ? piece_end(&call, r, 0, 0)
		 : piece_end(&call, r, *dptr, *pPitch * Height);
}

CUresult cuMemAllocPitch(CUdeviceptr_v1 *dptr, unsigned int *pPitch,
			 unsigned int WidthInBytes, unsigned int Height,
			 unsigned int ElementSizeBytes)
{
	struct memory_call call;
	CUresult r;

	if (MISSING(cuMemAllocPitch))
		return CUDA_ERROR_NO_DEVICE;
	r = begin_alloc(&call, GKL_DATA, most_of_rows(WidthInBytes, Height));
	if (r)
		return r;
	r = REAL(cuMemAllocPitch)(dptr, pPitch, WidthInBytes, Height,
				  ElementSizeBytes);
	return r ? piece_end(&call, r, 0, 0)
		 : piece_end(&call, r, *dptr, (uint64_t)*pPitch * Height);
}

/* ---- managed memory ---- */

CUresult cuMemAllocManaged(CUdeviceptr *dptr, size_t bytesize,
			   unsigned int flags)
{
	struct memory_call call;
	CUresult r;

	if (MISSING(cuMemAllocManaged))
		return CUDA_ERROR_NO_DEVICE;
	r = begin_alloc(&call, GKL_MANAGED, piece_most(bytesize));
	if (r)
		return r;
	r = REAL(cuMemAllocManaged)(dptr, bytesize, flags);
	return piece_end(&call, r, r ? 0 : *dptr, bytesize);
}

/* ---- freeing ---- */

static CUresult release_v1(uint64_t address)
{
	return REAL(cuMemFree)((CUdeviceptr_v1)address);
}

static CUresult release_v2(uint64_t address)
{
	return REAL(cuMemFree_v2)(address);
}

CUresult cuMemFree(CUdeviceptr_v1 dptr)
{
	return MISSING(cuMemFree) ? CUDA_ERROR_NO_DEVICE
				  : piece_give(dptr, release_v1);
}

CUresult cuMemFree_v2(CUdeviceptr dptr)
{
	return MISSING(cuMemFree_v2) ? CUDA_ERROR_NO_DEVICE
				     : piece_give(dptr, release_v2);
}
