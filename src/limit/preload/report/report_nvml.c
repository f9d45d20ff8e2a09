/* SPDX-License-Identifier: Apache-2.0 */
/* report_nvml.c - answers NVML's calls for a device's memory. */
#include "limit/preload/entry/driver.h"
#include "limit/preload/memory/memory.h"
#include "limit/preload/report/report.h"

/* This version has no figure for reserved memory, which counts as used. */
nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t *memory)
{
	struct report_memory m;
	nvmlReturn_t r;
	int number;

	number = report_nvml_device(device);
	memory_refresh(number);
	r = REAL_NVML(nvmlDeviceGetMemoryInfo)(device, memory);
	if (r || number < 0)
		return r;
	m = (struct report_memory){.total = memory->total,
				   .free = memory->free};
	report_memory(number, &m);
	memory->total = m.total;
	memory->free = m.free;
	memory->used = m.total - m.free;
	return r;
}

nvmlReturn_t nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t device,
					nvmlMemory_v2_t *memory)
{
	struct report_memory m;
	nvmlReturn_t r;
	int number;

	number = report_nvml_device(device);
	memory_refresh(number);
	r = REAL_NVML(nvmlDeviceGetMemoryInfo_v2)(device, memory);
	if (r || number < 0)
		return r;
	m = (struct report_memory){.total = memory->total,
				   .reserved = memory->reserved,
				   .free = memory->free};
	report_memory(number, &m);
	memory->total = m.total;
	memory->reserved = m.reserved;
	memory->free = m.free;
	memory->used = m.used;
	return r;
}
