/* SPDX-License-Identifier: Apache-2.0 */
/* pointer.c - defines cudaPointerGetAttributes. */
#include "fronts/cudart/runtime.h"

#include <stddef.h>

static enum cudaMemoryType runtime_memory_type(unsigned int type,
					       unsigned int is_managed)
{
	if (is_managed)
		return cudaMemoryTypeManaged;
	switch (type) {
	case CU_MEMORYTYPE_HOST:
		return cudaMemoryTypeHost;
	case CU_MEMORYTYPE_DEVICE:
		return cudaMemoryTypeDevice;
	default:
		return cudaMemoryTypeUnregistered;
	}
}

/* For a pointer that CUDA does not know, the initial values remain. */
cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes,
				     const void *ptr)
{
	unsigned int type = 0, is_managed = 0;
	CUdeviceptr on_device = 0;
	void *on_host = NULL;
	int device = cudaInvalidDeviceId;
	CUpointer_attribute which[] = {
	    CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
	    CU_POINTER_ATTRIBUTE_IS_MANAGED,
	    CU_POINTER_ATTRIBUTE_DEVICE_POINTER,
	    CU_POINTER_ATTRIBUTE_HOST_POINTER,
	    CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
	};
	void *data[] = {&type, &is_managed, &on_device, &on_host, &device};

	ENTER_CONTEXT();
	REQUIRE(attributes, cudaErrorInvalidValue);
	TRY(runtime_result(legacy->cuPointerGetAttributes(
	    sizeof which / sizeof *which, which, data, (CUdeviceptr)ptr)));
	*attributes = (struct cudaPointerAttributes){
	    .type = runtime_memory_type(type, is_managed)};
	attributes->device = type ? device : cudaInvalidDeviceId;
	attributes->devicePointer = (void *)on_device;
	attributes->hostPointer = on_host;
	if (attributes->type == cudaMemoryTypeUnregistered)
		attributes->hostPointer = (void *)(uintptr_t)ptr;
	return cudaSuccess;
}
