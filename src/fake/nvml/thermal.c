/*
 * thermal.c - temperatures, their thresholds, single fans.
 */
#include "fake/nvml/front.h"

nvmlReturn_t nvmlDeviceGetTemperature(nvmlDevice_t device,
				      nvmlTemperatureSensors_t sensorType,
				      unsigned int *temp)
{
	int64_t v;

	ENTER_DEVICE(nvmlDeviceGetTemperature, device,
		     temp && sensorType == NVML_TEMPERATURE_GPU);
	if (!value(&c, GKF_V_TEMPERATURE, &v))
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
	if (!value(&c, GKF_V_TEMPERATURE, &v))
		return NVML_ERROR_NOT_SUPPORTED;
	temperature->temperature = (int)v;
	return NVML_SUCCESS;
}

/* -1: this board tells no such threshold. */
static int64_t threshold(const struct gkf_profile *p,
			 nvmlTemperatureThresholds_t type)
{
	const int64_t of[NVML_TEMPERATURE_THRESHOLD_COUNT] = {
	    [NVML_TEMPERATURE_THRESHOLD_SHUTDOWN] = p->temp_shutdown_c,
	    [NVML_TEMPERATURE_THRESHOLD_SLOWDOWN] = p->temp_slowdown_c,
	    [NVML_TEMPERATURE_THRESHOLD_MEM_MAX] = p->mem_temp_max_c,
	    [NVML_TEMPERATURE_THRESHOLD_GPU_MAX] = p->temp_max_c,
	    [NVML_TEMPERATURE_THRESHOLD_ACOUSTIC_MIN] = -1,
	    [NVML_TEMPERATURE_THRESHOLD_ACOUSTIC_CURR] = -1,
	    [NVML_TEMPERATURE_THRESHOLD_ACOUSTIC_MAX] = -1,
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
	v = threshold(&c.board->profile, thresholdType);
	if (v < 0)
		return NVML_ERROR_NOT_SUPPORTED;
	*temp = (unsigned)v;
	return NVML_SUCCESS;
}

/* All fans of a board turn alike. */
nvmlReturn_t nvmlDeviceGetFanSpeed_v2(nvmlDevice_t device, unsigned int fan,
				      unsigned int *speed)
{
	int64_t v;

	ENTER_DEVICE(nvmlDeviceGetFanSpeed_v2, device, speed != NULL);
	if (!value(&c, GKF_V_FAN, &v))
		return NVML_ERROR_NOT_SUPPORTED;
	if (fan >= (uint64_t)c.board->profile.fans)
		return NVML_ERROR_INVALID_ARGUMENT;
	*speed = (unsigned)v;
	return NVML_SUCCESS;
}
