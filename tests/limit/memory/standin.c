/* SPDX-License-Identifier: Apache-2.0 */
/*
 * standin.c - a driver with what the fake one lacks: pools on the host, sparse
 * arrays, graphs whose launches end when the test says so. Its memory has no
 * storage.
 */
#include "limit/memory/standin.h"
#include "abi/cuda/cuda_abi.h"

#include <semaphore.h>
#include <stdatomic.h>
#include <string.h>

#define TOTAL     ((size_t)80 << 30)
#define GRAPH_MIB ((size_t)100 << 20)

#define CONTEXT ((uint64_t)64 << 20)

_Atomic uint64_t standin_held, standin_reserved, standin_used;

/* A launch posts the first semaphore and waits for the second. */
extern sem_t standin_launched, standin_go;
sem_t standin_launched, standin_go;

static _Atomic uint64_t next = 0x700000000000, in_pool;
static char context;

CUresult cuDeviceGetCount(int *count)
{
	*count = 1;
	return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
	*device = ordinal;
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice dev)
{
	(void)dev;
	memset(uuid, 0x11, sizeof *uuid);
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice dev)
{
	return cuDeviceGetUuid(uuid, dev);
}

CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice dev)
{
	(void)dev;
	*bytes = TOTAL;
	return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *pctx, CUdevice dev)
{
	(void)dev;
	*pctx = (CUcontext)(void *)&context;
	standin_held = CONTEXT;
	return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxGetState(CUdevice dev, unsigned int *flags,
				    int *active)
{
	(void)dev;
	*flags = 0;
	*active = standin_held != 0;
	return CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext *pctx)
{
	*pctx = (CUcontext)(void *)&context;
	return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice(CUdevice *device)
{
	*device = 0;
	return CUDA_SUCCESS;
}

CUresult cuStreamIsCapturing(CUstream hStream, CUstreamCaptureStatus *status)
{
	(void)hStream;
	*status = CU_STREAM_CAPTURE_STATUS_NONE;
	return CUDA_SUCCESS;
}

CUresult cuMemGetInfo_v2(size_t *room, size_t *total)
{
	*room = TOTAL - standin_held;
	*total = TOTAL;
	return CUDA_SUCCESS;
}

/* ---- pools ---- */

CUresult cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *props)
{
	(void)props;
	*pool = (CUmemoryPool)(uintptr_t)atomic_fetch_add(&next, 512);
	return CUDA_SUCCESS;
}

CUresult cuMemAllocFromPoolAsync(CUdeviceptr *dptr, size_t bytesize,
				 CUmemoryPool pool, CUstream hStream)
{
	(void)pool, (void)hStream;
	*dptr = atomic_fetch_add(&next, (uint64_t)1 << 40);
	atomic_fetch_add(&in_pool, bytesize);
	return CUDA_SUCCESS;
}

CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attr,
			       void *value)
{
	(void)pool, (void)attr;
	*(cuuint64_t *)value = in_pool;
	return CUDA_SUCCESS;
}

/* ---- memory without addresses; arrays keep what is mapped into them ---- */

static _Atomic uint64_t mapped;

CUresult cuMemCreate(CUmemGenericAllocationHandle *handle, size_t size,
		     const CUmemAllocationProp *prop, unsigned long long flags)
{
	(void)prop, (void)flags;
	*handle = atomic_fetch_add(&next, 512);
	atomic_fetch_add(&standin_held, size);
	return CUDA_SUCCESS;
}

CUresult cuMemMapArrayAsync(CUarrayMapInfo *list, unsigned int count,
			    CUstream hStream)
{
	(void)hStream;
	if (count)
		mapped = list[0].memHandle.memHandle;
	return CUDA_SUCCESS;
}

CUresult cuMulticastBindMem(CUmemGenericAllocationHandle mcHandle,
			    size_t mcOffset,
			    CUmemGenericAllocationHandle memHandle,
			    size_t memOffset, size_t size,
			    unsigned long long flags)
{
	(void)mcHandle, (void)mcOffset, (void)memOffset, (void)size;
	(void)flags;
	mapped = memHandle;
	return CUDA_SUCCESS;
}

/* All memory created in a test has one size. */
CUresult cuMemRelease(CUmemGenericAllocationHandle handle)
{
	if (handle != mapped)
		standin_held = CONTEXT;
	return CUDA_SUCCESS;
}

/* ---- graphs: each has one node, which allocates ---- */

CUresult cuGraphAddMemAllocNode(CUgraphNode *node, CUgraph graph,
				const CUgraphNode *dependencies, size_t count,
				CUDA_MEM_ALLOC_NODE_PARAMS *params)
{
	(void)graph, (void)dependencies, (void)count, (void)params;
	*node = (CUgraphNode)(void *)&context;
	return CUDA_SUCCESS;
}

CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode *nodes, size_t *count)
{
	(void)graph;
	if (nodes)
		*nodes = (CUgraphNode)(void *)&context;
	*count = 1;
	return CUDA_SUCCESS;
}

CUresult cuGraphNodeGetType(CUgraphNode node, CUgraphNodeType *type)
{
	(void)node;
	*type = CU_GRAPH_NODE_TYPE_MEM_ALLOC;
	return CUDA_SUCCESS;
}

CUresult cuGraphMemAllocNodeGetParams(CUgraphNode node,
				      CUDA_MEM_ALLOC_NODE_PARAMS *params)
{
	(void)node;
	*params = (CUDA_MEM_ALLOC_NODE_PARAMS){
	    .poolProps.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0},
	    .bytesize = GRAPH_MIB};
	return CUDA_SUCCESS;
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph,
				     unsigned long long flags)
{
	(void)graph, (void)flags;
	*exec = (CUgraphExec)(uintptr_t)atomic_fetch_add(&next, 512);
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetGraphMemAttribute(CUdevice device,
				      CUgraphMem_attribute attr, void *value)
{
	(void)device;
	*(cuuint64_t *)value = attr == CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT
				   ? standin_reserved
				   : standin_used;
	return CUDA_SUCCESS;
}

CUresult cuDeviceGraphMemTrim(CUdevice device)
{
	(void)device;
	standin_reserved = standin_used;
	return CUDA_SUCCESS;
}

/* When released, it uses idle memory first, then more. */
CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream)
{
	uint64_t used;

	(void)exec, (void)stream;
	sem_post(&standin_launched);
	sem_wait(&standin_go);
	used = atomic_fetch_add(&standin_used, GRAPH_MIB) + GRAPH_MIB;
	if (used > standin_reserved)
		standin_reserved = used;
	return CUDA_SUCCESS;
}
