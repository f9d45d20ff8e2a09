/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf.c - reports how long each policy has held a GPU's clocks down, the
 * utilisation of its domains, and faults of its clocks.
 */
#include "fronts/nvml/permission.h"
#include "fronts/nvml/value.h"
#include "machine/file/state.h"
#include "machine/file/value.h"
#include "machine/model/model.h"

#include <string.h>

#define UNDER(reason)                                                          \
	(offsetof(struct gkf_state, reason_ns) +                               \
	 sizeof(uint64_t) * (size_t)__builtin_ctzll(reason))

/* The offset in struct gkf_state of the time that a policy held the clocks
 * down; 0: the policy is not reported. */
static size_t sum_of(nvmlPerfPolicyType_t policy)
{
	static const size_t of[NVML_PERF_POLICY_COUNT] = {
	    [NVML_PERF_POLICY_POWER] = UNDER(nvmlClocksEventReasonSwPowerCap),
	    [NVML_PERF_POLICY_THERMAL] = offsetof(struct gkf_state, thermal_ns),
	    [NVML_PERF_POLICY_SYNC_BOOST] =
		UNDER(nvmlClocksEventReasonSyncBoost),
	    [NVML_PERF_POLICY_BOARD_LIMIT] =
		UNDER(nvmlClocksThrottleReasonHwPowerBrakeSlowdown),
	    [NVML_PERF_POLICY_LOW_UTILIZATION] =
		UNDER(nvmlClocksEventReasonGpuIdle),
	    [NVML_PERF_POLICY_TOTAL_APP_CLOCKS] =
		offsetof(struct gkf_state, limited_ns),
	};

	return of[policy];
}

nvmlReturn_t nvmlDeviceGetViolationStatus(nvmlDevice_t device,
					  nvmlPerfPolicyType_t perfPolicyType,
					  nvmlViolationTime_t *violTime)
{
	struct gkf_state state;
	uint64_t ns;
	size_t sum;

	ENTER_DEVICE(nvmlDeviceGetViolationStatus, device,
		     violTime &&
			 (unsigned)perfPolicyType < NVML_PERF_POLICY_COUNT);
	sum = sum_of(perfPolicyType);
	if (!sum)
		return NVML_ERROR_NOT_SUPPORTED;
	gkf_state_now(c.machine, c.index, &state);
	memcpy(&ns, (const char *)&state + sum, sizeof(ns));
	violTime->referenceTime = front_wall_us();
	violTime->violationTime = ns;
	return NVML_SUCCESS;
}

static int64_t perf_number(const struct call *c, enum gkf_value id)
{
	int64_t v = 0;

	read_device_value(c, id, &v);
	return v;
}

/* PCIe traffic in both directions, in percent of the link's capacity. */
static unsigned bus_percent(const struct call *c)
{
	/* KB/s per lane: 250 MB/s in generation 1, doubled in each later one.
	 */
	int64_t lane = 250000LL << ((perf_number(c, GKF_V_PCIE_GEN) - 1) & 7);
	int64_t both = 2 * lane * perf_number(c, GKF_V_PCIE_WIDTH);
	int64_t now =
	    perf_number(c, GKF_V_PCIE_TX) + perf_number(c, GKF_V_PCIE_RX);

	return now >= both ? 100 : (unsigned)(now * 100 / both);
}

static unsigned video_percent(const struct call *c)
{
	int64_t enc = perf_number(c, GKF_V_ENC_UTIL),
		dec = perf_number(c, GKF_V_DEC_UTIL);

	return (unsigned)(enc > dec ? enc : dec);
}

nvmlReturn_t nvmlDeviceGetDynamicPstatesInfo(
    nvmlDevice_t device, nvmlGpuDynamicPstatesInfo_t *pDynamicPstatesInfo)
{
	unsigned percent[NVML_MAX_GPU_UTILIZATIONS] = {0};

	ENTER_DEVICE(nvmlDeviceGetDynamicPstatesInfo, device,
		     pDynamicPstatesInfo != NULL);
	percent[NVML_GPU_UTILIZATION_DOMAIN_GPU] =
	    (unsigned)perf_number(&c, GKF_V_GPU_UTIL);
	percent[NVML_GPU_UTILIZATION_DOMAIN_FB] =
	    (unsigned)perf_number(&c, GKF_V_MEM_UTIL);
	percent[NVML_GPU_UTILIZATION_DOMAIN_VID] = video_percent(&c);
	percent[NVML_GPU_UTILIZATION_DOMAIN_BUS] = bus_percent(&c);
	memset(pDynamicPstatesInfo, 0, sizeof(*pDynamicPstatesInfo));
	for (int i = 0; i <= NVML_GPU_UTILIZATION_DOMAIN_BUS; i++) {
		pDynamicPstatesInfo->utilization[i].bIsPresent = 1;
		pDynamicPstatesInfo->utilization[i].percentage = percent[i];
	}
	return NVML_SUCCESS;
}

/* Ampere and newer GPUs support this; only root may call it. A clock domain is
 * reported as a mask with one bit set. */
nvmlReturn_t nvmlDeviceGetClkMonStatus(nvmlDevice_t device,
				       nvmlClkMonStatus_t *status)
{
	int64_t faults;

	ENTER_DEVICE(nvmlDeviceGetClkMonStatus, device, status != NULL);
	if (!read_device_value(&c, GKF_V_CLOCK_FAULTS, &faults))
		return NVML_ERROR_NOT_SUPPORTED;
	if (!front_may_change(&c))
		return NVML_ERROR_NO_PERMISSION;
	memset(status, 0, sizeof(*status));
	status->bGlobalStatus = faults != 0;
	for (int bit = 0; bit < MAX_CLK_DOMAINS; bit++) {
		if (!(faults >> bit & 1))
			continue;
		status->clkMonList[status->clkMonListSize++] =
		    (nvmlClkMonFaultInfo_t){.clkApiDomain = 1U << bit,
					    .clkDomainFaultMask = 1};
	}
	return NVML_SUCCESS;
}
