/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NVML clocks, performance states and the reasons that hold clocks down.
 */
#ifndef GPUKIT_ABI_NVML_CLOCK_H
#define GPUKIT_ABI_NVML_CLOCK_H

#include "nvml_base.h"

typedef enum nvmlPerfPolicyType_enum {
	NVML_PERF_POLICY_POWER = 0,
	NVML_PERF_POLICY_THERMAL = 1,
	NVML_PERF_POLICY_SYNC_BOOST = 2,
	NVML_PERF_POLICY_BOARD_LIMIT = 3,
	NVML_PERF_POLICY_LOW_UTILIZATION = 4,
	NVML_PERF_POLICY_RELIABILITY = 5,
	NVML_PERF_POLICY_TOTAL_APP_CLOCKS = 10,
	NVML_PERF_POLICY_TOTAL_BASE_CLOCKS = 11,
	NVML_PERF_POLICY_COUNT,
} nvmlPerfPolicyType_t;

/*
 * referenceTime is in microseconds since the epoch, violationTime in
 * nanoseconds.
 */
typedef struct nvmlViolationTime_st {
	unsigned long long referenceTime;
	unsigned long long violationTime;
} nvmlViolationTime_t;

#define MAX_CLK_DOMAINS 32

typedef struct nvmlClkMonFaultInfo_struct {
	unsigned int clkApiDomain;
	unsigned int clkDomainFaultMask;
} nvmlClkMonFaultInfo_t;

typedef struct nvmlClkMonStatus_status {
	unsigned int bGlobalStatus;
	unsigned int clkMonListSize;
	nvmlClkMonFaultInfo_t clkMonList[MAX_CLK_DOMAINS];
} nvmlClkMonStatus_t;

typedef enum nvmlClockType_enum {
	NVML_CLOCK_GRAPHICS = 0,
	NVML_CLOCK_SM = 1,
	NVML_CLOCK_MEM = 2,
	NVML_CLOCK_VIDEO = 3,
	NVML_CLOCK_COUNT,
} nvmlClockType_t;

typedef enum nvmlClockId_enum {
	NVML_CLOCK_ID_CURRENT = 0,
	NVML_CLOCK_ID_APP_CLOCK_TARGET = 1,
	NVML_CLOCK_ID_APP_CLOCK_DEFAULT = 2,
	NVML_CLOCK_ID_CUSTOMER_BOOST_MAX = 3,
	NVML_CLOCK_ID_COUNT,
} nvmlClockId_t;

#define NVML_MAX_GPU_PERF_PSTATES 16

/* State 0 is the fastest. */
typedef enum nvmlPStates_enum {
	NVML_PSTATE_0 = 0,
	NVML_PSTATE_1 = 1,
	NVML_PSTATE_2 = 2,
	NVML_PSTATE_3 = 3,
	NVML_PSTATE_4 = 4,
	NVML_PSTATE_5 = 5,
	NVML_PSTATE_6 = 6,
	NVML_PSTATE_7 = 7,
	NVML_PSTATE_8 = 8,
	NVML_PSTATE_9 = 9,
	NVML_PSTATE_10 = 10,
	NVML_PSTATE_11 = 11,
	NVML_PSTATE_12 = 12,
	NVML_PSTATE_13 = 13,
	NVML_PSTATE_14 = 14,
	NVML_PSTATE_15 = 15,
	NVML_PSTATE_UNKNOWN = 32,
} nvmlPstates_t;

/* MHz. */
typedef struct {
	unsigned int version;
	nvmlClockType_t type;
	nvmlPstates_t pstate;
	int clockOffsetMHz;
	int minClockOffsetMHz;
	int maxClockOffsetMHz;
} nvmlClockOffset_v1_t;
typedef nvmlClockOffset_v1_t nvmlClockOffset_t;
#define nvmlClockOffset_v1 NVML_STRUCT_VERSION(ClockOffset, 1)

typedef struct {
	unsigned int version;
	char str[NVML_PERF_MODES_BUFFER_SIZE];
} nvmlDevicePerfModes_v1_t;
typedef nvmlDevicePerfModes_v1_t nvmlDevicePerfModes_t;
#define nvmlDevicePerfModes_v1 NVML_STRUCT_VERSION(DevicePerfModes, 1)

typedef struct {
	unsigned int version;
	char str[NVML_PERF_MODES_BUFFER_SIZE];
} nvmlDeviceCurrentClockFreqs_v1_t;
typedef nvmlDeviceCurrentClockFreqs_v1_t nvmlDeviceCurrentClockFreqs_t;
#define nvmlDeviceCurrentClockFreqs_v1                                         \
	NVML_STRUCT_VERSION(DeviceCurrentClockFreqs, 1)

