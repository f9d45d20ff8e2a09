/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NVML temperatures, thresholds, fans and coolers.
 */
#ifndef GPUKIT_ABI_NVML_THERMAL_H
#define GPUKIT_ABI_NVML_THERMAL_H

#include "nvml_base.h"

#define NVML_MAX_THERMAL_SENSORS_PER_GPU 3

typedef enum {
	NVML_THERMAL_TARGET_NONE = 0,
	NVML_THERMAL_TARGET_GPU = 1,
	NVML_THERMAL_TARGET_MEMORY = 2,
	NVML_THERMAL_TARGET_POWER_SUPPLY = 4,
	NVML_THERMAL_TARGET_BOARD = 8,
	NVML_THERMAL_TARGET_VCD_BOARD = 9,
	NVML_THERMAL_TARGET_VCD_INLET = 10,
	NVML_THERMAL_TARGET_VCD_OUTLET = 11,
	NVML_THERMAL_TARGET_ALL = 15,
	NVML_THERMAL_TARGET_UNKNOWN = -1,
} nvmlThermalTarget_t;

typedef enum {
	NVML_THERMAL_CONTROLLER_NONE = 0,
	NVML_THERMAL_CONTROLLER_GPU_INTERNAL,
	NVML_THERMAL_CONTROLLER_ADM1032,
	NVML_THERMAL_CONTROLLER_ADT7461,
	NVML_THERMAL_CONTROLLER_MAX6649,
	NVML_THERMAL_CONTROLLER_MAX1617,
	NVML_THERMAL_CONTROLLER_LM99,
	NVML_THERMAL_CONTROLLER_LM89,
	NVML_THERMAL_CONTROLLER_LM64,
	NVML_THERMAL_CONTROLLER_G781,
	NVML_THERMAL_CONTROLLER_ADT7473,
	NVML_THERMAL_CONTROLLER_SBMAX6649,
	NVML_THERMAL_CONTROLLER_VBIOSEVT,
	NVML_THERMAL_CONTROLLER_OS,
	NVML_THERMAL_CONTROLLER_NVSYSCON_CANOAS,
	NVML_THERMAL_CONTROLLER_NVSYSCON_E551,
	NVML_THERMAL_CONTROLLER_MAX6649R,
	NVML_THERMAL_CONTROLLER_ADT7473S,
	NVML_THERMAL_CONTROLLER_UNKNOWN = -1,
} nvmlThermalController_t;

/* Degrees Celsius. */
typedef struct {
	unsigned int count;
	struct {
		nvmlThermalController_t controller;
		int defaultMinTemp;
		int defaultMaxTemp;
		int currentTemp;
		nvmlThermalTarget_t target;
	} sensor[NVML_MAX_THERMAL_SENSORS_PER_GPU];
} nvmlGpuThermalSettings_t;

typedef enum nvmlCoolerControl_enum {
	NVML_THERMAL_COOLER_SIGNAL_NONE = 0,
	NVML_THERMAL_COOLER_SIGNAL_TOGGLE = 1,
	NVML_THERMAL_COOLER_SIGNAL_VARIABLE = 2,
	NVML_THERMAL_COOLER_SIGNAL_COUNT,
} nvmlCoolerControl_t;

typedef enum nvmlCoolerTarget_enum {
	NVML_THERMAL_COOLER_TARGET_NONE = 1 << 0,
	NVML_THERMAL_COOLER_TARGET_GPU = 1 << 1,
	NVML_THERMAL_COOLER_TARGET_MEMORY = 1 << 2,
	NVML_THERMAL_COOLER_TARGET_POWER_SUPPLY = 1 << 3,
	NVML_THERMAL_COOLER_TARGET_GPU_RELATED =
	    (NVML_THERMAL_COOLER_TARGET_GPU |
	     NVML_THERMAL_COOLER_TARGET_MEMORY |
	     NVML_THERMAL_COOLER_TARGET_POWER_SUPPLY),
} nvmlCoolerTarget_t;

typedef struct {
	unsigned int version;
	unsigned int index;
	nvmlCoolerControl_t signalType;
	nvmlCoolerTarget_t target;
} nvmlCoolerInfo_v1_t;
typedef nvmlCoolerInfo_v1_t nvmlCoolerInfo_t;
#define nvmlCoolerInfo_v1 NVML_STRUCT_VERSION(CoolerInfo, 1)

/* Thresholds are in degrees Celsius. */
typedef enum nvmlTemperatureThresholds_enum {
	NVML_TEMPERATURE_THRESHOLD_SHUTDOWN = 0,
	NVML_TEMPERATURE_THRESHOLD_SLOWDOWN = 1,
	NVML_TEMPERATURE_THRESHOLD_MEM_MAX = 2,
	NVML_TEMPERATURE_THRESHOLD_GPU_MAX = 3,
	NVML_TEMPERATURE_THRESHOLD_ACOUSTIC_MIN = 4,
	NVML_TEMPERATURE_THRESHOLD_ACOUSTIC_CURR = 5,
	NVML_TEMPERATURE_THRESHOLD_ACOUSTIC_MAX = 6,
	NVML_TEMPERATURE_THRESHOLD_GPS_CURR = 7,
	NVML_TEMPERATURE_THRESHOLD_COUNT,
} nvmlTemperatureThresholds_t;

typedef enum nvmlTemperatureSensors_enum {
	NVML_TEMPERATURE_GPU = 0,
	NVML_TEMPERATURE_COUNT,
} nvmlTemperatureSensors_t;

/* Degrees Celsius left until the first slowdown threshold. */
typedef struct {
	unsigned int version;
	int marginTemperature;
} nvmlMarginTemperature_v1_t;
typedef nvmlMarginTemperature_v1_t nvmlMarginTemperature_t;
#define nvmlMarginTemperature_v1 NVML_STRUCT_VERSION(MarginTemperature, 1)

/* speed is in revolutions per minute. */
typedef struct {
	unsigned int version;
	unsigned int fan;
	unsigned int speed;
} nvmlFanSpeedInfo_v1_t;
typedef nvmlFanSpeedInfo_v1_t nvmlFanSpeedInfo_t;
#define nvmlFanSpeedInfo_v1 NVML_STRUCT_VERSION(FanSpeedInfo, 1)

#define NVML_FAN_POLICY_TEMPERATURE_CONTINOUS_SW 0
#define NVML_FAN_POLICY_MANUAL                   1
typedef unsigned int nvmlFanControlPolicy_t;

/* 12 bytes; in degrees Celsius. */
typedef struct {
	unsigned int version;
	nvmlTemperatureSensors_t sensorType;
	int temperature;
} nvmlTemperature_v1_t;
typedef nvmlTemperature_v1_t nvmlTemperature_t;
#define nvmlTemperature_v1 NVML_STRUCT_VERSION(Temperature, 1)

#endif
