/*
 * topology.c - answers what lies between two GPUs: levels of the PCI tree, P2P.
 */
#include "fronts/nvml/affinity.h"
#include "fronts/nvml/front.h"
#include "fronts/nvml/two_devices.h"
#include "machine/model/peer.h"
#include "machine/model/topology.h"
#include "machine/store/board.h"
#include "machine/store/gate.h"

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

/* Boards of this machine have one GPU each. */
nvmlReturn_t nvmlDeviceOnSameBoard(nvmlDevice_t device1, nvmlDevice_t device2,
				   int *onSameBoard)
{
	ENTER_PAIR(nvmlDeviceOnSameBoard, device1, device2,
		   onSameBoard != NULL);
	*onSameBoard = c.index == other;
	return NVML_SUCCESS;
}

/*
 * Hands out the GPUs of a mask: with no count asked for, how many there are;
 * else at most so many of them.
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

static nvmlGpuP2PStatus_t p2p(const struct call *c, unsigned other,
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
		   : NVML_P2P_STATUS_NOT_SUPPORTED; /* of NVLink alone */
}

nvmlReturn_t nvmlDeviceGetP2PStatus(nvmlDevice_t device1, nvmlDevice_t device2,
				    nvmlGpuP2PCapsIndex_t p2pIndex,
				    nvmlGpuP2PStatus_t *p2pStatus)
{
	ENTER_PAIR(nvmlDeviceGetP2PStatus, device1, device2,
		   p2pStatus &&
		       (unsigned)p2pIndex < NVML_P2P_CAPS_INDEX_UNKNOWN);
	*p2pStatus =
	    c.index == other ? NVML_P2P_STATUS_OK : p2p(&c, other, p2pIndex);
	return NVML_SUCCESS;
}
