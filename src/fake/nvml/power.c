/*
 * power.c - power limits that are more than one number, in milliwatts.
 */
#include "fake/nvml/front.h"

/* The limit asked for, as far as the board can go. */
nvmlReturn_t nvmlDeviceGetEnforcedPowerLimit(nvmlDevice_t device,
					     unsigned int *limit)
{
	int64_t v;

	ENTER_DEVICE(nvmlDeviceGetEnforcedPowerLimit, device, limit != NULL);
	if (!value(&c, GKF_V_POWER_LIMIT, &v))
		return NVML_ERROR_NOT_SUPPORTED;
	if (v > c.board->profile.power_max_mw)
		v = c.board->profile.power_max_mw;
	*limit = (unsigned)v;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetPowerManagementLimitConstraints(
    nvmlDevice_t device, unsigned int *minLimit, unsigned int *maxLimit)
{
	ENTER_DEVICE(nvmlDeviceGetPowerManagementLimitConstraints, device,
		     minLimit && maxLimit);
	*minLimit = (unsigned)c.board->profile.power_min_mw;
	*maxLimit = (unsigned)c.board->profile.power_max_mw;
	return NVML_SUCCESS;
}
