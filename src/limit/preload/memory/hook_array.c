/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hook_array.c - hooks of arrays and mipmapped arrays. Only the driver knows
 * their layout: their maximum size is reserved first; their real size is
 * measured afterwards.
 */
#include "limit/preload/memory/hook.h"

/* Drivers round rows up to a multiple of this. */
#define ROW_STEP 512u

static uint64_t bytes_of_format(CUarray_format format)
{
	if (format == CU_AD_FORMAT_UNSIGNED_INT8 ||
	    format == CU_AD_FORMAT_SIGNED_INT8)
		return 1;
	if (format == CU_AD_FORMAT_UNSIGNED_INT16 ||
	    format == CU_AD_FORMAT_SIGNED_INT16 || format == CU_AD_FORMAT_HALF)
		return 2;
	return 4; /* bytes; compressed formats need fewer */
}

static uint64_t round_to(uint64_t n, uint64_t step)
{
	return (n + step - 1) / step * step;
}

static uint64_t at_least_1(uint64_t n)
{
	return n ? n : 1;
}

/*
 * The size of one level; 0: the array is invalid or larger than any can be, and
 * the driver will return an error.
 */
static uint64_t size_level(const CUDA_ARRAY3D_DESCRIPTOR *d)
{
	uint64_t row = round_to(d->Width * at_least_1(d->NumChannels) *
				    bytes_of_format(d->Format),
				ROW_STEP);
	uint64_t bytes;

	if (d->Width > UINT32_MAX ||
	    __builtin_mul_overflow(row, at_least_1(d->Height), &bytes) ||
	    __builtin_mul_overflow(bytes, at_least_1(d->Depth), &bytes))
		return 0;
	return bytes;
}

static size_t half(size_t side)
{
	return side > 1 ? side / 2 : side;
}

/* Smaller levels have as many layers and faces as the first. */
static uint64_t size_levels(CUDA_ARRAY3D_DESCRIPTOR d, unsigned levels)
{
	bool layered = d.Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP);
	uint64_t sum = size_level(&d);

	while (--levels &&
	       (d.Width > 1 || d.Height > 1 || (d.Depth > 1 && !layered))) {
		d.Width = half(d.Width);
		d.Height = half(d.Height);
		d.Depth = layered ? d.Depth : half(d.Depth);
		sum += size_level(&d);
	}
	return sum;
}

static uint64_t most_of(const CUDA_ARRAY3D_DESCRIPTOR *d, unsigned levels)
{
	if (d->Flags & (CUDA_ARRAY3D_DEFERRED_MAPPING | CUDA_ARRAY3D_SPARSE))
		return 0; /* no memory yet: the program maps its own later */
	return piece_most(size_levels(*d, levels ? levels : 1));
}

static CUresult begin_array(struct memory_call *call,
			    const CUDA_ARRAY3D_DESCRIPTOR *d, unsigned levels)
{
	return memory_begin(call, limited_current_device(), GKL_ARRAY,
			    d ? most_of(d, levels) : 0);
}

/*
 * The functions that create arrays: CREATE(symbol, struct, how to read it). An
 * array that takes the group above its limit is destroyed again.
 */
#define AS_2D(d)                                                               \
	(&(CUDA_ARRAY3D_DESCRIPTOR){.Width = (d)->Width,                       \
				    .Height = (d)->Height,                     \
				    .Format = (d)->Format,                     \
				    .NumChannels = (d)->NumChannels})
#define AS_3D(d)                                                               \
	(&(CUDA_ARRAY3D_DESCRIPTOR){.Width = (d)->Width,                       \
				    .Height = (d)->Height,                     \
				    .Depth = (d)->Depth,                       \
				    .Format = (d)->Format,                     \
				    .NumChannels = (d)->NumChannels,           \
				    .Flags = (d)->Flags})
#define CREATE(symbol, type, read)                                             \
	CUresult symbol(CUarray *pHandle, const type *pAllocateArray)          \
	{                                                                      \
		const type *d = pAllocateArray;                                \
		struct memory_call call;                                       \
		CUresult r;                                                    \
                                                                               \
		if (MISSING(symbol))                                           \
			return CUDA_ERROR_NO_DEVICE;                           \
		r = begin_array(&call, d ? read(d) : NULL, 1);                 \
		if (r)                                                         \
			return r;                                              \
		r = REAL(symbol)(pHandle, d);                                  \
		if (r)                                                         \
			return handle_end(&call, r, 0, 0);                     \
		r = handle_end(&call, r, (uintptr_t)*pHandle, call.pending);   \
		if (r)                                                         \
			cuArrayDestroy(*pHandle);                              \
		return r;                                                      \
	}

CREATE(cuArray3DCreate, CUDA_ARRAY3D_DESCRIPTOR_v1, AS_3D)
CREATE(cuArray3DCreate_v2, CUDA_ARRAY3D_DESCRIPTOR, AS_3D)
CREATE(cuArrayCreate, CUDA_ARRAY_DESCRIPTOR_v1, AS_2D)
CREATE(cuArrayCreate_v2, CUDA_ARRAY_DESCRIPTOR, AS_2D)

CUresult
cuMipmappedArrayCreate(CUmipmappedArray *pHandle,
		       const CUDA_ARRAY3D_DESCRIPTOR *pMipmappedArrayDesc,
		       unsigned int numMipmapLevels)
{
	struct memory_call call;
	CUresult r;

	if (MISSING(cuMipmappedArrayCreate))
		return CUDA_ERROR_NO_DEVICE;
	r = begin_array(&call, pMipmappedArrayDesc, numMipmapLevels);
	if (r)
		return r;
	r = REAL(cuMipmappedArrayCreate)(pHandle, pMipmappedArrayDesc,
					 numMipmapLevels);
	if (r)
		return handle_end(&call, r, 0, 0);
	r = handle_end(&call, r, (uintptr_t)*pHandle, call.pending);
	if (r)
		cuMipmappedArrayDestroy(*pHandle);
	return r;
}

/* ---- destroying ---- */

static CUresult release_array(uint64_t handle)
{
	return REAL(cuArrayDestroy)((CUarray)(uintptr_t)handle);
}

static CUresult release_mipmap(uint64_t handle)
{
	return REAL(cuMipmappedArrayDestroy)(
	    (CUmipmappedArray)(uintptr_t)handle);
}

CUresult cuArrayDestroy(CUarray hArray)
{
	return MISSING(cuArrayDestroy)
		   ? CUDA_ERROR_NO_DEVICE
		   : handle_give((uintptr_t)hArray, release_array);
}

CUresult cuMipmappedArrayDestroy(CUmipmappedArray hMipmappedArray)
{
	return MISSING(cuMipmappedArrayDestroy)
		   ? CUDA_ERROR_NO_DEVICE
		   : handle_give((uintptr_t)hMipmappedArray, release_mipmap);
}
