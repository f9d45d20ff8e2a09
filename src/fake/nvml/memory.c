/*
 * memory.c - device memory, BAR1, confidential memory.
 */
#include "fake/nvml/front.h"

#define MIB (1ULL << 20)

/* This version has no figure for the reserve: it counts as used. */
nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t *memory)
{
	struct gkf_memory m;

	ENTER_DEVICE(nvmlDeviceGetMemoryInfo, device, memory != NULL);
	gkf_memory(c.machine, c.index, &m);
	memory->total = m.total;
	memory->free = m.free;
	memory->used = m.total - m.free;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t device,
					nvmlMemory_v2_t *memory)
{
	struct gkf_memory m;

	ENTER_DEVICE(nvmlDeviceGetMemoryInfo_v2, device, memory != NULL);
	if (!TAKES(memory->version, nvmlMemory_v2))
		return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
	gkf_memory(c.machine, c.index, &m);
	memory->total = m.total;
	memory->reserved = m.reserved;
	memory->free = m.free;
	memory->used = m.used;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetBAR1MemoryInfo(nvmlDevice_t device,
					 nvmlBAR1Memory_t *bar1Memory)
{
	int64_t used;
	uint64_t total;

	ENTER_DEVICE(nvmlDeviceGetBAR1MemoryInfo, device, bar1Memory != NULL);
	if (!value(&c, GKF_V_BAR1_USED, &used))
		return NVML_ERROR_NOT_SUPPORTED;
	total = (uint64_t)c.board->profile.bar1_mib * MIB;
	if ((uint64_t)used > total)
		used = (int64_t)total;
	bar1Memory->bar1Total = total;
	bar1Memory->bar1Used = (uint64_t)used;
	bar1Memory->bar1Free = total - (uint64_t)used;
	return NVML_SUCCESS;
}

/* Confidential computing is off: no byte is protected. */
nvmlReturn_t
nvmlDeviceGetConfComputeMemSizeInfo(nvmlDevice_t device,
				    nvmlConfComputeMemSizeInfo_t *memInfo)
{
	ENTER_DEVICE(nvmlDeviceGetConfComputeMemSizeInfo, device,
		     memInfo != NULL);
	memInfo->protectedMemSizeKib = 0;
	memInfo->unprotectedMemSizeKib =
	    (uint64_t)c.board->profile.memory_mib * 1024;
	return NVML_SUCCESS;
}
