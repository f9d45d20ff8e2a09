/* SPDX-License-Identifier: Apache-2.0 */
/*
 * power.c - reads power, and reads and sets its limits, in milliwatts.
 */
#include "fronts/nvml/meter/power.h"
#include "fronts/nvml/permission.h"
#include "fronts/nvml/value.h"
#include "machine/file/board.h"
#include "machine/file/profile.h"
#include "machine/file/value.h"
#include "machine/model/controls.h"

/* The mean over the last second if the board reports one, otherwise the current
 * power. */
nvmlReturn_t nvmlDeviceGetPowerUsage(nvmlDevice_t device, unsigned int *power)
{
	int64_t mw;

	ENTER_DEVICE(nvmlDeviceGetPowerUsage, device, power != NULL);
	if (!read_device_value(&c,
			       power_has_average(&c.board->profile)
				   ? GKF_V_POWER_AVERAGE
				   : GKF_V_POWER,
			       &mw))
		return NVML_ERROR_NOT_SUPPORTED;
	*power = (unsigned)mw;
	return NVML_SUCCESS;
}

nvmlReturn_t power_limit_in_force(const struct call *c, uint64_t *ret_mw)
{
	const struct gkf_profile *p = &c->board->profile;
	int64_t mw, profiles = 0;

	if (!read_device_value(c, GKF_V_POWER_LIMIT, &mw))
		return NVML_ERROR_NOT_SUPPORTED;
	if (p->power_max_mw && mw > p->power_max_mw)
		mw = p->power_max_mw;
	read_device_value(c, GKF_V_POWER_PROFILES, &profiles);
	*ret_mw = (uint64_t)gkf_power_limit_in_force(p, mw, (uint32_t)profiles);
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetEnforcedPowerLimit(nvmlDevice_t device,
					     unsigned int *limit)
{
	uint64_t mw;
	nvmlReturn_t r;

	ENTER_DEVICE(nvmlDeviceGetEnforcedPowerLimit, device, limit != NULL);
	r = power_limit_in_force(&c, &mw);
	if (!r)
		*limit = (unsigned)mw;
	return r;
}

nvmlReturn_t nvmlDeviceGetPowerManagementLimitConstraints(
    nvmlDevice_t device, unsigned int *minLimit, unsigned int *maxLimit)
{
	ENTER_DEVICE(nvmlDeviceGetPowerManagementLimitConstraints, device,
		     minLimit && maxLimit);
	if (!c.board->profile.power_min_mw || !c.board->profile.power_max_mw)
		return NVML_ERROR_NOT_SUPPORTED;
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

/* No simulated board has separate limits for its module or its memory. */
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