#define NVML_POWER_MIZER_MODE_ADAPTIVE                      0
#define NVML_POWER_MIZER_MODE_PREFER_MAXIMUM_PERFORMANCE    1
#define NVML_POWER_MIZER_MODE_AUTO                          2
#define NVML_POWER_MIZER_MODE_PREFER_CONSISTENT_PERFORMANCE 3

typedef struct {
	unsigned int currentMode;
	unsigned int mode;
	unsigned int supportedPowerMizerModes;
} nvmlDevicePowerMizerModes_v1_t;

#define NVML_ADAPTIVE_CLOCKING_INFO_STATUS_DISABLED 0x00000000
#define NVML_ADAPTIVE_CLOCKING_INFO_STATUS_ENABLED  0x00000001

#define NVML_MAX_GPU_UTILIZATIONS 8

typedef enum nvmlGpuUtilizationDomainId_t {
	NVML_GPU_UTILIZATION_DOMAIN_GPU = 0,
	NVML_GPU_UTILIZATION_DOMAIN_FB = 1,
	NVML_GPU_UTILIZATION_DOMAIN_VID = 2,
	NVML_GPU_UTILIZATION_DOMAIN_BUS = 3,
} nvmlGpuUtilizationDomainId_t;

/*
 * utilization is indexed by nvmlGpuUtilizationDomainId_t; values are in
 * percent.
 */
typedef struct nvmlGpuDynamicPstatesInfo_st {
	unsigned int flags;
	struct {
		unsigned int bIsPresent;
		unsigned int percentage;
		unsigned int incThreshold;
		unsigned int decThreshold;
	} utilization[NVML_MAX_GPU_UTILIZATIONS];
} nvmlGpuDynamicPstatesInfo_t;

/*
 * Reasons, combined by OR in a mask. Names with Throttle are older names of the
 * same reasons, or the only names.
 */
#define nvmlClocksEventReasonGpuIdle                   0x0000000000000001LL
#define nvmlClocksEventReasonApplicationsClocksSetting 0x0000000000000002LL
#define nvmlClocksThrottleReasonUserDefinedClocks                              \
	nvmlClocksEventReasonApplicationsClocksSetting
#define nvmlClocksEventReasonSwPowerCap              0x0000000000000004LL
#define nvmlClocksThrottleReasonHwSlowdown           0x0000000000000008LL
#define nvmlClocksEventReasonSyncBoost               0x0000000000000010LL
#define nvmlClocksEventReasonSwThermalSlowdown       0x0000000000000020LL
#define nvmlClocksThrottleReasonHwThermalSlowdown    0x0000000000000040LL
#define nvmlClocksThrottleReasonHwPowerBrakeSlowdown 0x0000000000000080LL
#define nvmlClocksEventReasonDisplayClockSetting     0x0000000000000100LL
#define nvmlClocksEventReasonNone                    0x0000000000000000LL
#define nvmlClocksEventReasonAll                                               \
	(nvmlClocksThrottleReasonNone | nvmlClocksEventReasonGpuIdle |         \
	 nvmlClocksEventReasonApplicationsClocksSetting |                      \
	 nvmlClocksEventReasonSwPowerCap |                                     \
	 nvmlClocksThrottleReasonHwSlowdown | nvmlClocksEventReasonSyncBoost | \
	 nvmlClocksEventReasonSwThermalSlowdown |                              \
	 nvmlClocksThrottleReasonHwThermalSlowdown |                           \
	 nvmlClocksThrottleReasonHwPowerBrakeSlowdown |                        \
	 nvmlClocksEventReasonDisplayClockSetting)
#define nvmlClocksThrottleReasonGpuIdle nvmlClocksEventReasonGpuIdle
#define nvmlClocksThrottleReasonApplicationsClocksSetting                      \
	nvmlClocksEventReasonApplicationsClocksSetting
#define nvmlClocksThrottleReasonSyncBoost  nvmlClocksEventReasonSyncBoost
#define nvmlClocksThrottleReasonSwPowerCap nvmlClocksEventReasonSwPowerCap
#define nvmlClocksThrottleReasonSwThermalSlowdown                              \
	nvmlClocksEventReasonSwThermalSlowdown
#define nvmlClocksThrottleReasonDisplayClockSetting                            \
	nvmlClocksEventReasonDisplayClockSetting
#define nvmlClocksThrottleReasonNone nvmlClocksEventReasonNone
#define nvmlClocksThrottleReasonAll  nvmlClocksEventReasonAll

typedef enum nvmlClockLimitId_enum {
	NVML_CLOCK_LIMIT_ID_RANGE_START = 0xffffff00,
	NVML_CLOCK_LIMIT_ID_TDP,
	NVML_CLOCK_LIMIT_ID_UNLIMITED,
} nvmlClockLimitId_t;

#endif
