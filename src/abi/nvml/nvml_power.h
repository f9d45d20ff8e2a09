/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NVML power values, sources, workload profiles and power smoothing.
 */
#ifndef GPUKIT_ABI_NVML_POWER_H
#define GPUKIT_ABI_NVML_POWER_H

#include "nvml_base.h"

#define NVML_POWER_SOURCE_AC         0x00000000
#define NVML_POWER_SOURCE_BATTERY    0x00000001
#define NVML_POWER_SOURCE_UNDERSIZED 0x00000002
typedef unsigned int nvmlPowerSource_t;

#define NVML_POWER_SCOPE_GPU      0U
#define NVML_POWER_SCOPE_MODULE   1U
#define NVML_POWER_SCOPE_MEMORY   2U
#define NVML_POWER_SCOPE_GPU_BASE 3U
#define NVML_POWER_SCOPE_COUNT    4U
typedef unsigned char nvmlPowerScopeType_t;

/* Milliwatts. */
typedef struct {
	unsigned int version;
	nvmlPowerScopeType_t powerScope;
	unsigned int powerValueMw;
} nvmlPowerValue_v2_t;
#define nvmlPowerValue_v2 NVML_STRUCT_VERSION(PowerValue, 2)

#define NVML_WORKLOAD_POWER_MAX_PROFILES 255

typedef enum {
	NVML_POWER_PROFILE_MAX_P = 0,
	NVML_POWER_PROFILE_MAX_Q = 1,
	NVML_POWER_PROFILE_COMPUTE = 2,
	NVML_POWER_PROFILE_MEMORY_BOUND = 3,
	NVML_POWER_PROFILE_NETWORK = 4,
	NVML_POWER_PROFILE_BALANCED = 5,
	NVML_POWER_PROFILE_LLM_INFERENCE = 6,
	NVML_POWER_PROFILE_LLM_TRAINING = 7,
	NVML_POWER_PROFILE_RBM = 8,
	NVML_POWER_PROFILE_DCPCIE = 9,
	NVML_POWER_PROFILE_HMMA_SPARSE = 10,
	NVML_POWER_PROFILE_HMMA_DENSE = 11,
	NVML_POWER_PROFILE_SYNC_BALANCED = 12,
	NVML_POWER_PROFILE_HPC = 13,
	NVML_POWER_PROFILE_MIG = 14,
	NVML_POWER_PROFILE_MAX = 15,
} nvmlPowerProfileType_t;

typedef enum {
	NVML_POWER_PROFILE_OPERATION_CLEAR = 0,
	NVML_POWER_PROFILE_OPERATION_SET = 1,
	NVML_POWER_PROFILE_OPERATION_SET_AND_OVERWRITE = 2,
	NVML_POWER_PROFILE_OPERATION_MAX = 3,
} nvmlPowerProfileOperation_t;

typedef struct {
	unsigned int version;
	unsigned int profileId;
	unsigned int priority;
	nvmlMask255_t conflictingMask;
} nvmlWorkloadPowerProfileInfo_v1_t;
typedef nvmlWorkloadPowerProfileInfo_v1_t nvmlWorkloadPowerProfileInfo_t;
#define nvmlWorkloadPowerProfileInfo_v1                                        \
	NVML_STRUCT_VERSION(WorkloadPowerProfileInfo, 1)

typedef struct {
	unsigned int version;
	nvmlMask255_t perfProfilesMask;
	nvmlWorkloadPowerProfileInfo_t
	    perfProfile[NVML_WORKLOAD_POWER_MAX_PROFILES];
} nvmlWorkloadPowerProfileProfilesInfo_v1_t;
typedef nvmlWorkloadPowerProfileProfilesInfo_v1_t
    nvmlWorkloadPowerProfileProfilesInfo_t;
#define nvmlWorkloadPowerProfileProfilesInfo_v1                                \
	NVML_STRUCT_VERSION(WorkloadPowerProfileProfilesInfo, 1)

typedef struct {
	unsigned int version;
	nvmlMask255_t perfProfilesMask;
	nvmlMask255_t requestedProfilesMask;
	nvmlMask255_t enforcedProfilesMask;
} nvmlWorkloadPowerProfileCurrentProfiles_v1_t;
typedef nvmlWorkloadPowerProfileCurrentProfiles_v1_t
    nvmlWorkloadPowerProfileCurrentProfiles_t;
#define nvmlWorkloadPowerProfileCurrentProfiles_v1                             \
	NVML_STRUCT_VERSION(WorkloadPowerProfileCurrentProfiles, 1)

typedef struct {
	unsigned int version;
	nvmlMask255_t requestedProfilesMask;
} nvmlWorkloadPowerProfileRequestedProfiles_v1_t;
typedef nvmlWorkloadPowerProfileRequestedProfiles_v1_t
    nvmlWorkloadPowerProfileRequestedProfiles_t;
#define nvmlWorkloadPowerProfileRequestedProfiles_v1                           \
	NVML_STRUCT_VERSION(WorkloadPowerProfileRequestedProfiles, 1)

typedef struct {
	nvmlPowerProfileOperation_t operation;
	nvmlMask255_t updateProfilesMask;
} nvmlWorkloadPowerProfileUpdateProfiles_v1_t;
#define nvmlWorkloadPowerProfileUpdateProfiles_v1                              \
	NVML_STRUCT_VERSION(WorkloadPowerProfileUpdateProfiles, 1)

#define NVML_POWER_SMOOTHING_MAX_NUM_PROFILES                         5
#define NVML_POWER_SMOOTHING_NUM_PROFILE_PARAMS                       8
#define NVML_POWER_SMOOTHING_ADMIN_OVERRIDE_NOT_SET                   0xFFFFFFFFU
#define NVML_POWER_SMOOTHING_PROFILE_PARAM_PERCENT_TMP_FLOOR          0
#define NVML_POWER_SMOOTHING_PROFILE_PARAM_RAMP_UP_RATE               1
#define NVML_POWER_SMOOTHING_PROFILE_PARAM_RAMP_DOWN_RATE             2
#define NVML_POWER_SMOOTHING_PROFILE_PARAM_RAMP_DOWN_HYSTERESIS       3
#define NVML_POWER_SMOOTHING_PROFILE_PARAM_SECONDARY_POWER_FLOOR      4
#define NVML_POWER_SMOOTHING_PROFILE_PARAM_PRIMARY_FLOOR_ACT_WIN_MULT 5
#define NVML_POWER_SMOOTHING_PROFILE_PARAM_PRIMARY_FLOOR_TAR_WIN_MULT 6
#define NVML_POWER_SMOOTHING_PROFILE_PARAM_PRIMARY_FLOOR_ACT_OFFSET   7

typedef struct {
	unsigned int version;
	unsigned int profileId;
	unsigned int paramId;
	double value;
} nvmlPowerSmoothingProfile_v1_t;
typedef nvmlPowerSmoothingProfile_v1_t nvmlPowerSmoothingProfile_t;
#define nvmlPowerSmoothingProfile_v1                                           \
	NVML_STRUCT_VERSION(PowerSmoothingProfile, 1)

typedef struct {
	unsigned int version;
	nvmlEnableState_t state;
} nvmlPowerSmoothingState_v1_t;
typedef nvmlPowerSmoothingState_v1_t nvmlPowerSmoothingState_t;
#define nvmlPowerSmoothingState_v1 NVML_STRUCT_VERSION(PowerSmoothingState, 1)

#endif
