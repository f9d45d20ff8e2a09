/* SPDX-License-Identifier: Apache-2.0 */
/* NVML units: S-class chassis with several boards. */
#ifndef GPUKIT_ABI_NVML_UNIT_H
#define GPUKIT_ABI_NVML_UNIT_H

typedef struct nvmlHwbcEntry_st {
	unsigned int hwbcId;
	char firmwareVersion[32];
} nvmlHwbcEntry_t;

typedef enum nvmlFanState_enum {
	NVML_FAN_NORMAL = 0,
	NVML_FAN_FAILED = 1,
} nvmlFanState_t;

typedef enum nvmlLedColor_enum {
	NVML_LED_COLOR_GREEN = 0,
	NVML_LED_COLOR_AMBER = 1,
} nvmlLedColor_t;

typedef struct nvmlLedState_st {
	char cause[256];
	nvmlLedColor_t color;
} nvmlLedState_t;

typedef struct nvmlUnitInfo_st {
	char name[96];
	char id[96];
	char serial[96];
	char firmwareVersion[96];
} nvmlUnitInfo_t;

/* In amperes, volts and watts. */
typedef struct nvmlPSUInfo_st {
	char state[256];
	unsigned int current;
	unsigned int voltage;
	unsigned int power;
} nvmlPSUInfo_t;

/* speed is in revolutions per minute. */
typedef struct nvmlUnitFanInfo_st {
	unsigned int speed;
	nvmlFanState_t state;
} nvmlUnitFanInfo_t;

typedef struct nvmlUnitFanSpeeds_st {
	nvmlUnitFanInfo_t fans[24];
	unsigned int count;
} nvmlUnitFanSpeeds_t;

#endif
