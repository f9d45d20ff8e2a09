/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vgpu.c - virtual GPUs and driver models, which a bare-metal Linux machine
 * does not have: checks the arguments and returns an error.
 */
#include "fronts/nvml/front.h"

/* Functions that no device supports. */
#define LACKS(symbol, params, arguments_ok)                                    \
	nvmlReturn_t symbol params                                             \
	{                                                                      \
		ENTER_DEVICE(symbol, device, arguments_ok);                    \
		return NVML_ERROR_NOT_SUPPORTED;                               \
	}
LACKS(nvmlDeviceGetHostVgpuMode,
      (nvmlDevice_t device, nvmlHostVgpuMode_t *mode), mode != NULL)
LACKS(nvmlDeviceGetActiveVgpus,
      (nvmlDevice_t device, unsigned int *count, nvmlVgpuInstance_t *instances),
      count && (instances || !*count))
LACKS(nvmlDeviceGetVgpuSchedulerCapabilities,
      (nvmlDevice_t device, nvmlVgpuSchedulerCapabilities_t *capabilities),
      capabilities != NULL)
LACKS(nvmlDeviceGetVgpuSchedulerState,
      (nvmlDevice_t device, nvmlVgpuSchedulerGetState_t *state), state != NULL)
LACKS(nvmlDeviceGetDriverModel,
      (nvmlDevice_t device, nvmlDriverModel_t *current,
       nvmlDriverModel_t *pending),
      current &&pending)
LACKS(nvmlDeviceGetDriverModel_v2,
      (nvmlDevice_t device, nvmlDriverModel_t *current,
       nvmlDriverModel_t *pending),
      current &&pending)
#undef LACKS

/* Functions on vGPU instances: none is running, and 0 is not a valid handle. */
#define NO_INSTANCE(symbol, params, arguments_ok)                              \
	nvmlReturn_t symbol params                                             \
	{                                                                      \
		ENTER(symbol, instance && (arguments_ok));                     \
		return NVML_ERROR_NOT_FOUND;                                   \
	}
NO_INSTANCE(nvmlVgpuInstanceGetAccountingPids,
	    (nvmlVgpuInstance_t instance, unsigned int *count,
	     unsigned int *pids),
	    count && (pids || !*count))
NO_INSTANCE(nvmlVgpuInstanceGetFbUsage,
	    (nvmlVgpuInstance_t instance, unsigned long long *bytes),
	    bytes != NULL)
NO_INSTANCE(nvmlVgpuInstanceGetType,
	    (nvmlVgpuInstance_t instance, nvmlVgpuTypeId_t *type), type != NULL)
NO_INSTANCE(nvmlVgpuInstanceGetUUID,
	    (nvmlVgpuInstance_t instance, char *uuid, unsigned int size),
	    uuid &&size)
NO_INSTANCE(nvmlVgpuInstanceGetVmID,
	    (nvmlVgpuInstance_t instance, char *id, unsigned int size,
	     nvmlVgpuVmIdType_t *type),
	    id &&size &&type)
#undef NO_INSTANCE

/* Only vGPU hosts have vGPU types, so no type id is valid here. */
nvmlReturn_t nvmlVgpuTypeGetFramebufferSize(nvmlVgpuTypeId_t vgpuTypeId,
					    unsigned long long *fbSize)
{
	ENTER(nvmlVgpuTypeGetFramebufferSize, vgpuTypeId && fbSize);
	return NVML_ERROR_INVALID_ARGUMENT;
}

nvmlReturn_t nvmlVgpuTypeGetName(nvmlVgpuTypeId_t vgpuTypeId,
				 char *vgpuTypeName, unsigned int *size)
{
	ENTER(nvmlVgpuTypeGetName, vgpuTypeId && vgpuTypeName && size);
	return NVML_ERROR_INVALID_ARGUMENT;
}
