/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NVML records about processes: memory, utilisation, accounting, sessions.
 */
#ifndef GPUKIT_ABI_NVML_PROCESS_H
#define GPUKIT_ABI_NVML_PROCESS_H

#include "nvml_base.h"

/* 16 bytes: an entry of the process lists without a version suffix. */
typedef struct nvmlProcessInfo_v1_st {
	unsigned int pid;
	unsigned long long usedGpuMemory; /* bytes */
} nvmlProcessInfo_v1_t;

/*
 * 24 bytes: an entry of the process lists _v2 and _v3. (Drivers 535.43 to
 * 535.86 wrote 32 bytes in _v3: nvmlProcessDetail_v1_t.)
 */
typedef struct nvmlProcessInfo_v2_st {
	unsigned int pid;
	unsigned long long usedGpuMemory; /* bytes */
	unsigned int gpuInstanceId;       /* all bits set without MIG */
	unsigned int computeInstanceId;   /* all bits set without MIG */
} nvmlProcessInfo_v2_t, nvmlProcessInfo_t;

/* 32 bytes. */
typedef struct {
	unsigned int pid;
	unsigned long long usedGpuMemory; /* bytes */
	unsigned int gpuInstanceId;
	unsigned int computeInstanceId;
	unsigned long long usedGpuCcProtectedMemory; /* bytes */
} nvmlProcessDetail_v1_t;

typedef enum nvmlProcessMode_enum {
	NVML_PROCESS_MODE_COMPUTE = 0,
	NVML_PROCESS_MODE_GRAPHICS = 1,
	NVML_PROCESS_MODE_MPS = 2,
	NVML_PROCESS_MODE_ALL = 3,
	NVML_PROCESS_MODE_MAX = NVML_PROCESS_MODE_ALL + 1,
} nvmlProcessMode_t;

typedef struct {
	unsigned int version;
	unsigned int mode;
	unsigned int numProcArrayEntries;
	nvmlProcessDetail_v1_t *procArray;
} nvmlProcessDetailList_v1_t;
typedef nvmlProcessDetailList_v1_t nvmlProcessDetailList_t;
#define nvmlProcessDetailList_v1 NVML_STRUCT_VERSION(ProcessDetailList, 1)

/*
 * 32 bytes; utilisation is in percent, timeStamp in microseconds since the
 * epoch.
 */
typedef struct nvmlProcessUtilizationSample_st {
	unsigned int pid;
	unsigned long long timeStamp;
	unsigned int smUtil;
	unsigned int memUtil;
	unsigned int encUtil;
	unsigned int decUtil;
} nvmlProcessUtilizationSample_t;

/* Utilisation is in percent, timeStamp in microseconds since the epoch. */
typedef struct {
	unsigned long long timeStamp;
	unsigned int pid;
	unsigned int smUtil;
	unsigned int memUtil;
	unsigned int encUtil;
	unsigned int decUtil;
	unsigned int jpgUtil;
	unsigned int ofaUtil;
} nvmlProcessUtilizationInfo_v1_t;

typedef struct {
	unsigned int version;
	unsigned int processSamplesCount;
	unsigned long long lastSeenTimeStamp;
	nvmlProcessUtilizationInfo_v1_t *procUtilArray;
} nvmlProcessesUtilizationInfo_v1_t;
typedef nvmlProcessesUtilizationInfo_v1_t nvmlProcessesUtilizationInfo_t;
#define nvmlProcessesUtilizationInfo_v1                                        \
	NVML_STRUCT_VERSION(ProcessesUtilizationInfo, 1)

/*
 * gpuUtilization, memoryUtilization: in percent, over the life of the process;
 * maxMemoryUsage: bytes; time: milliseconds, 0 while the process runs;
 * startTime: microseconds since the epoch.
 */
typedef struct nvmlAccountingStats_st {
	unsigned int gpuUtilization;
	unsigned int memoryUtilization;
	unsigned long long maxMemoryUsage;
	unsigned long long time;
	unsigned long long startTime;
	unsigned int isRunning;
	unsigned int reserved[5];
} nvmlAccountingStats_t;

typedef struct {
	unsigned int pid;
	unsigned int isRunning;
	unsigned int gpuUtilization;
	unsigned int memoryUtilization;
	unsigned long long maxMemoryUsage;
	unsigned int sampleCount;
	unsigned long long sumGpuUtil;
	unsigned long long sumFbUtil;
	unsigned long long time;
	unsigned long long startTime;
} nvmlAccountingStats_v2_t;

typedef enum nvmlEncoderQueryType_enum {
	NVML_ENCODER_QUERY_H264 = 0x00,
	NVML_ENCODER_QUERY_HEVC = 0x01,
	NVML_ENCODER_QUERY_AV1 = 0x02,
	NVML_ENCODER_QUERY_UNKNOWN = 0xFF,
} nvmlEncoderType_t;

/* averageLatency is in microseconds. */
typedef struct nvmlEncoderSessionInfo_st {
	unsigned int sessionId;
	unsigned int pid;
	nvmlVgpuInstance_t vgpuInstance;
	nvmlEncoderType_t codecType;
	unsigned int hResolution;
	unsigned int vResolution;
	unsigned int averageFps;
	unsigned int averageLatency;
} nvmlEncoderSessionInfo_t;

typedef enum nvmlFBCSessionType_enum {
	NVML_FBC_SESSION_TYPE_UNKNOWN = 0,
	NVML_FBC_SESSION_TYPE_TOSYS,
	NVML_FBC_SESSION_TYPE_CUDA,
	NVML_FBC_SESSION_TYPE_VID,
	NVML_FBC_SESSION_TYPE_HWENC,
} nvmlFBCSessionType_t;

typedef struct nvmlFBCStats_st {
	unsigned int sessionsCount;
	unsigned int averageFPS;
	unsigned int averageLatency;
} nvmlFBCStats_t;

#define NVML_NVFBC_SESSION_FLAG_DIFFMAP_ENABLED            0x00000001
#define NVML_NVFBC_SESSION_FLAG_CLASSIFICATIONMAP_ENABLED  0x00000002
#define NVML_NVFBC_SESSION_FLAG_CAPTURE_WITH_WAIT_NO_WAIT  0x00000004
#define NVML_NVFBC_SESSION_FLAG_CAPTURE_WITH_WAIT_INFINITE 0x00000008
#define NVML_NVFBC_SESSION_FLAG_CAPTURE_WITH_WAIT_TIMEOUT  0x00000010

typedef struct nvmlFBCSessionInfo_st {
	unsigned int sessionId;
	unsigned int pid;
	nvmlVgpuInstance_t vgpuInstance;
	unsigned int displayOrdinal;
	nvmlFBCSessionType_t sessionType;
	unsigned int sessionFlags;
	unsigned int hMaxResolution;
	unsigned int vMaxResolution;
	unsigned int hResolution;
	unsigned int vResolution;
	unsigned int averageFPS;
	unsigned int averageLatency;
} nvmlFBCSessionInfo_t;

#endif
