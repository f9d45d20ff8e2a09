/* SPDX-License-Identifier: Apache-2.0 */
/*
 * context_state.c - gets and sets the flags and preferences of a context, and
 * waits for all its work.
 */
#include "fronts/cuda/graph/capture.h"
#include "fronts/cuda/context/context.h"
#include "fronts/cuda/context/green.h"

/* Priorities of streams; a stream with a lower number has a higher priority. */
#define PRIORITY_LEAST    0
#define PRIORITY_GREATEST (-5)

CUresult cuCtxGetDevice(CUdevice *device)
{
	ENTER_CONTEXT(cuCtxGetDevice, ctx);
	if (!device)
		return CUDA_ERROR_INVALID_VALUE;
	*device = front_number(ctx->device);
	return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice_v2(CUdevice *device, CUcontext ctx)
{
	CUcontext of;
	CUresult r;

	ENTER(cuCtxGetDevice_v2);
	r = ctx_of(ctx, &of);
	if (r)
		return r;
	if (!device)
		return CUDA_ERROR_INVALID_VALUE;
	*device = front_number(of->device);
	return CUDA_SUCCESS;
}

CUresult cuCtxGetFlags(unsigned int *flags)
{
	ENTER_CONTEXT(cuCtxGetFlags, ctx);
	if (!flags)
		return CUDA_ERROR_INVALID_VALUE;
	*flags = atomic_load(&ctx->flags);
	return CUDA_SUCCESS;
}

CUresult cuCtxSetFlags(unsigned int flags)
{
	ENTER_CONTEXT(cuCtxSetFlags, ctx);
	if (!ctx_flags_ok(flags))
		return CUDA_ERROR_INVALID_VALUE;
	atomic_store(&ctx->flags, flags);
	if (ctx->primary)
		atomic_store(&ctx->device->primary_flags, flags);
	return CUDA_SUCCESS;
}

CUresult cuCtxGetId(CUcontext ctx, unsigned long long *ctxId)
{
	CUcontext of;
	CUresult r;

	ENTER(cuCtxGetId);
	r = ctx_of(ctx, &of);
	if (r)
		return r;
	if (!ctxId)
		return CUDA_ERROR_INVALID_VALUE;
	*ctxId = of->id;
	return CUDA_SUCCESS;
}

CUresult cuCtxGetApiVersion(CUcontext ctx, unsigned int *version)
{
	CUcontext of;
	CUresult r;

	ENTER(cuCtxGetApiVersion);
	r = ctx_of(ctx, &of);
	if (r)
		return r;
	if (!version)
		return CUDA_ERROR_INVALID_VALUE;
	*version = of->api;
	return CUDA_SUCCESS;
}

CUresult cuCtxSynchronize(void)
{
	CUresult r;

	ENTER_CONTEXT(cuCtxSynchronize, ctx);
	r = capture_permit_context(ctx);
	return r ? r : green_drain(ctx);
}

CUresult cuCtxSynchronize_v2(CUcontext ctx)
{
	CUcontext of;
	CUresult r;

	ENTER(cuCtxSynchronize_v2);
	r = ctx_of(ctx, &of);
	if (!r)
		r = capture_permit_context(of);
	return r ? r : green_drain(of);
}

CUresult cuCtxGetCacheConfig(CUfunc_cache *pconfig)
{
	ENTER_CONTEXT(cuCtxGetCacheConfig, ctx);
	if (!pconfig)
		return CUDA_ERROR_INVALID_VALUE;
	*pconfig = (CUfunc_cache)atomic_load(&ctx->cache_config);
	return CUDA_SUCCESS;
}

CUresult cuCtxSetCacheConfig(CUfunc_cache config)
{
	ENTER_CONTEXT(cuCtxSetCacheConfig, ctx);
	if ((unsigned)config > CU_FUNC_CACHE_PREFER_EQUAL)
		return CUDA_ERROR_INVALID_VALUE;
	atomic_store(&ctx->cache_config, (unsigned)config);
	return CUDA_SUCCESS;
}

/*
 * Since compute capability 5.0, banks of shared memory are always four bytes
 * wide.
 */
CUresult cuCtxGetSharedMemConfig(CUsharedconfig *pConfig)
{
	ENTER_CONTEXT(cuCtxGetSharedMemConfig, ctx);
	(void)ctx;
	if (!pConfig)
		return CUDA_ERROR_INVALID_VALUE;
	*pConfig = CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE;
	return CUDA_SUCCESS;
}

CUresult cuCtxSetSharedMemConfig(CUsharedconfig config)
{
	ENTER_CONTEXT(cuCtxSetSharedMemConfig, ctx);
	(void)ctx;
	return (unsigned)config <= CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE
		   ? CUDA_SUCCESS
		   : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuCtxGetStreamPriorityRange(int *leastPriority, int *greatestPriority)
{
	ENTER_CONTEXT(cuCtxGetStreamPriorityRange, ctx);
	(void)ctx;
	if (leastPriority)
		*leastPriority = PRIORITY_LEAST;
	if (greatestPriority)
		*greatestPriority = PRIORITY_GREATEST;
	return CUDA_SUCCESS;
}

/*
 * Only an MPS server can limit a context to a share of the SMs, and there is
 * none here.
 */
CUresult cuCtxGetExecAffinity(CUexecAffinityParam *pExecAffinity,
			      CUexecAffinityType type)
{
	ENTER_CONTEXT(cuCtxGetExecAffinity, ctx);
	(void)ctx;
	if (!pExecAffinity || (unsigned)type >= CU_EXEC_AFFINITY_TYPE_MAX)
		return CUDA_ERROR_INVALID_VALUE;
	return CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY;
}
