/* SPDX-License-Identifier: Apache-2.0 */
/* report_cuda.c - answers CUDA's calls for a device's memory. */
#include "limit/preload/entry/driver.h"
#include "limit/preload/limited.h"
#include "limit/preload/memory/memory.h"
#include "limit/preload/report/report.h"

static unsigned int clamp_to_int(uint64_t bytes)
{
	return bytes < UINT32_MAX ? (unsigned int)bytes : UINT32_MAX;
}

/* The group's view of the current context's device. */
static CUresult read_memory(int device, struct report_memory *ret_memory)
{
	size_t free, total;
	CUresult result;

	memory_refresh(device);
	result = REAL(cuMemGetInfo_v2)(&free, &total);
	if (result)
		return result;
	*ret_memory = (struct report_memory){.total = total, .free = free};
	report_memory(device, ret_memory);
	return CUDA_SUCCESS;
}

CUresult cuMemGetInfo_v2(size_t *free, size_t *total)
{
	struct report_memory memory;
	CUresult result;
	int device;

	device = limited_current_device();
	if (!limited_memory(device))
		return REAL(cuMemGetInfo_v2)(free, total);
	result = read_memory(device, &memory);
	if (!result && free)
		*free = memory.free;
	if (!result && total)
		*total = memory.total;
	return result;
}

CUresult cuMemGetInfo(unsigned int *free, unsigned int *total)
{
	struct report_memory memory;
	CUresult result;
	int device;

	device = limited_current_device();
	if (!limited_memory(device))
		return REAL(cuMemGetInfo)(free, total);
	result = read_memory(device, &memory);
	if (!result && free)
		*free = clamp_to_int(memory.free);
	if (!result && total)
		*total = clamp_to_int(memory.total);
	return result;
}

CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice dev)
{
	CUresult result;
	uint64_t limit;

	result = REAL(cuDeviceTotalMem_v2)(bytes, dev);
	limit = result ? 0 : limited_memory(limited_device(dev));
	if (limit && limit < *bytes)
		*bytes = limit;
	return result;
}

CUresult cuDeviceTotalMem(unsigned int *bytes, CUdevice dev)
{
	CUresult result;
	uint64_t limit;

	result = REAL(cuDeviceTotalMem)(bytes, dev);
	limit = result ? 0 : limited_memory(limited_device(dev));
	if (limit && limit < *bytes)
		*bytes = clamp_to_int(limit);
	return result;
}
