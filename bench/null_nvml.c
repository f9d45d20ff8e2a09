/* SPDX-License-Identifier: Apache-2.0 */
/* null_nvml.c - NVML of the GPU that null_cuda.c has. */
#include "abi/nvml/nvml_abi.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char device_data;

nvmlReturn_t nvmlDeviceGetCount_v2(unsigned int *deviceCount)
{
	*deviceCount = 1;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned int index,
					   nvmlDevice_t *device)
{
	if (index)
		return NVML_ERROR_INVALID_ARGUMENT;
	*device = (nvmlDevice_t)(void *)&device_data;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetHandleByUUID(const char *uuid, nvmlDevice_t *device)
{
	(void)uuid;
	return nvmlDeviceGetHandleByIndex_v2(0, device);
}

nvmlReturn_t nvmlDeviceGetIndex(nvmlDevice_t device, unsigned int *index)
{
	(void)device;
	*index = 0;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t device, char *uuid,
			       unsigned int length)
{
	(void)device;
	snprintf(uuid, length, "GPU-11111111-1111-1111-1111-111111111111");
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t *memory)
{
	(void)device;
	memory->total = memory->free = 80ULL << 30;
	memory->used = 0;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceIsMigDeviceHandle(nvmlDevice_t device,
					 unsigned int *isMigDevice)
{
	(void)device;
	*isMigDevice = 0;
	return NVML_SUCCESS;
}

/*
 * Who asks is the only process there is, and has a context or NULL_HELD bytes;
 * with NULL_NVML_NOBODY in the environment there is none, as in some
 * containers.
 */
#ifndef NULL_HELD
#define NULL_HELD (64ULL << 20)
#endif

nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v3(nvmlDevice_t device,
						     unsigned int *infoCount,
						     nvmlProcessInfo_t *infos)
{
	(void)device;
	if (getenv("NULL_NVML_NOBODY")) {
		*infoCount = 0;
		return NVML_SUCCESS;
	}
	if (!*infoCount || !infos) {
		*infoCount = 1;
		return NVML_ERROR_INSUFFICIENT_SIZE;
	}
	*infoCount = 1;
	infos[0] = (nvmlProcessInfo_t){.pid = (unsigned int)getpid(),
				       .usedGpuMemory = NULL_HELD};
	return NVML_SUCCESS;
}
