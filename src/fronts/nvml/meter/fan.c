/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fan.c - reads and sets fans. All fans of a board have the same speed, and
 * setting one sets all.
 */
#include "fronts/nvml/permission.h"
#include "fronts/nvml/value.h"
#include "machine/file/board.h"
#include "machine/file/numbers.h"
#include "machine/file/value.h"
#include "machine/model/model.h"

static bool is_fan(const struct call *c, unsigned fan)
{
	return fan < (uint64_t)c->board->profile.fans;
}

/* Reads a value that is the same for all fans. */
static nvmlReturn_t fan_value(const struct call *c, unsigned fan,
			      enum gkf_value id, unsigned *ret_number)
{
	int64_t v;

	if (!read_device_value(c, id, &v))
		return NVML_ERROR_NOT_SUPPORTED;
	if (!is_fan(c, fan))
		return NVML_ERROR_INVALID_ARGUMENT;
	*ret_number = (unsigned)v;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetFanSpeed_v2(nvmlDevice_t device, unsigned int fan,
				      unsigned int *speed)
{
	ENTER_DEVICE(nvmlDeviceGetFanSpeed_v2, device, speed != NULL);
	return fan_value(&c, fan, GKF_V_FAN, speed);
}

nvmlReturn_t nvmlDeviceGetTargetFanSpeed(nvmlDevice_t device, unsigned int fan,
					 unsigned int *targetSpeed)
{
	ENTER_DEVICE(nvmlDeviceGetTargetFanSpeed, device, targetSpeed != NULL);
	return fan_value(&c, fan, GKF_V_FAN_TARGET, targetSpeed);
}

nvmlReturn_t nvmlDeviceGetFanSpeedRPM(nvmlDevice_t device,
				      nvmlFanSpeedInfo_t *fanSpeed)
{
	ENTER_DEVICE(nvmlDeviceGetFanSpeedRPM, device, fanSpeed != NULL);
	if (!TAKES(fanSpeed->version, nvmlFanSpeedInfo_v1))
		return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
	return fan_value(&c, fanSpeed->fan, GKF_V_FAN_RPM, &fanSpeed->speed);
}

nvmlReturn_t nvmlDeviceGetMinMaxFanSpeed(nvmlDevice_t device,
					 unsigned int *minSpeed,
					 unsigned int *maxSpeed)
{
	ENTER_DEVICE(nvmlDeviceGetMinMaxFanSpeed, device, minSpeed && maxSpeed);
	if (!c.board->profile.fans)
		return NVML_ERROR_NOT_SUPPORTED;
	*minSpeed = (unsigned)c.board->profile.fan_min_percent;
	*maxSpeed = 100;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetCoolerInfo(nvmlDevice_t device,
				     nvmlCoolerInfo_t *coolerInfo)
{
	ENTER_DEVICE(nvmlDeviceGetCoolerInfo, device, coolerInfo != NULL);
	if (!TAKES(coolerInfo->version, nvmlCoolerInfo_v1))
		return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
	if (!c.board->profile.fans)
		return NVML_ERROR_NOT_SUPPORTED;
	if (!is_fan(&c, coolerInfo->index))
		return NVML_ERROR_INVALID_ARGUMENT;
	coolerInfo->signalType = NVML_THERMAL_COOLER_SIGNAL_VARIABLE;
	coolerInfo->target = NVML_THERMAL_COOLER_TARGET_GPU_RELATED;
	return NVML_SUCCESS;
}

/* ---- control ---- */

/* The policy is manual while a speed is set. */
static bool is_manual(const struct call *c)
{
	return gkf_value_is_asked(c->machine, c->index, GKF_V_FAN_TARGET);
}

nvmlReturn_t nvmlDeviceGetFanControlPolicy_v2(nvmlDevice_t device,
					      unsigned int fan,
					      nvmlFanControlPolicy_t *policy)
{
	ENTER_DEVICE(nvmlDeviceGetFanControlPolicy_v2, device, policy != NULL);
	if (!c.board->profile.fans)
		return NVML_ERROR_NOT_SUPPORTED;
	if (!is_fan(&c, fan))
		return NVML_ERROR_INVALID_ARGUMENT;
	*policy = is_manual(&c) ? NVML_FAN_POLICY_MANUAL
				: NVML_FAN_POLICY_TEMPERATURE_CONTINOUS_SW;
	return NVML_SUCCESS;
}

static nvmlReturn_t turn_fan(const struct call *c, unsigned fan,
			     int64_t percent)
{
	if (!c->board->profile.fans)
		return NVML_ERROR_NOT_SUPPORTED;
	if (!is_fan(c, fan))
		return NVML_ERROR_INVALID_ARGUMENT;
	return front_set(c, GKF_V_FAN_TARGET, percent);
}

/* Manual control begins with the current speed. */
nvmlReturn_t nvmlDeviceSetFanControlPolicy(nvmlDevice_t device,
					   unsigned int fan,
					   nvmlFanControlPolicy_t policy)
{
	int64_t now = 0;

	ENTER_DEVICE(nvmlDeviceSetFanControlPolicy, device,
		     policy <= NVML_FAN_POLICY_MANUAL);
	read_device_value(&c, GKF_V_FAN, &now);
	if (policy == NVML_FAN_POLICY_MANUAL && is_manual(&c))
		read_device_value(&c, GKF_V_FAN_TARGET, &now);
	return turn_fan(&c, fan,
			policy == NVML_FAN_POLICY_MANUAL ? now : GKF_UNSET);
}

nvmlReturn_t nvmlDeviceSetFanSpeed_v2(nvmlDevice_t device, unsigned int fan,
				      unsigned int speed)
{
	ENTER_DEVICE(nvmlDeviceSetFanSpeed_v2, device, true);
	if (c.board->profile.fans &&
	    (speed < (uint64_t)c.board->profile.fan_min_percent || speed > 100))
		return NVML_ERROR_INVALID_ARGUMENT;
	return turn_fan(&c, fan, speed);
}

nvmlReturn_t nvmlDeviceSetDefaultFanSpeed_v2(nvmlDevice_t device,
					     unsigned int fan)
{
	ENTER_DEVICE(nvmlDeviceSetDefaultFanSpeed_v2, device, true);
	return turn_fan(&c, fan, GKF_UNSET);
}
