/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fabric.c - reports the state of the NVSwitch fabric of Hopper and newer GPUs;
 * reads and sets the bandwidth and low-power modes of their NVLinks.
 */
#include "fronts/nvml/board/conf.h"
#include "fronts/nvml/meter/module.h"
#include "fronts/nvml/permission.h"
#include "fronts/nvml/value.h"
#include "machine/file/board.h"
#include "machine/file/system_state.h"
#include "machine/file/value.h"
#include "machine/model/link.h"
#include "machine/store/board.h"

#include <string.h>

/* Boards with NVLink 4 or newer report a fabric. */
static bool has_fabric(const struct call *c)
{
	return gkf_links(c->machine, c->index) &&
	       c->board->profile.nvlink_version >= 4;
}

/* Bandwidth modes of a single device came with Blackwell. */
static bool has_modes(const struct call *c)
{
	return has_fabric(c) && c->board->profile.nvlink_version >= 5;
}

struct fabric {
	nvmlGpuFabricState_t state;
	nvmlReturn_t status;
	unsigned health;
	unsigned char summary;
};

#define HEALTH(what, is)                                                       \
	((unsigned)NVML_GPU_FABRIC_HEALTH_MASK_##what##_##is                   \
	 << NVML_GPU_FABRIC_HEALTH_MASK_SHIFT_##what)

/*
 * What boards report of their health, according to published listings: H100 and
 * H200 (before Blackwell) report none, a B200 reports nothing about routes, and
 * of GB200 and GB300 only the latter reports whether the configuration is
 * incorrect. If a link is down, the bandwidth is degraded.
 */
static void read_fabric(const struct call *c, struct fabric *ret)
{
	bool whole = (unsigned)__builtin_popcountll(
			 gkf_links_up(c->machine, c->index)) ==
		     gkf_links(c->machine, c->index);
	int64_t state = NVML_GPU_FABRIC_STATE_NOT_SUPPORTED;

	read_device_value(c, GKF_V_FABRIC_STATE, &state);
	*ret = (struct fabric){
	    .state = (nvmlGpuFabricState_t)state,
	    .status = NVML_SUCCESS,
	};
	if (!has_modes(c) || !state)
		return;
	ret->health = HEALTH(ACCESS_TIMEOUT_RECOVERY, FALSE);
	if (module_is_in_rack(c))
		ret->health |= HEALTH(ROUTE_RECOVERY, FALSE) |
			       HEALTH(ROUTE_UNHEALTHY, FALSE);
	if (module_is_in_rack(c) && c->board->profile.compute_minor >= 3)
		ret->health |= HEALTH(INCORRECT_CONFIGURATION, NONE);
	if (!whole)
		ret->health |= HEALTH(DEGRADED_BW, TRUE);
	else if (module_is_in_rack(c))
		ret->health |= HEALTH(DEGRADED_BW, FALSE);
	ret->summary = whole ? NVML_GPU_FABRIC_HEALTH_SUMMARY_HEALTHY
			     : NVML_GPU_FABRIC_HEALTH_SUMMARY_LIMITED_CAPACITY;
}

/* Cluster and clique are 0, because the fabric is inside one machine. */
nvmlReturn_t nvmlDeviceGetGpuFabricInfo(nvmlDevice_t device,
					nvmlGpuFabricInfo_t *info)
{
	struct fabric f;

	ENTER_DEVICE(nvmlDeviceGetGpuFabricInfo, device, info != NULL);
	if (!has_fabric(&c))
		return NVML_ERROR_NOT_SUPPORTED;
	read_fabric(&c, &f);
	*info = (nvmlGpuFabricInfo_t){.state = f.state, .status = f.status};
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetGpuFabricInfoV(nvmlDevice_t device,
					 nvmlGpuFabricInfoV_t *info)
{
	bool v3, v2;
	struct fabric f;

	ENTER_DEVICE(nvmlDeviceGetGpuFabricInfoV, device, info != NULL);
	v3 = TAKES(info->version, nvmlGpuFabricInfo_v3);
	v2 = TAKES(info->version, nvmlGpuFabricInfo_v2);
	if (!v3 && !v2)
		return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
	if (!has_fabric(&c))
		return NVML_ERROR_NOT_SUPPORTED;
	read_fabric(&c, &f);
	memset(info->clusterUuid, 0, sizeof(info->clusterUuid));
	info->status = f.status;
	info->cliqueId = 0;
	info->state = f.state;
	info->healthMask = f.health;
	if (v3)
		info->healthSummary = f.summary;
	return NVML_SUCCESS;
}

/* ---- bandwidth modes of one device ---- */

nvmlReturn_t
nvmlDeviceGetNvlinkSupportedBwModes(nvmlDevice_t device,
				    nvmlNvlinkSupportedBwModes_t *modes)
{
	ENTER_DEVICE(nvmlDeviceGetNvlinkSupportedBwModes, device,
		     modes != NULL);
	if (!TAKES(modes->version, nvmlNvlinkSupportedBwModes_v1))
		return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
	if (!has_modes(&c))
		return NVML_ERROR_NOT_SUPPORTED;
	memset(modes->bwModes, 0, sizeof(modes->bwModes));
	for (unsigned i = 0; i < GKF_LINK_BW_COUNT; i++)
		modes->bwModes[i] = (unsigned char)i;
	modes->totalBwModes = GKF_LINK_BW_COUNT;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetNvlinkBwMode(nvmlDevice_t device,
				       nvmlNvlinkGetBwMode_t *mode)
{
	ENTER_DEVICE(nvmlDeviceGetNvlinkBwMode, device, mode != NULL);
	if (!TAKES(mode->version, nvmlNvlinkGetBwMode_v1))
		return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
	if (!has_modes(&c))
		return NVML_ERROR_NOT_SUPPORTED;
	mode->bwMode = (unsigned char)gkf_link_bw(c.machine, c.index);
	mode->bIsBest = mode->bwMode == GKF_LINK_BW_FULL;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceSetNvlinkBwMode(nvmlDevice_t device,
				       nvmlNvlinkSetBwMode_t *mode)
{
	unsigned to;
	nvmlReturn_t r;

	ENTER_DEVICE(nvmlDeviceSetNvlinkBwMode, device, mode != NULL);
	if (!TAKES(mode->version, nvmlNvlinkSetBwMode_v1))
		return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
	if (!has_modes(&c))
		return NVML_ERROR_NOT_SUPPORTED;
	to = mode->bSetBest ? GKF_LINK_BW_FULL : mode->bwMode;
	if (to >= GKF_LINK_BW_COUNT)
		return NVML_ERROR_INVALID_ARGUMENT;
	r = front_permit(&c);
	return r ? r
		 : front_error(gkf_link_set_bw(c.machine, c.index,
					       (enum gkf_link_bw)to));
}

/* ---- bandwidth mode of all devices: Hopper or newer, only by root ---- */

static bool all_have_fabric(struct call *c)
{
	for (unsigned i = 0; i < c->device_count; i++) {
		c->index = i;
		c->board = gkf_board(c->machine, i);
		if (!has_fabric(c))
			return false;
	}
	return c->device_count > 0;
}

nvmlReturn_t nvmlSystemGetNvlinkBwMode(unsigned int *nvlinkBwMode)
{
	nvmlReturn_t r;

	ENTER(nvmlSystemGetNvlinkBwMode, nvlinkBwMode != NULL);
	if (!all_have_fabric(&c))
		return NVML_ERROR_NOT_SUPPORTED;
	r = front_permit(&c);
	if (!r)
		*nvlinkBwMode = gkf_link_bw(c.machine, 0);
	return r;
}

nvmlReturn_t nvmlSystemSetNvlinkBwMode(unsigned int nvlinkBwMode)
{
	nvmlReturn_t r;

	ENTER(nvmlSystemSetNvlinkBwMode, nvlinkBwMode < GKF_LINK_BW_COUNT);
	if (!all_have_fabric(&c))
		return NVML_ERROR_NOT_SUPPORTED;
	r = front_permit(&c);
	for (unsigned i = 0; !r && i < c.device_count; i++)
		r = front_error(gkf_link_set_bw(
		    c.machine, i, (enum gkf_link_bw)nvlinkBwMode));
	return r;
}

/* ---- idle time after which links sleep: Hopper or newer ---- */

nvmlReturn_t
nvmlDeviceSetNvLinkDeviceLowPowerThreshold(nvmlDevice_t device,
					   nvmlNvLinkPowerThres_t *info)
{
	unsigned to;
	nvmlReturn_t r;

	ENTER_DEVICE(nvmlDeviceSetNvLinkDeviceLowPowerThreshold, device,
		     info != NULL);
	if (!has_fabric(&c))
		return NVML_ERROR_NOT_SUPPORTED;
	to = info->lowPwrThreshold;
	if (to == NVML_NVLINK_LOW_POWER_THRESHOLD_RESET)
		to = 0;
	else if (to < NVML_NVLINK_LOW_POWER_THRESHOLD_MIN ||
		 to > NVML_NVLINK_LOW_POWER_THRESHOLD_MAX)
		return NVML_ERROR_INVALID_ARGUMENT;
	r = front_permit(&c);
	return r ? r
		 : front_error(gkf_link_set_threshold(c.machine, c.index, to));
}

/*
 * Blackwell encrypts its links while the machine is confidential. Firmware
 * versions of links are not known.
 */
static bool is_encrypted(const struct call *c)
{
	return has_modes(c) && conf_mode(c) != GKF_CONF_OFF;
}

nvmlReturn_t nvmlDeviceGetNvLinkInfo(nvmlDevice_t device,
				     nvmlNvLinkInfo_t *info)
{
	bool v1, v2;

	ENTER_DEVICE(nvmlDeviceGetNvLinkInfo, device, info != NULL);
	v1 = TAKES(info->version, nvmlNvLinkInfo_v1);
	v2 = TAKES(info->version, nvmlNvLinkInfo_v2);
	if (!v1 && !v2)
		return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
	if (!gkf_links(c.machine, c.index))
		return NVML_ERROR_NOT_SUPPORTED;
	info->isNvleEnabled = is_encrypted(&c);
	if (v2)
		info->firmwareInfo.numValidEntries = 0;
	return NVML_SUCCESS;
}
