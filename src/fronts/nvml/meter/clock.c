/* SPDX-License-Identifier: Apache-2.0 */
/* clock.c - reads the current, highest and boost clocks, in MHz. */
#include "fronts/nvml/meter/clock.h"
#include "fronts/nvml/value.h"
#include "machine/file/board.h"
#include "machine/file/profile.h"
#include "machine/file/value.h"

#include <string.h>

static const enum gkf_value now[NVML_CLOCK_COUNT] = {
    [NVML_CLOCK_GRAPHICS] = GKF_V_SM_CLOCK,
    [NVML_CLOCK_SM] = GKF_V_SM_CLOCK,
    [NVML_CLOCK_MEM] = GKF_V_MEM_CLOCK,
    [NVML_CLOCK_VIDEO] = GKF_V_VIDEO_CLOCK,
};

static const size_t highest[NVML_CLOCK_COUNT] = {
    [NVML_CLOCK_GRAPHICS] = offsetof(struct gkf_profile, sm_clock_max_mhz),
    [NVML_CLOCK_SM] = offsetof(struct gkf_profile, sm_clock_max_mhz),
    [NVML_CLOCK_MEM] = offsetof(struct gkf_profile, mem_clock_max_mhz),
    [NVML_CLOCK_VIDEO] = offsetof(struct gkf_profile, video_clock_max_mhz),
};

static bool is_clock(nvmlClockType_t type)
{
	return (unsigned)type < NVML_CLOCK_COUNT;
}

nvmlReturn_t clock_now(const struct call *c, nvmlClockType_t type,
		       unsigned *ret_mhz)
{
	int64_t v;

	GK_ASSERT(is_clock(type));
	if (!read_device_value(c, now[type], &v))
		return NVML_ERROR_NOT_SUPPORTED;
	*ret_mhz = (unsigned)v;
	return NVML_SUCCESS;
}

nvmlReturn_t clock_highest(const struct call *c, nvmlClockType_t type,
			   unsigned *ret_mhz)
{
	int64_t mhz;

	GK_ASSERT(is_clock(type));
	if (type == NVML_CLOCK_MEM && !c->board->profile.own_memory)
		return NVML_ERROR_NOT_SUPPORTED;
	memcpy(&mhz, (const char *)&c->board->profile + highest[type],
	       sizeof(mhz));
	*ret_mhz = (unsigned)mhz;
	return NVML_SUCCESS;
}

nvmlReturn_t clock_boost(const struct call *c, nvmlClockType_t type,
			 unsigned *ret_mhz)
{
	const char *brand = c->board->profile.brand;

	if (now[type] != GKF_V_SM_CLOCK ||
	    (strcmp(brand, "NVIDIA") != 0 && strcmp(brand, "TESLA") != 0))
		return NVML_ERROR_NOT_SUPPORTED;
	return clock_highest(c, type, ret_mhz);
}

nvmlReturn_t nvmlDeviceGetClockInfo(nvmlDevice_t device, nvmlClockType_t type,
				    unsigned int *clock)
{
	ENTER_DEVICE(nvmlDeviceGetClockInfo, device, clock && is_clock(type));
	return clock_now(&c, type, clock);
}

nvmlReturn_t nvmlDeviceGetMaxClockInfo(nvmlDevice_t device,
				       nvmlClockType_t type,
				       unsigned int *clock)
{
	ENTER_DEVICE(nvmlDeviceGetMaxClockInfo, device,
		     clock && is_clock(type));
	return clock_highest(&c, type, clock);
}

nvmlReturn_t nvmlDeviceGetMaxCustomerBoostClock(nvmlDevice_t device,
						nvmlClockType_t clockType,
						unsigned int *clockMHz)
{
	ENTER_DEVICE(nvmlDeviceGetMaxCustomerBoostClock, device,
		     clockMHz && is_clock(clockType));
	return clock_boost(&c, clockType, clockMHz);
}
