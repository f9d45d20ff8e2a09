/* SPDX-License-Identifier: Apache-2.0 */
/*
 * link.c - reads the NVLinks of a device: state, version, capabilities, error
 * counters, and the device at the other end.
 */
#include "fronts/nvml/front.h"
#include "fronts/nvml/board/pci.h"
#include "fronts/nvml/permission.h"
#include "machine/file/board.h"
#include "machine/file/link_state.h"
#include "machine/file/topology.h"
#include "machine/model/link.h"
#include "machine/model/topology.h"
#include "machine/store/board.h"

/* Whether the board has this link. */
static nvmlReturn_t check_link(const struct call *c, unsigned link)
{
	if (!gkf_links(c->machine, c->index))
		return NVML_ERROR_NOT_SUPPORTED;
	return link < gkf_links(c->machine, c->index)
		   ? NVML_SUCCESS
		   : NVML_ERROR_INVALID_ARGUMENT;
}

/* Returns from the function if the board does not have the link. */
#define NEEDS_LINK(link)                                                       \
	do {                                                                   \
		nvmlReturn_t checked = check_link(&c, (link));                 \
		if (checked)                                                   \
			return checked;                                        \
	} while (0)

nvmlReturn_t nvmlDeviceGetNvLinkState(nvmlDevice_t device, unsigned int link,
				      nvmlEnableState_t *isActive)
{
	ENTER_DEVICE(nvmlDeviceGetNvLinkState, device, isActive != NULL);
	NEEDS_LINK(link);
	*isActive = gkf_link_state(c.machine, c.index, link) == GKF_LINK_DOWN
			? NVML_FEATURE_DISABLED
			: NVML_FEATURE_ENABLED;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetNvLinkVersion(nvmlDevice_t device, unsigned int link,
					unsigned int *version)
{
	ENTER_DEVICE(nvmlDeviceGetNvLinkVersion, device, version != NULL);
	NEEDS_LINK(link);
	*version = gkf_link_version(c.machine, c.index);
	return NVML_SUCCESS;
}

/*
 * Links lead to GPUs or switches, never to the host processor. Only a bridge
 * between two consumer cards is an SLI bridge.
 */
static bool has_capability(const struct call *c, unsigned link,
			   nvmlNvLinkCapability_t capability)
{
	bool up = gkf_link_state(c->machine, c->index, link) != GKF_LINK_DOWN;
	bool bridged =
	    !c->board->profile.sxm && gkf_is_consumer(&c->board->profile) &&
	    gkf_link_end(c->machine, c->index, link).kind == GKF_END_GPU;

	if (capability == NVML_NVLINK_CAP_SYSMEM_ACCESS ||
	    capability == NVML_NVLINK_CAP_SYSMEM_ATOMICS)
		return false;
	return up && (bridged || capability != NVML_NVLINK_CAP_SLI_BRIDGE);
}

nvmlReturn_t nvmlDeviceGetNvLinkCapability(nvmlDevice_t device,
					   unsigned int link,
					   nvmlNvLinkCapability_t capability,
					   unsigned int *capResult)
{
	ENTER_DEVICE(nvmlDeviceGetNvLinkCapability, device,
		     capResult && (unsigned)capability < NVML_NVLINK_CAP_COUNT);
	NEEDS_LINK(link);
	*capResult = has_capability(&c, link, capability);
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetNvLinkErrorCounter(nvmlDevice_t device,
					     unsigned int link,
					     nvmlNvLinkErrorCounter_t counter,
					     unsigned long long *counterValue)
{
	ENTER_DEVICE(nvmlDeviceGetNvLinkErrorCounter, device,
		     counterValue &&
			 (unsigned)counter < NVML_NVLINK_ERROR_COUNT);
	NEEDS_LINK(link);
	*counterValue = gkf_link_error(c.machine, c.index, link,
				       (enum gkf_link_error)counter);
	return NVML_SUCCESS;
}

/* Needs no permission: NVML's documentation does not mention any. */
nvmlReturn_t nvmlDeviceResetNvLinkErrorCounters(nvmlDevice_t device,
						unsigned int link)
{
	ENTER_DEVICE(nvmlDeviceResetNvLinkErrorCounters, device, true);
	NEEDS_LINK(link);
	for (int e = 0; e < GKF_LINK_ERRORS; e++)
		gkf_link_set_error(c.machine, c.index, link,
				   (enum gkf_link_error)e, 0);
	return NVML_SUCCESS;
}

/* ---- the other end ---- */

nvmlReturn_t
nvmlDeviceGetNvLinkRemoteDeviceType(nvmlDevice_t device, unsigned int link,
				    nvmlIntNvLinkDeviceType_t *type)
{
	ENTER_DEVICE(nvmlDeviceGetNvLinkRemoteDeviceType, device, type != NULL);
	NEEDS_LINK(link);
	if (gkf_link_state(c.machine, c.index, link) == GKF_LINK_DOWN)
		return NVML_ERROR_NOT_SUPPORTED;
	*type = gkf_link_end(c.machine, c.index, link).kind == GKF_END_SWITCH
		    ? NVML_NVLINK_DEVICE_TYPE_SWITCH
		    : NVML_NVLINK_DEVICE_TYPE_GPU;
	return NVML_SUCCESS;
}

/* The PCI address at the other end; NOT_SUPPORTED if the link is down. */
static nvmlReturn_t find_remote(const struct call *c, unsigned link,
				struct front_pci *ret)
{
	struct gkf_link_end end = gkf_link_end(c->machine, c->index, link);
	nvmlReturn_t r = check_link(c, link);
	struct gkf_nvswitch s;

	if (r)
		return r;
	if (gkf_link_state(c->machine, c->index, link) == GKF_LINK_DOWN)
		return NVML_ERROR_NOT_SUPPORTED;
	if (end.kind == GKF_END_GPU) {
		*ret = front_pci_of(gkf_board(c->machine, end.device));
		return NVML_SUCCESS;
	}
	s = gkf_topology_nvswitch(gkf_topology(c->machine), &c->board->profile,
				  c->index, end.device);
	*ret = (struct front_pci){
	    .domain = s.domain, .bus = s.bus, .device_id = s.pci_device_id};
	return NVML_SUCCESS;
}

/* Callers pass the 52-byte struct of _v2, although nvml.def has nvmlPciInfo_t.
 */
nvmlReturn_t nvmlDeviceGetNvLinkRemotePciInfo(nvmlDevice_t device,
					      unsigned int link,
					      nvmlPciInfo_t *pci)
{
	struct front_pci at = {0};
	nvmlReturn_t r;

	ENTER_DEVICE(nvmlDeviceGetNvLinkRemotePciInfo, device, pci != NULL);
	r = find_remote(&c, link, &at);
	if (!r)
		front_pci_v2(&at, (nvmlPciInfo_v2_t *)(void *)pci);
	return r;
}

nvmlReturn_t nvmlDeviceGetNvLinkRemotePciInfo_v2(nvmlDevice_t device,
						 unsigned int link,
						 nvmlPciInfo_t *pci)
{
	struct front_pci at = {0};
	nvmlReturn_t r;

	ENTER_DEVICE(nvmlDeviceGetNvLinkRemotePciInfo_v2, device, pci != NULL);
	r = find_remote(&c, link, &at);
	if (!r)
		front_pci_v3(&at, pci);
	return r;
}
