/* SPDX-License-Identifier: Apache-2.0 */
/* set_call.c - calls the functions of NVML that read and change settings. */
#include "base/array.h"
#include "cli/smi/set.h"

#include <stdio.h>

#define GETTER(name)                                                           \
	nvmlReturn_t smi_get_##name(const struct smi_gpus *gpus,               \
				    const struct smi_gpu *gpu,                 \
				    unsigned *ret_value)
#define SETTER_CALL(name)                                                      \
	nvmlReturn_t smi_##name(                                               \
	    __attribute__((unused)) const struct smi_gpus *gpus,               \
	    __attribute__((unused)) const struct smi_gpu *gpu,                 \
	    __attribute__((unused)) struct smi_setting *s)

/* ---- modes ---- */

GETTER(persistence)
{
	return SMI_NVML(gpus, nvmlDeviceGetPersistenceMode, gpu->handle,
			ret_value);
}

SETTER_CALL(set_persistence)
{
	return SMI_NVML(gpus, nvmlDeviceSetPersistenceMode, gpu->handle, s->a);
}

/* Reads the pending mode, which a reset puts into effect. */
GETTER(ecc)
{
	nvmlEnableState_t now;

	return SMI_NVML(gpus, nvmlDeviceGetEccMode, gpu->handle, &now,
			ret_value);
}

SETTER_CALL(set_ecc)
{
	return SMI_NVML(gpus, nvmlDeviceSetEccMode, gpu->handle, s->a);
}

SETTER_CALL(reset_ecc)
{
	return SMI_NVML(gpus, nvmlDeviceClearEccErrorCounts, gpu->handle, s->a);
}

GETTER(compute_mode)
{
	return SMI_NVML(gpus, nvmlDeviceGetComputeMode, gpu->handle, ret_value);
}

SETTER_CALL(set_compute_mode)
{
	return SMI_NVML(gpus, nvmlDeviceSetComputeMode, gpu->handle, s->a);
}

SETTER_CALL(set_gom)
{
	return SMI_NVML(gpus, nvmlDeviceSetGpuOperationMode, gpu->handle, s->a);
}

SETTER_CALL(set_virt)
{
	return SMI_NVML(gpus, nvmlDeviceSetVirtualizationMode, gpu->handle,
			s->a);
}

GETTER(accounting)
{
	return SMI_NVML(gpus, nvmlDeviceGetAccountingMode, gpu->handle,
			ret_value);
}

SETTER_CALL(set_accounting)
{
	return SMI_NVML(gpus, nvmlDeviceSetAccountingMode, gpu->handle, s->a);
}

SETTER_CALL(clear_accounts)
{
	return SMI_NVML(gpus, nvmlDeviceClearAccountingPids, gpu->handle);
}

SETTER_CALL(set_dram_encryption)
{
	nvmlDramEncryptionInfo_t info = {.version = nvmlDramEncryptionInfo_v1,
					 .encryptionState = s->a};

	return SMI_NVML(gpus, nvmlDeviceSetDramEncryptionMode, gpu->handle,
			&info);
}

SETTER_CALL(set_mig)
{
	return SMI_NVML(gpus, nvmlDeviceSetMigMode, gpu->handle, s->a,
			&s->pending);
}

SETTER_CALL(get_hostname)
{
	nvmlHostname_v1_t name;
	nvmlReturn_t r =
	    SMI_NVML(gpus, nvmlDeviceGetHostname_v1, gpu->handle, &name);

	if (!r)
		gk_str_clean(s->word[0], sizeof s->word[0], name.value,
			     strnlen(name.value, sizeof name.value));
	return r;
}

SETTER_CALL(set_hostname)
{
	nvmlHostname_v1_t name = {""};

	gk_str_copy(name.value, sizeof name.value, s->word[0]);
	return SMI_NVML(gpus, nvmlDeviceSetHostname_v1, gpu->handle, &name);
}

