/*
 * clock.c - clocks of now and the highest ones, in MHz.
 */
#include "fronts/nvml/clock.h"
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

	if (!read_device_value(c, now[type], &v))
		return NVML_ERROR_NOT_SUPPORTED;
	*ret_mhz = (unsigned)v;
	return NVML_SUCCESS;
}

nvmlReturn_t clock_highest(const struct call *c, nvmlClockType_t type,
			   unsigned *ret_mhz)
{
	int64_t mhz;

	memcpy(&mhz, (const char *)&c->board->profile + highest[type],
	       sizeof(mhz));
	*ret_mhz = (unsigned)mhz;
	return NVML_SUCCESS;
}

/* Boards for servers tell it, of the graphics clock only. */
static nvmlReturn_t clock_boost(const struct call *c, nvmlClockType_t type,
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

nvmlReturn_t nvmlDeviceGetClock(nvmlDevice_t device, nvmlClockType_t clockType,
				nvmlClockId_t clockId, unsigned int *clockMHz)
{
	ENTER_DEVICE(nvmlDeviceGetClock, device,
		     clockMHz && is_clock(clockType) &&
			 (unsigned)clockId < NVML_CLOCK_ID_COUNT);
	switch (clockId) {
	case NVML_CLOCK_ID_CURRENT:
		return clock_now(&c, clockType, clockMHz);
	case NVML_CLOCK_ID_APP_CLOCK_TARGET:
		return clock_app(&c, clockType, clockMHz);
	case NVML_CLOCK_ID_APP_CLOCK_DEFAULT:
		return clock_app_default(&c, clockType, clockMHz);
	case NVML_CLOCK_ID_CUSTOMER_BOOST_MAX:
		return clock_boost(&c, clockType, clockMHz);
	case NVML_CLOCK_ID_COUNT:
	default:
		return NVML_ERROR_INVALID_ARGUMENT;
	}
}
