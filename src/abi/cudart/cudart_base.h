/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CUDA runtime: handles, dim3, cudaError_t.
 */
#ifndef GPUKIT_ABI_CUDART_BASE_H
#define GPUKIT_ABI_CUDART_BASE_H

#include "abi/cuda/cuda_base.h"

#if CUDART_MAJOR == 12
#define CUDART_VERSION 12090
#else
#define CUDART_VERSION 13000
#endif

enum cudaError {
#define CUDART_ERROR(name, value, text) name = (value),
#include "cudart_error.def"
#undef CUDART_ERROR
};

struct uint3 {
	unsigned int x;
	unsigned int y;
	unsigned int z;
};

typedef struct uint3 uint3;
struct dim3 {
	unsigned int x;
	unsigned int y;
	unsigned int z;
};

typedef struct dim3 dim3;
typedef void (*cudaHostFn_t)(void *userData);
typedef struct CUuuid_st cudaUUID_t;
typedef enum cudaError cudaError_t;
typedef struct CUstream_st *cudaStream_t;
typedef struct CUevent_st *cudaEvent_t;
typedef struct CUgraph_st *cudaGraph_t;
typedef struct CUgraphNode_st *cudaGraphNode_t;
typedef struct CUuserObject_st *cudaUserObject_t;
typedef struct CUfunc_st *cudaFunction_t;
typedef struct CUkern_st *cudaKernel_t;
typedef struct CUlib_st *cudaLibrary_t;
typedef struct CUmemPoolHandle_st *cudaMemPool_t;
typedef struct CUgraphExec_st *cudaGraphExec_t;
typedef struct CUgraphDeviceUpdatableNode_st *cudaGraphDeviceNode_t;
typedef void (*cudaStreamCallback_t)(cudaStream_t stream, cudaError_t status,
				     void *userData);
#endif