/* NVML has no function for this setting. */
SETTER_CALL(set_nothing)
{
	return NVML_ERROR_NOT_SUPPORTED;
}

/* ---- clocks ---- */

static bool is_symbol(unsigned mhz)
{
	return mhz == NVML_CLOCK_LIMIT_ID_TDP ||
	       mhz == NVML_CLOCK_LIMIT_ID_UNLIMITED;
}

/*
 * Whether a board has a clock of this type. Without it, NVML would report any
 * value as invalid instead of as not supported.
 */
static bool has_clock(const struct smi_gpus *gpus, const struct smi_gpu *gpu,
		      nvmlClockType_t type)
{
	unsigned max;

	return SMI_NVML(gpus, nvmlDeviceGetMaxClockInfo, gpu->handle, type,
			&max) != NVML_ERROR_NOT_SUPPORTED;
}

/* Limits a clock to the highest one that the board has. */
static void cut_clock(const struct smi_gpus *gpus, const struct smi_gpu *gpu,
		      nvmlClockType_t type, struct smi_setting *s)
{
	unsigned max;

	if (is_symbol(s->b) ||
	    SMI_NVML(gpus, nvmlDeviceGetMaxClockInfo, gpu->handle, type,
		     &max) ||
	    s->b <= max)
		return;
	s->b = max;
	snprintf(s->word[1], sizeof s->word[1], "%u", max);
}

/*
 * NVML's function has no argument for the mode, so only the ordinary mode is
 * supported.
 */
SETTER_CALL(set_gpu_clocks)
{
	if (s->mode)
		return NVML_ERROR_NOT_SUPPORTED;
	cut_clock(gpus, gpu, NVML_CLOCK_GRAPHICS, s);
	return SMI_NVML(gpus, nvmlDeviceSetGpuLockedClocks, gpu->handle, s->a,
			s->b);
}

SETTER_CALL(reset_gpu_clocks)
{
	return SMI_NVML(gpus, nvmlDeviceResetGpuLockedClocks, gpu->handle);
}

SETTER_CALL(set_memory_clocks)
{
	if (!has_clock(gpus, gpu, NVML_CLOCK_MEM))
		return NVML_ERROR_NOT_SUPPORTED;
	cut_clock(gpus, gpu, NVML_CLOCK_MEM, s);
	return SMI_NVML(gpus, nvmlDeviceSetMemoryLockedClocks, gpu->handle,
			s->a, s->b);
}

SETTER_CALL(reset_memory_clocks)
{
	return SMI_NVML(gpus, nvmlDeviceResetMemoryLockedClocks, gpu->handle);
}

SETTER_CALL(set_app_clocks)
{
	nvmlReturn_t r;

	if (!has_clock(gpus, gpu, NVML_CLOCK_MEM))
		return NVML_ERROR_NOT_SUPPORTED;
	r = SMI_NVML(gpus, nvmlDeviceSetApplicationsClocks, gpu->handle, s->a,
		     s->b);
	return r == NVML_ERROR_INVALID_ARGUMENT ? NVML_ERROR_FREQ_NOT_SUPPORTED
						: r;
}

SETTER_CALL(reset_app_clocks)
{
	return SMI_NVML(gpus, nvmlDeviceResetApplicationsClocks, gpu->handle);
}

SETTER_CALL(restrict_app_clocks)
{
	return SMI_NVML(gpus, nvmlDeviceSetAPIRestriction, gpu->handle,
			NVML_RESTRICTED_API_SET_APPLICATION_CLOCKS, s->a);
}

SETTER_CALL(set_boost)
{
	return SMI_NVML(gpus, nvmlDeviceSetDefaultAutoBoostedClocksEnabled,
			gpu->handle, s->a, 0);
}

SETTER_CALL(restrict_boost)
{
	return SMI_NVML(gpus, nvmlDeviceSetAPIRestriction, gpu->handle,
			NVML_RESTRICTED_API_SET_AUTO_BOOSTED_CLOCKS, s->a);
}

