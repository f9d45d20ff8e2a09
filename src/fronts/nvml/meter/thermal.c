/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thermal.c - reads temperatures, and reads and sets their thresholds, in
 * degrees Celsius.
 */
#include "fronts/nvml/meter/thermal.h"
#include "fronts/nvml/permission.h"
#include "fronts/nvml/value.h"
#include "machine/file/board.h"
#include "machine/file/profile.h"
#include "machine/file/value.h"

#include <string.h>

/*
 * The lowest target temperature that can be set, the same in all published
 * listings.
 */
#define TARGET_MIN_C 65

/*
 * The highest target temperature that can be set, by PCI device id, for boards
 * whose listings show a value other than the highest operating temperature: RTX
 * 3060, 3080, 3090, 4090, A5000, 4000 SFF Ada.
 */
static const struct {
	int64_t device, highest;
} targets[] = {{0x220610de, 91}, {0x221610de, 91}, {0x220410de, 91},
	       {0x268410de, 88}, {0x223110de, 89}, {0x27b010de, 93},
	       {0x248710de, 90}};

static int64_t target_max(const struct gkf_profile *p)
{
	for (size_t i = 0; i < sizeof(targets) / sizeof(*targets); i++)
		if (targets[i].device == p->pci_device_id)
			return targets[i].highest;
	return p->temp_max_c;
}

