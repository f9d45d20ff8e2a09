/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NVML system-wide facts and maintenance: driver branch, CPER, PRM, removal.
 */
#ifndef GPUKIT_ABI_NVML_SYSTEM_H
#define GPUKIT_ABI_NVML_SYSTEM_H

#include "nvml_base.h"
#include "nvml_device.h"

typedef struct {
	char value[NVML_DEVICE_HOSTNAME_BUFFER_SIZE];
} nvmlHostname_v1_t;

#define NVML_RUSD_POLL_NONE      0x0
#define NVML_RUSD_POLL_CLOCK     0x1
#define NVML_RUSD_POLL_PERF      0x2
#define NVML_RUSD_POLL_MEMORY    0x4
#define NVML_RUSD_POLL_POWER     0x8
#define NVML_RUSD_POLL_THERMAL   0x10
#define NVML_RUSD_POLL_PCI       0x20
#define NVML_RUSD_POLL_FAN       0x40
#define NVML_RUSD_POLL_PROC_UTIL 0x80
#define NVML_RUSD_POLL_ALL       0xFFFFFFFFFFFFFFFF

/*
 * The groups of values that the driver keeps up to date in its shared read-only
 * data.
 */
typedef struct {
	unsigned int version;
	unsigned long long pollMask;
} nvmlRusdSettings_v1_t;
#define nvmlRusdSettings_v1 NVML_STRUCT_VERSION(RusdSettings, 1)

typedef enum nvmlDeviceGpuRecoveryAction_s {
	NVML_GPU_RECOVERY_ACTION_NONE = 0,
	NVML_GPU_RECOVERY_ACTION_GPU_RESET = 1,
	NVML_GPU_RECOVERY_ACTION_NODE_REBOOT = 2,
	NVML_GPU_RECOVERY_ACTION_DRAIN_P2P = 3,
	NVML_GPU_RECOVERY_ACTION_DRAIN_AND_RESET = 4,
	NVML_GPU_RECOVERY_ACTION_RECOVER_IMEX_DOMAIN = 5,
} nvmlDeviceGpuRecoveryAction_t;

typedef enum nvmlDetachGpuState_enum {
	NVML_DETACH_GPU_KEEP = 0,
	NVML_DETACH_GPU_REMOVE,
} nvmlDetachGpuState_t;

typedef enum nvmlPcieLinkState_enum {
	NVML_PCIE_LINK_KEEP = 0,
	NVML_PCIE_LINK_SHUT_DOWN,
} nvmlPcieLinkState_t;

typedef unsigned long long nvmlCPERCursorHandle_t;

#define NVML_CPER_CURSOR_HANDLE_INIT ((nvmlCPERCursorHandle_t)0)

typedef enum {
	NVML_CPER_ACCESS_TYPE_GPU = (1 << 0),
} nvmlCPERType_t;

typedef struct {
	unsigned int cperTypeMask;
	char uuid[NVML_DEVICE_UUID_BUFFER_SIZE];
	nvmlCPERCursorHandle_t handle;
} nvmlCPERCursor_v1_t;

typedef struct {
	nvmlCPERCursor_v1_t cursor;
	unsigned char *buffer;
	unsigned int bufferSize;
} nvmlGetCPER_v1_t;

typedef struct {
	unsigned int version;
	char branch[NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE];
} nvmlSystemDriverBranchInfo_v1_t;
typedef nvmlSystemDriverBranchInfo_v1_t nvmlSystemDriverBranchInfo_t;
#define nvmlSystemDriverBranchInfo_v1                                          \
	NVML_STRUCT_VERSION(SystemDriverBranchInfo, 1)

#define NVML_AFFINITY_SCOPE_NODE   0
#define NVML_AFFINITY_SCOPE_SOCKET 1
typedef unsigned int nvmlAffinityScope_t;

typedef struct nvmlExcludedDeviceInfo_st {
	nvmlPciInfo_t pciInfo;
	char uuid[NVML_DEVICE_UUID_BUFFER_SIZE];
} nvmlExcludedDeviceInfo_t;

#define NVML_PRM_DATA_MAX_SIZE 496

typedef struct {
	unsigned int dataSize;
	unsigned int status;
	union {
		unsigned char inData[NVML_PRM_DATA_MAX_SIZE];
		unsigned char outData[NVML_PRM_DATA_MAX_SIZE];
	};
} nvmlPRMTLV_v1_t;

typedef enum {
	NVML_PRM_COUNTER_ID_NONE = 0,
	NVML_PRM_COUNTER_ID_PPCNT_PHYSICAL_LAYER_CTRS_LINK_DOWN_EVENTS = 1,
	NVML_PRM_COUNTER_ID_PPCNT_PHYSICAL_LAYER_CTRS_SUCCESSFUL_RECOVERY_EVENTS =
	    2,
	NVML_PRM_COUNTER_ID_PPCNT_RECOVERY_CTRS_TOTAL_SUCCESSFUL_RECOVERY_EVENTS =
	    101,
	NVML_PRM_COUNTER_ID_PPCNT_RECOVERY_CTRS_TIME_SINCE_LAST_RECOVERY = 102,
	NVML_PRM_COUNTER_ID_PPCNT_RECOVERY_CTRS_TIME_BETWEEN_LAST_TWO_RECOVERIES =
	    103,
	NVML_PRM_COUNTER_ID_PPCNT_PORTCOUNTERS_PORT_XMIT_WAIT = 201,
	NVML_PRM_COUNTER_ID_PPCNT_PLR_RCV_CODES = 301,
	NVML_PRM_COUNTER_ID_PPCNT_PLR_RCV_CODE_ERR = 302,
	NVML_PRM_COUNTER_ID_PPCNT_PLR_RCV_UNCORRECTABLE_CODE = 303,
	NVML_PRM_COUNTER_ID_PPCNT_PLR_XMIT_CODES = 304,
	NVML_PRM_COUNTER_ID_PPCNT_PLR_XMIT_RETRY_CODES = 305,
	NVML_PRM_COUNTER_ID_PPCNT_PLR_XMIT_RETRY_EVENTS = 306,
	NVML_PRM_COUNTER_ID_PPCNT_PLR_SYNC_EVENTS = 307,
	NVML_PRM_COUNTER_ID_PPRM_OPER_RECOVERY = 1001,
} nvmlPRMCounterId_t;

typedef struct {
	unsigned int localPort;
} nvmlPRMCounterInput_v1_t;

typedef struct {
	nvmlReturn_t status;
	nvmlValueType_t outputType;
	nvmlValue_t outputValue;
} nvmlPRMCounterValue_v1_t;

typedef struct {
	unsigned int counterId;
	nvmlPRMCounterInput_v1_t inData;
	nvmlPRMCounterValue_v1_t counterValue;
} nvmlPRMCounter_v1_t;

typedef struct {
	unsigned int numCounters;
	nvmlPRMCounter_v1_t *counters;
} nvmlPRMCounterList_v1_t;

#endif
