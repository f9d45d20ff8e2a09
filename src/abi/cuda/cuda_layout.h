/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compile-time checks of the sizes of structs that callers pass to the driver.
 * If a size were wrong, the driver would access memory beyond the caller's
 * struct.
 */
#ifndef GPUKIT_ABI_CUDA_LAYOUT_H
#define GPUKIT_ABI_CUDA_LAYOUT_H

#include "cuda_context.h"
#include "cuda_device.h"
#include "cuda_external.h"
#include "cuda_graph.h"
#include "cuda_launch.h"
#include "cuda_v1.h"

#define CUDA_SIZE(type, size)                                                  \
	_Static_assert(sizeof(type) == (size), #type " is not " #size " byte"  \
						     "s")

CUDA_SIZE(CUresult, 4);
CUDA_SIZE(CUdeviceptr, 8);
CUDA_SIZE(CUuuid, 16);
CUDA_SIZE(CUipcMemHandle, 64);
CUDA_SIZE(CUdevprop, 56);
CUDA_SIZE(CUctxCreateParams, 24);
CUDA_SIZE(CUexecAffinityParam, 8);
CUDA_SIZE(CUstreamBatchMemOpParams, 48);
CUDA_SIZE(CUDA_ARRAY_DESCRIPTOR, 24);
CUDA_SIZE(CUDA_ARRAY3D_DESCRIPTOR, 40);
CUDA_SIZE(CUDA_ARRAY_DESCRIPTOR_v1, 16);
CUDA_SIZE(CUDA_ARRAY3D_DESCRIPTOR_v1, 24);
CUDA_SIZE(CUDA_RESOURCE_DESC, 144);
CUDA_SIZE(CUDA_TEXTURE_DESC, 104);
CUDA_SIZE(CUDA_RESOURCE_VIEW_DESC, 112);
CUDA_SIZE(CUtensorMap, 128);
CUDA_SIZE(CUmemLocation, 8);
CUDA_SIZE(CUmemPoolProps, 88);
CUDA_SIZE(CUmemAllocationProp, 32);
CUDA_SIZE(CUmemAccessDesc, 12);
CUDA_SIZE(CUDA_MEMCPY2D, 128);
CUDA_SIZE(CUDA_MEMCPY3D, 200);
CUDA_SIZE(CUDA_MEMCPY2D_v1, 96);
CUDA_SIZE(CUDA_MEMCPY3D_v1, 144);
CUDA_SIZE(CUDA_MEMCPY3D_PEER, 200);
CUDA_SIZE(CUmemcpyAttributes, 24);
CUDA_SIZE(CUDA_MEMCPY3D_BATCH_OP, 112);
CUDA_SIZE(CUlaunchAttributeValue, 64);
CUDA_SIZE(CUlaunchAttribute, 72);
CUDA_SIZE(CUlaunchConfig, 56);
CUDA_SIZE(CUDA_LAUNCH_PARAMS, 56);
CUDA_SIZE(CUgraphNodeParams, 256);
CUDA_SIZE(CUgraphEdgeData, 8);
CUDA_SIZE(CUDA_KERNEL_NODE_PARAMS, 72);
CUDA_SIZE(CUDA_EXTERNAL_MEMORY_HANDLE_DESC, 104);
CUDA_SIZE(CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS, 144);
CUDA_SIZE(CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS, 144);
CUDA_SIZE(CUdevResource, 144);

#undef CUDA_SIZE

_Static_assert(sizeof(void *) == 8, "CUDA has 64-bit systems alone");
_Static_assert(_Alignof(CUtensorMap) == 128, "read by hardware");
_Static_assert(CU_DEVICE_ATTRIBUTE_MAX == 148, "attributes of CUDA 13.0");

#endif