nvmlReturn_t nvmlDeviceGetTemperature(nvmlDevice_t device,
				      nvmlTemperatureSensors_t sensorType,
				      unsigned int *temp)
{
	int64_t v;

	ENTER_DEVICE(nvmlDeviceGetTemperature, device,
		     temp && sensorType == NVML_TEMPERATURE_GPU);
	if (!read_device_value(&c, GKF_V_TEMPERATURE, &v))
		return NVML_ERROR_NOT_SUPPORTED;
	*temp = (unsigned)v;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetTemperatureV(nvmlDevice_t device,
				       nvmlTemperature_t *temperature)
{
	int64_t v;

	ENTER_DEVICE(nvmlDeviceGetTemperatureV, device, temperature != NULL);
	if (!TAKES(temperature->version, nvmlTemperature_v1))
		return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
	if (temperature->sensorType != NVML_TEMPERATURE_GPU)
		return NVML_ERROR_INVALID_ARGUMENT;
	if (!read_device_value(&c, GKF_V_TEMPERATURE, &v))
		return NVML_ERROR_NOT_SUPPORTED;
	temperature->temperature = (int)v;
	return NVML_SUCCESS;
}

/* The threshold in degrees; -1: the board does not report it. */
static int64_t find_threshold(const struct call *c,
			      nvmlTemperatureThresholds_t type)
{
	const struct gkf_profile *p = &c->board->profile;
	int64_t target = -1;
	bool aims = read_device_value(c, GKF_V_TARGET_TEMPERATURE, &target);
	const int64_t of[NVML_TEMPERATURE_THRESHOLD_COUNT] = {
	    [NVML_TEMPERATURE_THRESHOLD_SHUTDOWN] = p->temp_shutdown_c,
	    [NVML_TEMPERATURE_THRESHOLD_SLOWDOWN] = p->temp_slowdown_c,
	    [NVML_TEMPERATURE_THRESHOLD_MEM_MAX] = p->mem_temp_max_c,
	    [NVML_TEMPERATURE_THRESHOLD_GPU_MAX] = p->temp_max_c,
	    [NVML_TEMPERATURE_THRESHOLD_ACOUSTIC_MIN] =
		aims ? TARGET_MIN_C : -1,
	    [NVML_TEMPERATURE_THRESHOLD_ACOUSTIC_CURR] = target,
	    [NVML_TEMPERATURE_THRESHOLD_ACOUSTIC_MAX] =
		aims ? target_max(p) : -1,
	    [NVML_TEMPERATURE_THRESHOLD_GPS_CURR] = -1,
	};

	return of[type];
}

nvmlReturn_t
nvmlDeviceGetTemperatureThreshold(nvmlDevice_t device,
				  nvmlTemperatureThresholds_t thresholdType,
				  unsigned int *temp)
{
	int64_t v;

	ENTER_DEVICE(nvmlDeviceGetTemperatureThreshold, device,
		     temp && (unsigned)thresholdType <
				 NVML_TEMPERATURE_THRESHOLD_COUNT);
	v = find_threshold(&c, thresholdType);
	if (v < 0)
		return NVML_ERROR_NOT_SUPPORTED;
	*temp = (unsigned)v;
	return NVML_SUCCESS;
}

/* Only the target temperature can be set. */
nvmlReturn_t nvmlDeviceSetTemperatureThreshold(
    nvmlDevice_t device, nvmlTemperatureThresholds_t thresholdType, int *temp)
{
	ENTER_DEVICE(nvmlDeviceSetTemperatureThreshold, device,
		     temp && (unsigned)thresholdType <
				 NVML_TEMPERATURE_THRESHOLD_COUNT);
	if (thresholdType != NVML_TEMPERATURE_THRESHOLD_ACOUSTIC_CURR ||
	    find_threshold(&c, thresholdType) < 0)
		return NVML_ERROR_NOT_SUPPORTED;
	if (*temp < TARGET_MIN_C || *temp > target_max(&c.board->profile))
		return NVML_ERROR_INVALID_ARGUMENT;
	return front_set(&c, GKF_V_TARGET_TEMPERATURE, *temp);
}

/*
 * Unlike other boards since Ada, a GeForce RTX 4080 SUPER reports no margin in
 * listings.
 */
#define WITHOUT_MARGIN 0x270210de

bool thermal_has_margin(const struct gkf_profile *p)
{
	return p->compute_major * 10 + p->compute_minor >= 89 &&
	       p->pci_device_id != WITHOUT_MARGIN && p->temp_max_c >= 0;
}

/*
 * Degrees below the highest operating temperature, as in nvidia-smi's "T.Limit"
 * of an H200.
 */
nvmlReturn_t
nvmlDeviceGetMarginTemperature(nvmlDevice_t device,
			       nvmlMarginTemperature_t *marginTempInfo)
{
	const struct gkf_profile *p;
	int64_t v;

	ENTER_DEVICE(nvmlDeviceGetMarginTemperature, device,
		     marginTempInfo != NULL);
	if (!TAKES(marginTempInfo->version, nvmlMarginTemperature_v1))
		return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
	p = &c.board->profile;
	if (!thermal_has_margin(p) ||
	    !read_device_value(&c, GKF_V_TEMPERATURE, &v))
		return NVML_ERROR_NOT_SUPPORTED;
	marginTempInfo->marginTemperature = (int)(p->temp_max_c - v);
	return NVML_SUCCESS;
}

/* The sensors in order: core, memory. */
static const struct {
	enum gkf_value now;
	nvmlThermalTarget_t target;
	size_t max; /* offset in the profile */
} sensors[] = {
    {GKF_V_TEMPERATURE, NVML_THERMAL_TARGET_GPU,
     offsetof(struct gkf_profile, temp_max_c)},
    {GKF_V_MEM_TEMPERATURE, NVML_THERMAL_TARGET_MEMORY,
     offsetof(struct gkf_profile, mem_temp_max_c)},
};
#define SENSORS (sizeof(sensors) / sizeof(*sensors))

/* Adds a sensor. False if the board does not have it. */
static bool add_sensor(const struct call *c, unsigned i,
		       nvmlGpuThermalSettings_t *to)
{
	int64_t now, max;

	if (!read_device_value(c, sensors[i].now, &now))
		return false;
	memcpy(&max, (const char *)&c->board->profile + sensors[i].max,
	       sizeof(max));
	to->sensor[to->count].controller = NVML_THERMAL_CONTROLLER_GPU_INTERNAL;
	to->sensor[to->count].defaultMaxTemp = max < 0 ? 0 : (int)max;
	to->sensor[to->count].currentTemp = (int)now;
	to->sensor[to->count].target = sensors[i].target;
	to->count++;
	return true;
}

/* Returns one sensor by its index, or all of them with NVML_THERMAL_TARGET_ALL.
 */
nvmlReturn_t
nvmlDeviceGetThermalSettings(nvmlDevice_t device, unsigned int sensorIndex,
			     nvmlGpuThermalSettings_t *pThermalSettings)
{
	nvmlGpuThermalSettings_t found = {0};

	ENTER_DEVICE(nvmlDeviceGetThermalSettings, device,
		     pThermalSettings &&
			 (sensorIndex < SENSORS ||
			  sensorIndex == NVML_THERMAL_TARGET_ALL));
	for (unsigned i = 0; i < SENSORS; i++)
		if (sensorIndex == i || sensorIndex == NVML_THERMAL_TARGET_ALL)
			add_sensor(&c, i, &found);
	if (!found.count)
		return NVML_ERROR_NOT_SUPPORTED;
	*pThermalSettings = found;
	return NVML_SUCCESS;
}
