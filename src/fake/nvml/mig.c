/*
 * mig.c - multi-instance GPU, which no made-up GPU has switched on: the mode
 * is told, and there is no instance to be found.
 */
#include "fake/nvml/front.h"

/* Slices of every board that can be split in seven: A100 and later. */
#define SLICES 7

static bool can_split(const struct call *c)
{
	return c->board->profile.mig >= 0;
}

nvmlReturn_t nvmlDeviceGetMigMode(nvmlDevice_t device,
				  unsigned int *currentMode,
				  unsigned int *pendingMode)
{
	ENTER_DEVICE(nvmlDeviceGetMigMode, device, currentMode && pendingMode);
	if (!can_split(&c))
		return NVML_ERROR_NOT_SUPPORTED;
	*currentMode = *pendingMode = NVML_DEVICE_MIG_DISABLE;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetMaxMigDeviceCount(nvmlDevice_t device,
					    unsigned int *count)
{
	ENTER_DEVICE(nvmlDeviceGetMaxMigDeviceCount, device, count != NULL);
	*count = can_split(&c) ? SLICES : 0;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetMigDeviceHandleByIndex(nvmlDevice_t device,
						 unsigned int index,
						 nvmlDevice_t *migDevice)
{
	ENTER_DEVICE(nvmlDeviceGetMigDeviceHandleByIndex, device,
		     migDevice != NULL);
	if (!can_split(&c))
		return NVML_ERROR_NOT_SUPPORTED;
	return index < SLICES ? NVML_ERROR_NOT_FOUND
			      : NVML_ERROR_INVALID_ARGUMENT;
}

/* These take the handle of a MIG device, and no handle is one. */
nvmlReturn_t
nvmlDeviceGetDeviceHandleFromMigDeviceHandle(nvmlDevice_t migDevice,
					     nvmlDevice_t *device)
{
	ENTER_DEVICE(nvmlDeviceGetDeviceHandleFromMigDeviceHandle, migDevice,
		     device != NULL);
	return NVML_ERROR_INVALID_ARGUMENT;
}

nvmlReturn_t nvmlDeviceGetGpuInstanceId(nvmlDevice_t device, unsigned int *id)
{
	ENTER_DEVICE(nvmlDeviceGetGpuInstanceId, device, id != NULL);
	return NVML_ERROR_NOT_SUPPORTED;
}

nvmlReturn_t nvmlDeviceGetComputeInstanceId(nvmlDevice_t device,
					    unsigned int *id)
{
	ENTER_DEVICE(nvmlDeviceGetComputeInstanceId, device, id != NULL);
	return NVML_ERROR_NOT_SUPPORTED;
}

nvmlReturn_t nvmlDeviceGetAttributes(nvmlDevice_t device,
				     nvmlDeviceAttributes_t *attributes)
{
	ENTER_DEVICE(nvmlDeviceGetAttributes, device, attributes != NULL);
	return NVML_ERROR_NOT_SUPPORTED;
}

nvmlReturn_t nvmlDeviceGetAttributes_v2(nvmlDevice_t device,
					nvmlDeviceAttributes_t *attributes)
{
	ENTER_DEVICE(nvmlDeviceGetAttributes_v2, device, attributes != NULL);
	return NVML_ERROR_NOT_SUPPORTED;
}

/* No instance was ever handed out, so every handle is a bad one. */
nvmlReturn_t nvmlGpuInstanceGetInfo(nvmlGpuInstance_t gpuInstance,
				    nvmlGpuInstanceInfo_t *info)
{
	ENTER(nvmlGpuInstanceGetInfo, gpuInstance && info);
	return NVML_ERROR_INVALID_ARGUMENT;
}

nvmlReturn_t nvmlComputeInstanceGetInfo(nvmlComputeInstance_t computeInstance,
					nvmlComputeInstanceInfo_t *info)
{
	ENTER(nvmlComputeInstanceGetInfo, computeInstance && info);
	return NVML_ERROR_INVALID_ARGUMENT;
}

nvmlReturn_t
nvmlComputeInstanceGetInfo_v2(nvmlComputeInstance_t computeInstance,
			      nvmlComputeInstanceInfo_t *info)
{
	ENTER(nvmlComputeInstanceGetInfo_v2, computeInstance && info);
	return NVML_ERROR_INVALID_ARGUMENT;
}
