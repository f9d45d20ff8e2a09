/* SPDX-License-Identifier: Apache-2.0 */
/*
 * power_profile.c - reads and sets workload power profiles and power smoothing,
 * which Blackwell and newer GPUs have.
 */
#include "fronts/nvml/permission.h"
#include "fronts/nvml/value.h"
#include "machine/file/value.h"
#include "machine/model/controls.h"
#include "machine/model/smoothing.h"

#include <string.h>

#define SUPPORTED ((1U << GKF_POWER_PROFILES) - 1)

static nvmlMask255_t mask_of(uint32_t bits)
{
	return (nvmlMask255_t){.mask = {bits}};
}

/* The profiles in a mask; false if one of them does not exist. */
static bool bits_of(const nvmlMask255_t *mask, uint32_t *ret_bits)
{
	for (size_t i = 1; i < sizeof(mask->mask) / sizeof(*mask->mask); i++)
		if (mask->mask[i])
			return false;
	*ret_bits = mask->mask[0];
	return !(mask->mask[0] & ~SUPPORTED);
}

nvmlReturn_t nvmlDeviceWorkloadPowerProfileGetProfilesInfo(
    nvmlDevice_t device, nvmlWorkloadPowerProfileProfilesInfo_t *profilesInfo)
{
	int64_t requested;

	ENTER_DEVICE(nvmlDeviceWorkloadPowerProfileGetProfilesInfo, device,
		     profilesInfo != NULL);
	if (!TAKES(profilesInfo->version,
		   nvmlWorkloadPowerProfileProfilesInfo_v1))
		return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
	if (!read_device_value(&c, GKF_V_POWER_PROFILES, &requested))
		return NVML_ERROR_NOT_SUPPORTED;
	profilesInfo->perfProfilesMask = mask_of(SUPPORTED);
	for (unsigned i = 0; i < GKF_POWER_PROFILES; i++)
		profilesInfo->perfProfile[i] = (nvmlWorkloadPowerProfileInfo_t){
		    .version = nvmlWorkloadPowerProfileInfo_v1,
		    .profileId = i,
		    .priority = gkf_power_profiles[i].priority,
		    .conflictingMask = mask_of(gkf_power_profiles[i].conflicts),
		};
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceWorkloadPowerProfileGetCurrentProfiles(
    nvmlDevice_t device,
    nvmlWorkloadPowerProfileCurrentProfiles_t *currentProfiles)
{
	int64_t requested;

	ENTER_DEVICE(nvmlDeviceWorkloadPowerProfileGetCurrentProfiles, device,
		     currentProfiles != NULL);
	if (!TAKES(currentProfiles->version,
		   nvmlWorkloadPowerProfileCurrentProfiles_v1))
		return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
	if (!read_device_value(&c, GKF_V_POWER_PROFILES, &requested))
		return NVML_ERROR_NOT_SUPPORTED;
	currentProfiles->perfProfilesMask = mask_of(SUPPORTED);
	currentProfiles->requestedProfilesMask = mask_of((uint32_t)requested);
	currentProfiles->enforcedProfilesMask =
	    mask_of(gkf_power_profiles_enforced((uint32_t)requested));
	return NVML_SUCCESS;
}

static nvmlReturn_t update_profile_mask(const struct call *c,
					const nvmlMask255_t *mask,
					nvmlPowerProfileOperation_t operation)
{
	int64_t now;
	uint32_t bits, to;

	if (!read_device_value(c, GKF_V_POWER_PROFILES, &now))
		return NVML_ERROR_NOT_SUPPORTED;
	if (!bits_of(mask, &bits))
		return NVML_ERROR_INVALID_ARGUMENT;
	to = (uint32_t)now;
	switch (operation) {
	case NVML_POWER_PROFILE_OPERATION_CLEAR:
		to &= ~bits;
		break;
	case NVML_POWER_PROFILE_OPERATION_SET:
		to |= bits;
		break;
	case NVML_POWER_PROFILE_OPERATION_SET_AND_OVERWRITE:
		to = bits;
		break;
	case NVML_POWER_PROFILE_OPERATION_MAX:
	default:
		return NVML_ERROR_INVALID_ARGUMENT;
	}
	return front_set(c, GKF_V_POWER_PROFILES, to);
}

/* Sets or clears the profiles in a mask, for the two older functions. */
static nvmlReturn_t
update_requested(const struct call *c,
		 const nvmlWorkloadPowerProfileRequestedProfiles_t *requested,
		 nvmlPowerProfileOperation_t operation)
{
	if (!TAKES(requested->version,
		   nvmlWorkloadPowerProfileRequestedProfiles_v1))
		return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
	return update_profile_mask(c, &requested->requestedProfilesMask,
				   operation);
}

nvmlReturn_t nvmlDeviceWorkloadPowerProfileSetRequestedProfiles(
    nvmlDevice_t device,
    nvmlWorkloadPowerProfileRequestedProfiles_t *requestedProfiles)
{
	ENTER_DEVICE(nvmlDeviceWorkloadPowerProfileSetRequestedProfiles, device,
		     requestedProfiles != NULL);
	return update_requested(&c, requestedProfiles,
				NVML_POWER_PROFILE_OPERATION_SET);
}

nvmlReturn_t nvmlDeviceWorkloadPowerProfileClearRequestedProfiles(
    nvmlDevice_t device,
    nvmlWorkloadPowerProfileRequestedProfiles_t *requestedProfiles)
{
	ENTER_DEVICE(nvmlDeviceWorkloadPowerProfileClearRequestedProfiles,
		     device, requestedProfiles != NULL);
	return update_requested(&c, requestedProfiles,
				NVML_POWER_PROFILE_OPERATION_CLEAR);
}

nvmlReturn_t nvmlDeviceWorkloadPowerProfileUpdateProfiles_v1(
    nvmlDevice_t device,
    nvmlWorkloadPowerProfileUpdateProfiles_v1_t *updateProfiles)
{
	ENTER_DEVICE(nvmlDeviceWorkloadPowerProfileUpdateProfiles_v1, device,
		     updateProfiles != NULL);
	return update_profile_mask(&c, &updateProfiles->updateProfilesMask,
				   updateProfiles->operation);
}

/* ---- power smoothing ---- */

nvmlReturn_t nvmlDevicePowerSmoothingSetState(nvmlDevice_t device,
					      nvmlPowerSmoothingState_t *state)
{
	ENTER_DEVICE(nvmlDevicePowerSmoothingSetState, device, state != NULL);
	if (!TAKES(state->version, nvmlPowerSmoothingState_v1))
		return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
	if ((unsigned)state->state > NVML_FEATURE_ENABLED)
		return NVML_ERROR_INVALID_ARGUMENT;
	return front_set(&c, GKF_V_POWER_SMOOTHING, state->state);
}

nvmlReturn_t nvmlDevicePowerSmoothingActivatePresetProfile(
    nvmlDevice_t device, nvmlPowerSmoothingProfile_t *profile)
{
	ENTER_DEVICE(nvmlDevicePowerSmoothingActivatePresetProfile, device,
		     profile != NULL);
	if (!TAKES(profile->version, nvmlPowerSmoothingProfile_v1))
		return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
	return front_set(&c, GKF_V_SMOOTHING_PROFILE, profile->profileId);
}

nvmlReturn_t nvmlDevicePowerSmoothingUpdatePresetProfileParam(
    nvmlDevice_t device, nvmlPowerSmoothingProfile_t *profile)
{
	int64_t on;

	ENTER_DEVICE(nvmlDevicePowerSmoothingUpdatePresetProfileParam, device,
		     profile != NULL);
	if (!TAKES(profile->version, nvmlPowerSmoothingProfile_v1))
		return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
	if (!read_device_value(&c, GKF_V_POWER_SMOOTHING, &on))
		return NVML_ERROR_NOT_SUPPORTED;
	/* Excludes NaN, and values too large to be stored in thousandths. */
	if (!(profile->value >= 0 && profile->value < 1e12))
		return NVML_ERROR_INVALID_ARGUMENT;
	if (!front_may_change(&c))
		return NVML_ERROR_NO_PERMISSION;
	return front_error(gkf_smoothing_set(
	    c.machine, c.index, profile->profileId, profile->paramId,
	    (int64_t)(profile->value * 1000 + 0.5)));
}
