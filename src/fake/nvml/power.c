/*
 * power.c - power limits, in milliwatts.
 */
#include "fake/controls.h"
#include "fake/nvml/permission.h"

/* The limit asked for, or a lower one that a power profile brings. */
nvmlReturn_t nvmlDeviceGetEnforcedPowerLimit(nvmlDevice_t device,
					     unsigned int *limit)
{
	const struct gkf_profile *p;
	int64_t v, profiles = 0;

	ENTER_DEVICE(nvmlDeviceGetEnforcedPowerLimit, device, limit != NULL);
	if (!value(&c, GKF_V_POWER_LIMIT, &v))
		return NVML_ERROR_NOT_SUPPORTED;
	p = &c.board->profile;
	if (v > p->power_max_mw)
		v = p->power_max_mw;
	value(&c, GKF_V_POWER_PROFILES, &profiles);
	*limit = (unsigned)gkf_power_limit_in_force(p, v, (uint32_t)profiles);
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

nvmlReturn_t nvmlDeviceSetPowerManagementLimit(nvmlDevice_t device,
					       unsigned int limit)
{
	ENTER_DEVICE(nvmlDeviceSetPowerManagementLimit, device, true);
	return front_set(&c, GKF_V_POWER_LIMIT, limit);
}

/* No board here has a limit for its module or its memory alone. */
nvmlReturn_t
nvmlDeviceSetPowerManagementLimit_v2(nvmlDevice_t device,
				     nvmlPowerValue_v2_t *powerValue)
{
	ENTER_DEVICE(nvmlDeviceSetPowerManagementLimit_v2, device,
		     powerValue != NULL);
	if (!TAKES(powerValue->version, nvmlPowerValue_v2))
		return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
	if (powerValue->powerScope >= NVML_POWER_SCOPE_COUNT)
		return NVML_ERROR_INVALID_ARGUMENT;
	if (powerValue->powerScope != NVML_POWER_SCOPE_GPU)
		return NVML_ERROR_NOT_SUPPORTED;
	return front_set(&c, GKF_V_POWER_LIMIT, powerValue->powerValueMw);
}
