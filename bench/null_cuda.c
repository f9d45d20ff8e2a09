/* SPDX-License-Identifier: Apache-2.0 */
/*
 * null_cuda.c - a driver that does next to nothing, so that what a call costs
 * is what stands before it: one GPU, memory by counting, launches of nothing.
 * What is not here succeeds without doing anything (null_rest.c).
 */
#include "abi/cuda/cuda_abi.h"

#include <stdatomic.h>
#include <string.h>

#define TOTAL ((size_t)80 << 30)
#define GRAIN 512 /* between the addresses of allocations */

static _Atomic CUdeviceptr next = (CUdeviceptr)0x700000000000;
static char context;

CUresult cuInit(unsigned int flags)
{
	(void)flags;
	return CUDA_SUCCESS;
}

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
	return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxGetState(CUdevice dev, unsigned int *flags,
				    int *active)
{
	(void)dev;
	*flags = 0;
	*active = 1;
	return CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext *pctx)
{
	*pctx = (CUcontext)(void *)&context;
	return CUDA_SUCCESS;
}

CUresult cuCtxPopCurrent_v2(CUcontext *pctx)
{
	return pctx ? cuCtxGetCurrent(pctx) : CUDA_SUCCESS;
}

CUresult cuCtxGetDevice(CUdevice *device)
{
	*device = 0;
	return CUDA_SUCCESS;
}

CUresult cuStreamGetCtx(CUstream hStream, CUcontext *pctx)
{
	(void)hStream;
	return cuCtxGetCurrent(pctx);
}

CUresult cuStreamIsCapturing(CUstream hStream, CUstreamCaptureStatus *status)
{
	(void)hStream;
	*status = CU_STREAM_CAPTURE_STATUS_NONE;
	return CUDA_SUCCESS;
}

CUresult cuEventCreate(CUevent *phEvent, unsigned int flags)
{
	(void)flags;
	*phEvent = (CUevent)(void *)&context;
	return CUDA_SUCCESS;
}

CUresult cuEventElapsedTime(float *ms, CUevent hStart, CUevent hEnd)
{
	(void)hStart;
	(void)hEnd;
	*ms = 0;
	return CUDA_SUCCESS;
}

CUresult cuEventElapsedTime_v2(float *ms, CUevent hStart, CUevent hEnd)
{
	return cuEventElapsedTime(ms, hStart, hEnd);
}

CUresult
cuImportExternalMemory(CUexternalMemory *extMem_out,
		       const CUDA_EXTERNAL_MEMORY_HANDLE_DESC *memHandleDesc)
{
	(void)memHandleDesc;
	*extMem_out = (CUexternalMemory)atomic_fetch_add(&next, GRAIN);
	return CUDA_SUCCESS;
}

CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attr,
			       void *value)
{
	(void)pool;
	(void)attr;
	*(cuuint64_t *)value = 0;
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetGraphMemAttribute(CUdevice device,
				      CUgraphMem_attribute attr, void *value)
{
	(void)device;
	(void)attr;
	*(cuuint64_t *)value = 0;
	return CUDA_SUCCESS;
}

CUresult cuMemGetInfo_v2(size_t *free, size_t *total)
{
	*free = TOTAL;
	*total = TOTAL;
	return CUDA_SUCCESS;
}

CUresult cuMemAlloc_v2(CUdeviceptr *dptr, size_t bytesize)
{
	size_t size = (bytesize + GRAIN - 1) / GRAIN * GRAIN;

	*dptr = atomic_fetch_add_explicit(&next, size, memory_order_relaxed);
	return CUDA_SUCCESS;
}
