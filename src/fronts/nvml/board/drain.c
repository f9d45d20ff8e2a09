/* SPDX-License-Identifier: Apache-2.0 */
/*
 * drain.c - drains, removes and rediscovers GPUs by PCI address, and lists
 * excluded GPUs. A GPU can be removed only if no process uses it and
 * persistence mode, which counts as a process, is off.
 */
#include "fronts/nvml/board/pci.h"
#include "fronts/nvml/permission.h"
#include "fronts/nvml/value.h"
#include "machine/file/board.h"
#include "machine/file/numbers.h"
#include "machine/file/value.h"
#include "machine/store/board.h"
#include "machine/store/process/ledger.h"
#include "machine/store/process/processes.h"
#include "machine/store/flag.h"
#include "machine/trouble/fault.h"
#include "machine/trouble/reset.h"

/* Finds the GPU at an address; sets c->board and c->index. */
static nvmlReturn_t find_gpu_at(struct call *c, const nvmlPciInfo_t *pci)
{
	int at = front_pci_find(c, pci->domain, pci->bus, pci->device);

	if (at < 0)
		return NVML_ERROR_INVALID_ARGUMENT;
	c->index = (unsigned)at;
	c->board = gkf_board(c->machine, c->index);
	return NVML_SUCCESS;
}

static bool is_persistent(const struct call *c)
{
	int64_t on;

	return read_device_value(c, GKF_V_PERSISTENCE, &on) && on;
}

static bool is_in_use(const struct call *c)
{
	unsigned processes = 0;

	gkf_reap(c->machine, true);
	gkf_processes(c->machine, c->index, ~0U, NULL, 0, &processes);
	return processes || is_persistent(c);
}

nvmlReturn_t nvmlDeviceModifyDrainState(nvmlPciInfo_t *pciInfo,
					nvmlEnableState_t newState)
{
	nvmlReturn_t r;

	ENTER(nvmlDeviceModifyDrainState,
	      pciInfo && (unsigned)newState <= NVML_FEATURE_ENABLED);
	r = find_gpu_at(&c, pciInfo);
	if (r)
		return r;
	r = front_permit(&c);
	if (!r && newState == NVML_FEATURE_ENABLED && is_persistent(&c))
		r = NVML_ERROR_IN_USE;
	return r ? r : front_set(&c, GKF_V_DRAIN, newState);
}

nvmlReturn_t nvmlDeviceQueryDrainState(nvmlPciInfo_t *pciInfo,
				       nvmlEnableState_t *currentState)
{
	nvmlReturn_t r;

	ENTER(nvmlDeviceQueryDrainState, pciInfo && currentState);
	r = find_gpu_at(&c, pciInfo);
	if (!r)
		*currentState = gkf_is_set(c.machine, c.index, GKF_V_DRAIN)
				    ? NVML_FEATURE_ENABLED
				    : NVML_FEATURE_DISABLED;
	return r;
}

static nvmlReturn_t take_gpu_out(enum nvml_row row, const nvmlPciInfo_t *pci,
				 bool arguments_ok)
{
	struct call c;
	nvmlReturn_t r = enter_call(&c, row, pci && arguments_ok);

	if (!r)
		r = find_gpu_at(&c, pci);
	if (!r)
		r = front_permit(&c);
	if (r)
		return r;
	return is_in_use(&c) ? NVML_ERROR_IN_USE
			     : front_set(&c, GKF_V_REMOVED, 1);
}

nvmlReturn_t nvmlDeviceRemoveGpu(nvmlPciInfo_t *pciInfo)
{
	return take_gpu_out(ROW_nvmlDeviceRemoveGpu, pciInfo, true);
}

nvmlReturn_t nvmlDeviceRemoveGpu_v2(nvmlPciInfo_t *pciInfo,
				    nvmlDetachGpuState_t gpuState,
				    nvmlPcieLinkState_t linkState)
{
	return take_gpu_out(ROW_nvmlDeviceRemoveGpu_v2, pciInfo,
			    (unsigned)gpuState <= NVML_DETACH_GPU_REMOVE &&
				(unsigned)linkState <=
				    NVML_PCIE_LINK_SHUT_DOWN);
}

/* Whether the board is in the given part of the PCI tree. An address of zeros
 * matches all boards. */
static bool holds_board(const nvmlPciInfo_t *pci, const struct gkf_board *b)
{
	if (!pci->domain && !pci->bus && !pci->device)
		return true;
	return pci->domain == b->pci_domain &&
	       (!pci->bus || pci->bus == b->pci_bus) &&
	       (!pci->device || pci->device == b->pci_device);
}

/* The driver starts a rediscovered GPU anew: it is no longer draining, and its
 * state is that after a reset. */
static nvmlReturn_t start_anew(const struct call *c)
{
	nvmlReturn_t r = front_set(c, GKF_V_DRAIN, GKF_UNSET);

	if (!r)
		r = front_set(c, GKF_V_REMOVED, GKF_UNSET);
	if (!r)
		r = front_error(gkf_device_reset(c->machine, c->index));
	return r ? r : front_error(gkf_fault_reset(c->machine, c->index));
}

nvmlReturn_t nvmlDeviceDiscoverGpus(nvmlPciInfo_t *pciInfo)
{
	nvmlReturn_t r;

	ENTER(nvmlDeviceDiscoverGpus, pciInfo != NULL);
	r = front_permit(&c);
	for (c.index = 0; !r && c.index < c.device_count; c.index++)
		if (gkf_is_set(c.machine, c.index, GKF_V_REMOVED) &&
		    holds_board(pciInfo, gkf_board(c.machine, c.index)))
			r = start_anew(&c);
	return r;
}

/* The index of the nth GPU that the driver was configured to exclude, or -1. */
static int find_excluded(const struct call *c, unsigned n)
{
	for (unsigned i = 0; i < c->device_count; i++)
		if (gkf_is_set(c->machine, i, GKF_V_EXCLUDED) && n-- == 0)
			return (int)i;
	return -1;
}

nvmlReturn_t nvmlGetExcludedDeviceCount(unsigned int *deviceCount)
{
	unsigned n = 0;

	ENTER(nvmlGetExcludedDeviceCount, deviceCount != NULL);
	while (find_excluded(&c, n) >= 0)
		n++;
	*deviceCount = n;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlGetExcludedDeviceInfoByIndex(unsigned int index,
					      nvmlExcludedDeviceInfo_t *info)
{
	const struct gkf_board *b;
	struct front_pci pci;
	int at;

	ENTER(nvmlGetExcludedDeviceInfoByIndex, info != NULL);
	at = find_excluded(&c, index);
	if (at < 0)
		return NVML_ERROR_INVALID_ARGUMENT;
	b = gkf_board(c.machine, (unsigned)at);
	pci = front_pci_of(b);
	front_pci_v3(&pci, &info->pciInfo);
	return front_copy(info->uuid, sizeof(info->uuid), b->uuid,
			  sizeof(b->uuid));
}
