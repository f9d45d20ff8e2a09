/* SPDX-License-Identifier: Apache-2.0 */
/*
 * array.c - creates, frees and describes arrays and mipmapped arrays.
 */
#include "fronts/cudart/memory/format.h"

#include <stddef.h>

static CUarray driver_array(cudaArray_const_t array)
{
	return (CUarray)(uintptr_t)array;
}

static cudaError_t describe_array(CUDA_ARRAY3D_DESCRIPTOR *ret,
				  const struct cudaChannelFormatDesc *desc,
				  struct cudaExtent extent, unsigned int flags)
{
	CUDA_ARRAY3D_DESCRIPTOR d = {
	    .Width = extent.width,
	    .Height = extent.height,
	    .Depth = extent.depth,
	    .Flags = flags,
	};

	ENTER_CONTEXT();
	REQUIRE(desc, cudaErrorInvalidValue);
	TRY(format_of(desc, &d));
	*ret = d;
	return cudaSuccess;
}

cudaError_t cudaMalloc3DArray(cudaArray_t *array,
			      const struct cudaChannelFormatDesc *desc,
			      struct cudaExtent extent, unsigned int flags)
{
	CUDA_ARRAY3D_DESCRIPTOR d;

	ENTER();
	REQUIRE(array, cudaErrorInvalidValue);
	TRY(describe_array(&d, desc, extent, flags));
	return runtime_result(legacy->cuArray3DCreate_v2((CUarray *)array, &d));
}

cudaError_t cudaMallocArray(cudaArray_t *array,
			    const struct cudaChannelFormatDesc *desc,
			    size_t width, size_t height, unsigned int flags)
{
	return cudaMalloc3DArray(array, desc,
				 (struct cudaExtent){width, height, 0}, flags);
}

cudaError_t cudaMallocMipmappedArray(cudaMipmappedArray_t *mipmappedArray,
				     const struct cudaChannelFormatDesc *desc,
				     struct cudaExtent extent,
				     unsigned int numLevels, unsigned int flags)
{
	CUDA_ARRAY3D_DESCRIPTOR d;

	ENTER();
	REQUIRE(mipmappedArray, cudaErrorInvalidValue);
	TRY(describe_array(&d, desc, extent, flags));
	return runtime_result(legacy->cuMipmappedArrayCreate(
	    (CUmipmappedArray *)mipmappedArray, &d, numLevels));
}

cudaError_t cudaFreeArray(cudaArray_t array)
{
	ENTER_CONTEXT();
	return array
		   ? runtime_result(legacy->cuArrayDestroy(driver_array(array)))
		   : cudaSuccess;
}

cudaError_t cudaFreeMipmappedArray(cudaMipmappedArray_t mipmappedArray)
{
	ENTER_CONTEXT();
	return mipmappedArray ? runtime_result(legacy->cuMipmappedArrayDestroy(
				    (CUmipmappedArray)mipmappedArray))
			      : cudaSuccess;
}

cudaError_t cudaGetChannelDesc(struct cudaChannelFormatDesc *desc,
			       cudaArray_const_t array)
{
	CUDA_ARRAY3D_DESCRIPTOR d;

	ENTER_CONTEXT();
	REQUIRE(desc, cudaErrorInvalidValue);
	TRY(runtime_result(
	    legacy->cuArray3DGetDescriptor_v2(&d, driver_array(array))));
	*desc = format_channels(&d);
	return cudaSuccess;
}

cudaError_t cudaArrayGetInfo(struct cudaChannelFormatDesc *desc,
			     struct cudaExtent *extent, unsigned int *flags,
			     cudaArray_t array)
{
	CUDA_ARRAY3D_DESCRIPTOR d;

	ENTER_CONTEXT();
	TRY(runtime_result(
	    legacy->cuArray3DGetDescriptor_v2(&d, driver_array(array))));
	if (desc)
		*desc = format_channels(&d);
	if (extent)
		*extent = (struct cudaExtent){d.Width, d.Height, d.Depth};
	if (flags)
		*flags = d.Flags;
	return cudaSuccess;
}

cudaError_t
cudaArrayGetMemoryRequirements(struct cudaArrayMemoryRequirements *required,
			       cudaArray_t array, int device)
{
	CUDA_ARRAY_MEMORY_REQUIREMENTS found;

	ENTER_CONTEXT();
	REQUIRE(required, cudaErrorInvalidValue);
	TRY(runtime_result(legacy->cuArrayGetMemoryRequirements(
	    &found, driver_array(array), device)));
	*required = (struct cudaArrayMemoryRequirements){
	    .size = found.size, .alignment = found.alignment};
	return cudaSuccess;
}

cudaError_t cudaDeviceGetTexture1DLinearMaxWidth(
    size_t *maxWidthInElements, const struct cudaChannelFormatDesc *fmtDesc,
    int device)
{
	CUDA_ARRAY3D_DESCRIPTOR d;

	ENTER();
	REQUIRE(maxWidthInElements && fmtDesc, cudaErrorInvalidValue);
	TRY(format_of(fmtDesc, &d));
	return runtime_result(legacy->cuDeviceGetTexture1DLinearMaxWidth(
	    maxWidthInElements, d.Format, d.NumChannels, device));
}
