/* SPDX-License-Identifier: Apache-2.0 */
/*
 * modes.c - reads and sets the modes of a device: persistence, compute mode,
 * API restrictions, DRAM encryption, PowerMizer.
 */
#include "fronts/nvml/permission.h"
#include "fronts/nvml/value.h"
#include "machine/file/value.h"

static bool is_switch(nvmlEnableState_t state)
{
	return (unsigned)state <= NVML_FEATURE_ENABLED;
}

nvmlReturn_t nvmlDeviceSetPersistenceMode(nvmlDevice_t device,
					  nvmlEnableState_t mode)
{
	ENTER_DEVICE(nvmlDeviceSetPersistenceMode, device, is_switch(mode));
	return front_set(&c, GKF_V_PERSISTENCE, mode);
}

/* EXCLUSIVE_THREAD is deprecated and treated as EXCLUSIVE_PROCESS. */
nvmlReturn_t nvmlDeviceSetComputeMode(nvmlDevice_t device,
				      nvmlComputeMode_t mode)
{
	ENTER_DEVICE(nvmlDeviceSetComputeMode, device,
		     (unsigned)mode < NVML_COMPUTEMODE_COUNT);
	if (mode == NVML_COMPUTEMODE_EXCLUSIVE_THREAD)
		mode = NVML_COMPUTEMODE_EXCLUSIVE_PROCESS;
	return front_set(&c, GKF_V_COMPUTE_MODE, mode);
}

/* Boards since Pascal have no auto boost whose use could be restricted. */
nvmlReturn_t nvmlDeviceGetAPIRestriction(nvmlDevice_t device,
					 nvmlRestrictedAPI_t apiType,
					 nvmlEnableState_t *isRestricted)
{
	int64_t open;

	ENTER_DEVICE(nvmlDeviceGetAPIRestriction, device,
		     isRestricted &&
			 (unsigned)apiType < NVML_RESTRICTED_API_COUNT);
	if (apiType != NVML_RESTRICTED_API_SET_APPLICATION_CLOCKS ||
	    !read_device_value(&c, GKF_V_OPEN_APP_CLOCKS, &open))
		return NVML_ERROR_NOT_SUPPORTED;
	*isRestricted = open ? NVML_FEATURE_DISABLED : NVML_FEATURE_ENABLED;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceSetAPIRestriction(nvmlDevice_t device,
					 nvmlRestrictedAPI_t apiType,
					 nvmlEnableState_t isRestricted)
{
	ENTER_DEVICE(nvmlDeviceSetAPIRestriction, device,
		     is_switch(isRestricted) &&
			 (unsigned)apiType < NVML_RESTRICTED_API_COUNT);
	if (apiType != NVML_RESTRICTED_API_SET_APPLICATION_CLOCKS)
		return NVML_ERROR_NOT_SUPPORTED;
	return front_set(&c, GKF_V_OPEN_APP_CLOCKS,
			 isRestricted == NVML_FEATURE_DISABLED);
}

/*
 * Blackwell cards support DRAM encryption, as a listing of an RTX 5090 shows; a
 * listing of a GB200 shows N/A. A change takes effect at a reset.
 */
nvmlReturn_t nvmlDeviceGetDramEncryptionMode(nvmlDevice_t device,
					     nvmlDramEncryptionInfo_t *current,
					     nvmlDramEncryptionInfo_t *pending)
{
	int64_t now, then;

	ENTER_DEVICE(nvmlDeviceGetDramEncryptionMode, device,
		     current && pending);
	if (!TAKES(current->version, nvmlDramEncryptionInfo_v1) ||
	    !TAKES(pending->version, nvmlDramEncryptionInfo_v1))
		return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
	if (!read_device_value(&c, GKF_V_DRAM_ENCRYPTION, &now) ||
	    !read_device_value(&c, GKF_V_DRAM_ENCRYPTION_PENDING, &then))
		return NVML_ERROR_NOT_SUPPORTED;
	current->encryptionState = (nvmlEnableState_t)now;
	pending->encryptionState = (nvmlEnableState_t)then;
	return NVML_SUCCESS;
}

nvmlReturn_t
nvmlDeviceSetDramEncryptionMode(nvmlDevice_t device,
				const nvmlDramEncryptionInfo_t *dramEncryption)
{
	ENTER_DEVICE(nvmlDeviceSetDramEncryptionMode, device,
		     dramEncryption != NULL);
	if (!TAKES(dramEncryption->version, nvmlDramEncryptionInfo_v1))
		return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
	if (!is_switch(dramEncryption->encryptionState))
		return NVML_ERROR_INVALID_ARGUMENT;
	return front_set(&c, GKF_V_DRAM_ENCRYPTION_PENDING,
			 dramEncryption->encryptionState);
}

/* Driver models exist only on Windows. */
nvmlReturn_t nvmlDeviceSetDriverModel(nvmlDevice_t device,
				      nvmlDriverModel_t driverModel,
				      unsigned int flags)
{
	(void)driverModel, (void)flags;
	ENTER_DEVICE(nvmlDeviceSetDriverModel, device, true);
	return NVML_ERROR_NOT_SUPPORTED;
}

#define MIZER_MODES                                                            \
	(1U << NVML_POWER_MIZER_MODE_ADAPTIVE |                                \
	 1U << NVML_POWER_MIZER_MODE_PREFER_MAXIMUM_PERFORMANCE |              \
	 1U << NVML_POWER_MIZER_MODE_AUTO)

nvmlReturn_t
nvmlDeviceGetPowerMizerMode_v1(nvmlDevice_t device,
			       nvmlDevicePowerMizerModes_v1_t *powerMizerMode)
{
	int64_t mode;

	ENTER_DEVICE(nvmlDeviceGetPowerMizerMode_v1, device,
		     powerMizerMode != NULL);
	if (!read_device_value(&c, GKF_V_POWER_MIZER, &mode))
		return NVML_ERROR_NOT_SUPPORTED;
	powerMizerMode->currentMode = (unsigned)mode;
	powerMizerMode->supportedPowerMizerModes = MIZER_MODES;
	return NVML_SUCCESS;
}

nvmlReturn_t
nvmlDeviceSetPowerMizerMode_v1(nvmlDevice_t device,
			       nvmlDevicePowerMizerModes_v1_t *powerMizerMode)
{
	ENTER_DEVICE(nvmlDeviceSetPowerMizerMode_v1, device,
		     powerMizerMode != NULL);
	if (powerMizerMode->mode > NVML_POWER_MIZER_MODE_AUTO)
		return NVML_ERROR_INVALID_ARGUMENT;
	return front_set(&c, GKF_V_POWER_MIZER, powerMizerMode->mode);
}