/* ---- limits ---- */

static void write_watts(char word[SMI_SET_WORD], unsigned mw)
{
	snprintf(word, SMI_SET_WORD, "%u.%02u", mw / 1000, mw % 1000 / 10);
}

/* Writes a limit of the GPU's module in watts, or "N/A". */
static void write_module_limit(const struct smi_gpus *gpus,
			       const struct smi_gpu *gpu, unsigned field,
			       char word[SMI_SET_WORD])
{
	nvmlFieldValue_t f = {.fieldId = field,
			      .scopeId = NVML_POWER_SCOPE_MODULE};

	if (SMI_NVML(gpus, nvmlDeviceGetFieldValues, gpu->handle, 1, &f) ||
	    f.nvmlReturn)
		snprintf(word, SMI_SET_WORD, "N/A");
	else
		write_watts(word, f.value.uiVal);
}

static nvmlReturn_t set_module_power(const struct smi_gpus *gpus,
				     const struct smi_gpu *gpu,
				     struct smi_setting *s)
{
	static const unsigned fields[] = {NVML_FI_DEV_POWER_CURRENT_LIMIT,
					  NVML_FI_DEV_POWER_MIN_LIMIT,
					  NVML_FI_DEV_POWER_MAX_LIMIT};
	nvmlPowerValue_v2_t power = {.version = nvmlPowerValue_v2,
				     .powerScope = NVML_POWER_SCOPE_MODULE,
				     .powerValueMw = s->a};

	for (size_t i = 0; i < COUNT(fields); i++)
		write_module_limit(gpus, gpu, fields[i], s->word[i + 1]);
	return SMI_NVML(gpus, nvmlDeviceSetPowerManagementLimit_v2, gpu->handle,
			&power);
}

/*
 * Writes four words: the new limit, the former one, the lowest and the highest.
 */
SETTER_CALL(set_power)
{
	unsigned min, max, before;
	nvmlReturn_t r;

	if (s->scope)
		return set_module_power(gpus, gpu, s);
	r = SMI_NVML(gpus, nvmlDeviceGetPowerManagementLimitConstraints,
		     gpu->handle, &min, &max);

	if (!r)
		r = SMI_NVML(gpus, nvmlDeviceGetPowerManagementLimit,
			     gpu->handle, &before);
	if (r)
		return r;
	write_watts(s->word[1], before);
	write_watts(s->word[2], min);
	write_watts(s->word[3], max);
	if (s->a < min || s->a > max)
		return NVML_ERROR_INVALID_ARGUMENT;
	return SMI_NVML(gpus, nvmlDeviceSetPowerManagementLimit, gpu->handle,
			s->a);
}

/*
 * Writes four words: the new temperature, the former one, the lowest and the
 * highest.
 */
SETTER_CALL(set_target)
{
	static const nvmlTemperatureThresholds_t of[] = {
	    NVML_TEMPERATURE_THRESHOLD_ACOUSTIC_CURR,
	    NVML_TEMPERATURE_THRESHOLD_ACOUSTIC_MIN,
	    NVML_TEMPERATURE_THRESHOLD_ACOUSTIC_MAX,
	};
	unsigned degrees[COUNT(of)];
	int wanted = (int)s->a;

	for (size_t i = 0; i < COUNT(of); i++) {
		nvmlReturn_t r =
		    SMI_NVML(gpus, nvmlDeviceGetTemperatureThreshold,
			     gpu->handle, of[i], &degrees[i]);

		if (r)
			return r;
		snprintf(s->word[i + 1], sizeof s->word[0], "%u", degrees[i]);
	}
	if (s->a < degrees[1] || s->a > degrees[2])
		return NVML_ERROR_INVALID_ARGUMENT;
	return SMI_NVML(gpus, nvmlDeviceSetTemperatureThreshold, gpu->handle,
			of[0], &wanted);
}
