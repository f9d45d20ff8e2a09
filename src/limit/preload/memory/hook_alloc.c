/*
 * hook_alloc.c - cuMemAlloc and its like, and cuMemFree. Where the operator
 * allows to take more than there is, what does not fit is managed memory, which
 * a driver keeps on the host while there is no room.
 */
#include "limit/preload/hook.h"

/* ---- plain memory ---- */

static bool is_oversubscribed(CUresult r)
{
	return r == CUDA_ERROR_OUT_OF_MEMORY &&
	       limited_policy()->oversubscribe && REAL(cuMemAllocManaged);
}

/* In the place of memory for which there is no room; not counted. */
static CUresult alloc_beyond(uint64_t bytes, CUdeviceptr *ret_address)
{
	return REAL(cuMemAllocManaged)(ret_address, bytes,
				       CU_MEM_ATTACH_GLOBAL);
}

static CUresult begin(struct memory_call *call, enum gkl_kind kind,
		      uint64_t most)
{
	int device = limited_current_device();

	return limited_policy()->oversubscribe
		   ? memory_try(call, device, kind, most)
		   : memory_begin(call, device, kind, most);
}

CUresult cuMemAlloc_v2(CUdeviceptr *dptr, size_t bytesize)
{
	struct memory_call call;
	CUresult r;

	if (MISSING(cuMemAlloc_v2))
		return CUDA_ERROR_NO_DEVICE;
	r = begin(&call, GKL_DATA, piece_most(bytesize));
	if (is_oversubscribed(r))
		return alloc_beyond(bytesize, dptr);
	if (r)
		return r;
	r = REAL(cuMemAlloc_v2)(dptr, bytesize);
	return piece_end(&call, r, r ? 0 : *dptr, bytesize);
}

CUresult cuMemAlloc(CUdeviceptr_v1 *dptr, unsigned int bytesize)
{
	struct memory_call call;
	CUresult r;

	if (MISSING(cuMemAlloc))
		return CUDA_ERROR_NO_DEVICE;
	r = memory_begin(&call, limited_current_device(), GKL_DATA,
			 piece_most(bytesize));
	if (r)
		return r;
	r = REAL(cuMemAlloc)(dptr, bytesize);
	return piece_end(&call, r, r ? 0 : *dptr, bytesize);
}

/* ---- pitched memory ---- */

/* Drivers round rows to that much. */
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

CUresult cuMemAllocPitch_v2(CUdeviceptr *dptr, size_t *pPitch,
			    size_t WidthInBytes, size_t Height,
			    unsigned int ElementSizeBytes)
{
	struct memory_call call;
	CUresult r;

	if (MISSING(cuMemAllocPitch_v2))
		return CUDA_ERROR_NO_DEVICE;
	r = begin(&call, GKL_DATA, most_of_rows(WidthInBytes, Height));
	if (is_oversubscribed(r)) {
		size_t pitch = (WidthInBytes + PITCH - 1) & -(size_t)PITCH;

		r = pPitch ? alloc_beyond(pitch * Height, dptr)
			   : CUDA_ERROR_INVALID_VALUE;
		if (!r)
			*pPitch = pitch;
		return r;
	}
	if (r)
		return r;
	r = REAL(cuMemAllocPitch_v2)(dptr, pPitch, WidthInBytes, Height,
				     ElementSizeBytes);
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
	r = memory_begin(&call, limited_current_device(), GKL_DATA,
			 most_of_rows(WidthInBytes, Height));
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
	r = begin(&call, GKL_MANAGED, piece_most(bytesize));
	if (is_oversubscribed(r))
		return REAL(cuMemAllocManaged)(dptr, bytesize, flags);
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

static CUresult release(uint64_t address)
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
				     : piece_give(dptr, release);
}
