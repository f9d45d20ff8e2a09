/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory.c - reports device memory and BAR1 memory.
 */
#include "base/units.h"
#include "fronts/nvml/mig/mig_handle.h"
#include "fronts/nvml/value.h"
#include "machine/file/board.h"
#include "machine/file/numbers.h"
#include "machine/file/value.h"
#include "machine/model/mig/mig.h"
#include "machine/model/mig/mig_rules.h"
#include "machine/store/process/ledger.h"

/*
 * Reads the memory of the GPU, or of the GPU instance that contains the MIG
 * device. A GPU that uses the host's memory (GB10) reports none. Frees the
 * memory of dead processes first.
 */
static nvmlReturn_t read_device_memory(const struct call *c,
				       struct gkf_memory *ret_m)
{
	if (!c->board->profile.own_memory)
		return NVML_ERROR_NOT_SUPPORTED;
	gkf_reap(c->machine, false);
	if (c->instance == GKF_NO_INSTANCE) {
		gkf_memory(c->machine, c->index, ret_m);
		return NVML_SUCCESS;
	}
	if (gkf_memory_gi(c->machine, c->index, GKF_INSTANCE_GI(c->instance),
			  ret_m))
		return NVML_ERROR_INVALID_ARGUMENT;
	return mig_confirm(c);
}

/*
 * This version of the struct has no field for reserved memory. Since driver
 * 510, reserved memory counts as used. Before, the total did not include it:
 * many listings have a smaller total (A16 15105 of 15356 MiB, A100 40537 of
 * 40960).
 */
nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t *memory)
{
	struct gkf_memory m;
	nvmlReturn_t r;

	ENTER_DEVICE(nvmlDeviceGetMemoryInfo, device, memory != NULL);
	r = read_device_memory(&c, &m);
	if (r)
		return r;
	memory->total = m.total;
	if (front_generation->level < GKF_LEVEL(510, 0))
		memory->total -= m.reserved;
	memory->free = m.free;
	memory->used = memory->total - m.free;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t device,
					nvmlMemory_v2_t *memory)
{
	struct gkf_memory m;
	nvmlReturn_t r;

	ENTER_DEVICE(nvmlDeviceGetMemoryInfo_v2, device, memory != NULL);
	if (!TAKES(memory->version, nvmlMemory_v2))
		return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
	r = read_device_memory(&c, &m);
	if (r)
		return r;
	memory->total = m.total;
	memory->reserved = m.reserved;
	memory->free = m.free;
	memory->used = m.used;
	return NVML_SUCCESS;
}

/* The BAR1 memory of a MIG device is never used. */
static nvmlReturn_t mig_bar1(const struct call *c, nvmlBAR1Memory_t *ret_bar1)
{
	struct gkf_mig_gi gi;
	nvmlReturn_t r = mig_error(gkf_mig_gi_read(
	    c->machine, c->index, GKF_INSTANCE_GI(c->instance), &gi));

	if (!r)
		r = mig_confirm(c);
	if (r)
		return r;
	ret_bar1->bar1Total =
	    MIB *
	    gkf_mig_bar1_mib(gkf_mig_board(&c->board->profile), gi.profile);
	ret_bar1->bar1Used = 0;
	ret_bar1->bar1Free = ret_bar1->bar1Total;
	return ret_bar1->bar1Total ? NVML_SUCCESS : NVML_ERROR_NOT_SUPPORTED;
}

nvmlReturn_t nvmlDeviceGetBAR1MemoryInfo(nvmlDevice_t device,
					 nvmlBAR1Memory_t *bar1Memory)
{
	int64_t used;
	uint64_t total;

	ENTER_DEVICE(nvmlDeviceGetBAR1MemoryInfo, device, bar1Memory != NULL);
	if (c.instance != GKF_NO_INSTANCE)
		return mig_bar1(&c, bar1Memory);
	if (!read_device_value(&c, GKF_V_BAR1_USED, &used))
		return NVML_ERROR_NOT_SUPPORTED;
	total = (uint64_t)c.board->profile.bar1_mib * MIB;
	if ((uint64_t)used > total)
		used = (int64_t)total;
	bar1Memory->bar1Total = total;
	bar1Memory->bar1Used = (uint64_t)used;
	bar1Memory->bar1Free = total - (uint64_t)used;
	return NVML_SUCCESS;
}
