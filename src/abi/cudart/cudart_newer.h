/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Additions of the runtime of CUDA 13.1 to 13.3: device resources and execution
 * contexts. libcudart.so.13 always has them, because the library's name
 * contains only the major; a function that the driver lacks returns 36
 * (cudaErrorCallRequiresNewerDriver).
 */
#ifndef GPUKIT_ABI_CUDART_NEWER_H
#define GPUKIT_ABI_CUDART_NEWER_H

#include "cudart_base.h"

typedef struct CUdevResourceDesc_st *cudaDevResourceDesc_t;
typedef struct cudaExecutionContext_st *cudaExecutionContext_t;

enum cudaDevSmResourceGroup_flags {
	cudaDevSmResourceGroupDefault = 0,
	cudaDevSmResourceGroupBackfill = 0x1 << 0
};

enum cudaDevSmResourceSplitByCount_flags {
	cudaDevSmResourceSplitIgnoreSmCoscheduling = 0x1,
	cudaDevSmResourceSplitMaxPotentialClusterSize = 0x2
};

enum cudaDevResourceType {
	cudaDevResourceTypeInvalid = 0,
	cudaDevResourceTypeSm = 1,
	cudaDevResourceTypeWorkqueueConfig = 1000,
	cudaDevResourceTypeWorkqueue = 10000,
};

struct cudaDevSmResource {
	unsigned int smCount;
	unsigned int minSmPartitionSize;
	unsigned int smCoscheduledAlignment;
	unsigned int flags;
};

enum cudaDevWorkqueueConfigScope {
	cudaDevWorkqueueConfigScopeDeviceCtx = 0,
	cudaDevWorkqueueConfigScopeGreenCtxBalanced = 1,
};

struct cudaDevWorkqueueConfigResource {
	int device;
	unsigned int wqConcurrencyLimit;
	enum cudaDevWorkqueueConfigScope sharingScope;
};

struct cudaDevWorkqueueResource {
	unsigned char reserved[40];
};

typedef struct cudaDevSmResourceGroupParams_st {
	unsigned int smCount;
	unsigned int coscheduledSmCount;
	unsigned int preferredCoscheduledSmCount;
	unsigned int flags;
	unsigned int reserved[12];
} cudaDevSmResourceGroupParams;

typedef struct cudaDevResource_st {
	enum cudaDevResourceType type;
	unsigned char _internal_padding[92];
	union {
		struct cudaDevSmResource sm;
		struct cudaDevWorkqueueConfigResource wqConfig;
		struct cudaDevWorkqueueResource wq;
		unsigned char _oversize[40];
	};
	struct cudaDevResource_st *nextResource;
} cudaDevResource;

struct cudaGraphRecaptureCallbackData;

#endif
