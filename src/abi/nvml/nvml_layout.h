/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compile-time checks of the sizes of those structs that callers most often
 * allocate for the library. A wrong size would corrupt the caller's heap.
 */
#ifndef GPUKIT_ABI_NVML_LAYOUT_H
#define GPUKIT_ABI_NVML_LAYOUT_H

#include <stddef.h>

#include "nvml_device.h"
#include "nvml_event.h"
#include "nvml_field.h"
#include "nvml_mig.h"
#include "nvml_process.h"
#include "nvml_thermal.h"

#define NVML_SIZE(type, size)                                                  \
	_Static_assert(sizeof(type) == (size), #type " is not " #size " byte"  \
						     "s")

NVML_SIZE(nvmlReturn_t, 4);
NVML_SIZE(nvmlPciInfo_t, 68);
NVML_SIZE(nvmlPciInfo_v2_t, 52);
NVML_SIZE(nvmlPciInfoExt_v1_t, 64);
NVML_SIZE(nvmlMemory_t, 24);
NVML_SIZE(nvmlMemory_v2_t, 40);
NVML_SIZE(nvmlBAR1Memory_t, 24);
NVML_SIZE(nvmlUtilization_t, 8);
NVML_SIZE(nvmlProcessInfo_v1_t, 16);
NVML_SIZE(nvmlProcessInfo_v2_t, 24);
NVML_SIZE(nvmlProcessDetail_v1_t, 32);
NVML_SIZE(nvmlProcessUtilizationSample_t, 32);
NVML_SIZE(nvmlTemperature_v1_t, 12);
NVML_SIZE(nvmlValue_t, 8);
NVML_SIZE(nvmlSample_t, 16);
NVML_SIZE(nvmlFieldValue_t, 40);
NVML_SIZE(nvmlEventData_t, 32);

#undef NVML_SIZE

_Static_assert(offsetof(nvmlPciInfo_t, domain) == 16, "legacy bus id first");
_Static_assert(offsetof(nvmlPciInfo_t, busId) == 36, "bus id last");
_Static_assert(offsetof(nvmlPciInfo_v2_t, domain) ==
		   offsetof(nvmlPciInfo_t, domain),
	       "both begin alike");
_Static_assert(offsetof(nvmlMemory_v2_t, total) == 8, "padding after version");

/* Sizes of the structs for the functions whose names have no version. */
_Static_assert(offsetof(nvmlEventData_t, gpuInstanceId) == 24, "v1 end");
_Static_assert(offsetof(nvmlDeviceAttributes_t, gpuInstanceSliceCount) == 24,
	       "v1 end");
_Static_assert(offsetof(nvmlComputeInstanceInfo_t, placement) == 24, "v1 end");

_Static_assert(NVML_STRUCT_VERSION(Memory, 2) == 0x2000028,
	       "size, and version in the top byte");

#endif
