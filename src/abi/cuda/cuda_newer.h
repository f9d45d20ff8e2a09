/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Additions of CUDA 13.1, 13.2 and 13.3 that do not extend a type of 13.0:
 * device resources, logical endpoints, recaptured graphs, core dump callbacks.
 * Each type was introduced together with the functions that use it, whose
 * versions are in cuda.def.
 */
#ifndef GPUKIT_ABI_CUDA_NEWER_H
#define GPUKIT_ABI_CUDA_NEWER_H

#include "cuda_context.h"
#include "cuda_device.h"
#include "cuda_graph.h"
#include "cuda_stream.h"

/* ---- 13.1 ---- */

typedef enum {
	CU_DEV_SM_RESOURCE_GROUP_DEFAULT = 0,
	CU_DEV_SM_RESOURCE_GROUP_BACKFILL = 0x1,
} CUdevSmResourceGroup_flags;

typedef struct CU_DEV_SM_RESOURCE_GROUP_PARAMS_st {
	unsigned int smCount;
	unsigned int coscheduledSmCount;
	unsigned int preferredCoscheduledSmCount;
	unsigned int flags;
	unsigned int reserved[12];
} CU_DEV_SM_RESOURCE_GROUP_PARAMS;

typedef enum {
	CU_WORKQUEUE_SCOPE_DEVICE_CTX = 0,
	CU_WORKQUEUE_SCOPE_GREEN_CTX_BALANCED = 1,
} CUdevWorkqueueConfigScope;

typedef struct CUdevWorkqueueConfigResource_st {
	CUdevice device;
	unsigned int wqConcurrencyLimit;
	CUdevWorkqueueConfigScope sharingScope;
} CUdevWorkqueueConfigResource;

/* Types of CUdevResource that CUDA 13.0 does not have. */
#define CU_DEV_RESOURCE_TYPE_WORKQUEUE_CONFIG 1000
#define CU_DEV_RESOURCE_TYPE_WORKQUEUE        10000

/*
 * An operation of cuStreamBatchMemOp(): a CUstreamBatchMemOpType added in 13.1.
 */
#define CU_STREAM_MEM_OP_ATOMIC_REDUCTION 8

typedef enum CUstreamAtomicReductionOpType_enum {
	CU_STREAM_ATOMIC_REDUCTION_OP_OR = CU_ATOMIC_OPERATION_OR,
	CU_STREAM_ATOMIC_REDUCTION_OP_AND = CU_ATOMIC_OPERATION_AND,
	CU_STREAM_ATOMIC_REDUCTION_OP_ADD = CU_ATOMIC_OPERATION_INTEGER_ADD,
} CUstreamAtomicReductionOpType;

typedef enum CUstreamAtomicReductionDataType_enum {
	CU_STREAM_ATOMIC_REDUCTION_UNSIGNED_32 =
	    CU_ATOMIC_CAPABILITY_UNSIGNED | CU_ATOMIC_CAPABILITY_SCALAR_32 |
	    CU_ATOMIC_CAPABILITY_REDUCTION,
	CU_STREAM_ATOMIC_REDUCTION_UNSIGNED_64 =
	    CU_ATOMIC_CAPABILITY_UNSIGNED | CU_ATOMIC_CAPABILITY_SCALAR_64 |
	    CU_ATOMIC_CAPABILITY_REDUCTION,
} CUstreamAtomicReductionDataType;

/* Attributes of devices, launches and functions. */
#define CU_DEVICE_ATTRIBUTE_ATOMIC_REDUCTION_SUPPORTED 148

typedef enum CUstreamCigDataType_enum {
	STREAM_CIG_DATA_TYPE_D3D12_COMMAND_LIST = 0x1,
} CUstreamCigDataType;

typedef struct CUstreamCigParam_st {
	CUstreamCigDataType streamSharedDataType;
	void *streamSharedData;
} CUstreamCigParam;

typedef struct CUstreamCigCaptureParams_st {
	CUstreamCigParam *streamCigParams;
} CUstreamCigCaptureParams;

typedef enum CUhostTaskSyncMode_enum {
	CU_HOST_TASK_BLOCKING = 0,
	CU_HOST_TASK_SPINWAIT = 1,
} CUhostTaskSyncMode;

/* ---- 13.2 ---- */

typedef struct CUcoredumpCallbackEntry_st *CUcoredumpCallbackHandle;
typedef void (*CUcoredumpStatusCallback)(void *userData, int pid, CUdevice dev);

/* ---- 13.3 ---- */

#define CU_DEVICE_ATTRIBUTE_D3D12_CIG_STREAMS_SUPPORTED            151
#define CU_DEVICE_ATTRIBUTE_DMA_BUF_MMAP_SUPPORTED                 152
#define CU_DEVICE_ATTRIBUTE_LOGICAL_ENDPOINT_UNICAST_SUPPORTED     153
#define CU_DEVICE_ATTRIBUTE_LOGICAL_ENDPOINT_MULTICAST_SUPPORTED   154
#define CU_DEVICE_ATTRIBUTE_LOGICAL_ENDPOINT_COUNTED_OPS_SUPPORTED 155
#define CU_DEVICE_ATTRIBUTE_LOGICAL_ENDPOINT_UNICAST_ACCESS_ON_OWNER_DEVICE_SUPPORTED \
	156

#define CU_FUNC_ATTRIBUTE_DEVICE_NODE_UPDATE_SUPPORTED 16

#define CU_LAUNCH_ATTRIBUTE_PORTABLE_CLUSTER_SIZE_MODE 17
#define CU_LAUNCH_ATTRIBUTE_SHARED_MEMORY_MODE         18

typedef cuuint32_t CUlogicalEndpointId;

typedef enum CUlogicalEndpointIpcHandleType_enum {
	CU_LOGICAL_ENDPOINT_IPC_HANDLE_TYPE_NONE = 0,
	CU_LOGICAL_ENDPOINT_IPC_HANDLE_TYPE_FABRIC = 1,
} CUlogicalEndpointIpcHandleType;

typedef enum CUlogicalEndpointType_enum {
	CU_LOGICAL_ENDPOINT_TYPE_INVALID = 0,
	CU_LOGICAL_ENDPOINT_TYPE_UNICAST = 1,
	CU_LOGICAL_ENDPOINT_TYPE_MULTICAST = 2,
} CUlogicalEndpointType;

typedef struct CUlogicalEndpointProp_st {
	CUlogicalEndpointType type;
	union {
		struct {
			CUdevice device;
		} unicast;
		struct {
			unsigned int numDevices;
		} multicast;
	};
	unsigned long long size;
	unsigned int ipcHandleTypes;
	unsigned int flags;
} CUlogicalEndpointProp;

typedef enum CUgraphRecaptureStatus_enum {
	CU_GRAPH_RECAPTURE_ELIGIBLE_FOR_UPDATE = 0,
	CU_GRAPH_RECAPTURE_INELIGIBLE_FOR_UPDATE = 1,
	CU_GRAPH_RECAPTURE_ERROR = 2,
} CUgraphRecaptureStatus;
typedef CUresult (*CUgraphRecaptureCallback)(
    void *userData, CUgraphNode node, const CUgraphNodeParams *originalParams,
    const CUgraphNodeParams *recaptureParams, CUgraphRecaptureStatus status);

#endif
