/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topology.c - reports what lies between two GPUs (levels of the PCI tree,
 * peer-to-peer access), and which GPUs are near a device or a processor.
 */
#include "fronts/nvml/board/affinity.h"
#include "fronts/nvml/front.h"
#include "machine/model/peer.h"
#include "machine/model/topology.h"
#include "machine/store/board.h"
#include "machine/store/gate.h"

/*
 * Does what enter_device() does for the first device. The second one must be a
 * listed GPU without a fault.
 */
static nvmlReturn_t enter_pair(struct call *c, unsigned *ret_other,
			       enum nvml_row row, nvmlDevice_t first,
			       nvmlDevice_t second, bool arguments_ok)
{
	nvmlReturn_t r = enter_device(c, row, first, arguments_ok);
	size_t index = handle_index(second);
	struct call also = *c;

	if (r)
		return r;
	if (index >= c->device_count ||
	    !gkf_gate_lists(c->gate, (unsigned)index))
		return NVML_ERROR_INVALID_ARGUMENT;
	*ret_other = also.index = (unsigned)index;
	return check_faults(&also, row);
}

/* Declares `c`, the call on the first device, and `other`, the index of the
 * second one. */
#define ENTER_PAIR(symbol, first, second, arguments_ok)                        \
	struct call c;                                                         \
	unsigned other;                                                        \
	nvmlReturn_t entered = enter_pair(&c, &other, ROW_##symbol, (first),   \
					  (second), (arguments_ok));           \
	if (entered)                                                           \
	return entered

nvmlReturn_t
nvmlDeviceGetTopologyCommonAncestor(nvmlDevice_t device1, nvmlDevice_t device2,
				    nvmlGpuTopologyLevel_t *pathInfo)
{
	ENTER_PAIR(nvmlDeviceGetTopologyCommonAncestor, device1, device2,
		   pathInfo != NULL);
	*pathInfo = (nvmlGpuTopologyLevel_t)gkf_topology_distance(
	    gkf_topology(c.machine), c.index, other);
	return NVML_SUCCESS;
}

/* Each simulated board has one GPU. */
nvmlReturn_t nvmlDeviceOnSameBoard(nvmlDevice_t device1, nvmlDevice_t device2,
				   int *onSameBoard)
{
	ENTER_PAIR(nvmlDeviceOnSameBoard, device1, device2,
		   onSameBoard != NULL);
	*onSameBoard = c.index == other;
	return NVML_SUCCESS;
}

/*
 * Writes the handles of at most *count GPUs in a mask. If *count is 0, sets it
 * to the number of these GPUs instead.
 */
static nvmlReturn_t give_gpus(uint64_t mask, unsigned *count,
			      nvmlDevice_t *devices)
{
	unsigned asked = *count, n = 0;

	if (!asked) {
		*count = (unsigned)__builtin_popcountll(mask);
		return NVML_SUCCESS;
	}
	for (; mask && n < asked; mask &= mask - 1)
		devices[n++] = &front_handles[__builtin_ctzll(mask)];
	*count = n;
	return NVML_SUCCESS;
}

static bool is_level(unsigned level)
{
	return level <= NVML_TOPOLOGY_SYSTEM && level % 10 == 0;
}

nvmlReturn_t nvmlDeviceGetTopologyNearestGpus(nvmlDevice_t device,
					      nvmlGpuTopologyLevel_t level,
					      unsigned int *count,
					      nvmlDevice_t *deviceArray)
{
	uint64_t found = 0;

	ENTER_DEVICE(nvmlDeviceGetTopologyNearestGpus, device,
		     count && (!*count || deviceArray) &&
			 is_level((unsigned)level));
	for (unsigned i = 0; i < c.device_count; i++)
		if (i != c.index && gkf_gate_lists(c.gate, i) &&
		    (unsigned)gkf_topology_distance(
			gkf_topology(c.machine), c.index, i) == (unsigned)level)
			found |= 1ULL << i;
	return give_gpus(found, count, deviceArray);
}

nvmlReturn_t nvmlSystemGetTopologyGpuSet(unsigned int cpuNumber,
					 unsigned int *count,
					 nvmlDevice_t *deviceArray)
{
	uint64_t found = 0;
	cpu_set_t near;

	ENTER(nvmlSystemGetTopologyGpuSet,
	      count && (!*count || deviceArray) && cpuNumber < CPU_SETSIZE);
	if (!affinity_is_online(cpuNumber))
		return NVML_ERROR_INVALID_ARGUMENT;
	for (unsigned i = 0; i < c.device_count; i++) {
		affinity_near(c.machine, i, &near);
		if (gkf_gate_lists(c.gate, i) && CPU_ISSET(cpuNumber, &near))
			found |= 1ULL << i;
	}
	return give_gpus(found, count, deviceArray);
}

static nvmlGpuP2PStatus_t over_pcie(const struct call *c, unsigned other)
{
	switch (gkf_peer_pcie(c->machine, c->index, other)) {
	case GKF_PEER_CONSUMER:
		return NVML_P2P_STATUS_GPU_NOT_SUPPORTED;
	case GKF_PEER_MIXED:
		return NVML_P2P_STATUS_NOT_SUPPORTED;
	case GKF_PEER_FAR:
		return NVML_P2P_STATUS_IOH_TOPOLOGY_NOT_SUPPORTED;
	case GKF_PEER_OK:
	default:
		return NVML_P2P_STATUS_OK;
	}
}

static nvmlGpuP2PStatus_t find_p2p_status(const struct call *c, unsigned other,
					  nvmlGpuP2PCapsIndex_t index)
{
	if (gkf_peer_split(c->machine, c->index, other))
		return NVML_P2P_STATUS_NOT_SUPPORTED;
	if (index == NVML_P2P_CAPS_INDEX_PCI)
		return over_pcie(c, other);
	if (gkf_peer_nvlink(c->machine, c->index, other))
		return NVML_P2P_STATUS_OK;
	return index == NVML_P2P_CAPS_INDEX_READ ||
		       index == NVML_P2P_CAPS_INDEX_WRITE
		   ? over_pcie(c, other)
		   : NVML_P2P_STATUS_NOT_SUPPORTED; /* needs NVLink */
}

nvmlReturn_t nvmlDeviceGetP2PStatus(nvmlDevice_t device1, nvmlDevice_t device2,
				    nvmlGpuP2PCapsIndex_t p2pIndex,
				    nvmlGpuP2PStatus_t *p2pStatus)
{
	ENTER_PAIR(nvmlDeviceGetP2PStatus, device1, device2,
		   p2pStatus &&
		       (unsigned)p2pIndex < NVML_P2P_CAPS_INDEX_UNKNOWN);
	*p2pStatus = c.index == other ? NVML_P2P_STATUS_OK
				      : find_p2p_status(&c, other, p2pIndex);
	return NVML_SUCCESS;
}
