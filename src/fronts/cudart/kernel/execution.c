/* SPDX-License-Identifier: Apache-2.0 */
/*
 * execution.c - execution contexts: a device's primary context or a green one.
 * The handle is the driver's handle of that context.
 */
#include "fronts/cudart/kernel/function.h"

#if CUDART_MAJOR == 13
/* Finds the CUcontext of an execution context, and whether it is a green
 * context. */
static cudaError_t find_context(cudaExecutionContext_t given,
				CUcontext *ret_context, bool *ret_green)
{
	CUcontext context = (CUcontext)(void *)given;
	CUresult r;

	ENTER();
	REQUIRE(given, cudaErrorInvalidValue);
	r = legacy->cuCtxFromGreenCtx(&context, (CUgreenCtx)(void *)given);
	if (r && r != CUDA_ERROR_INVALID_CONTEXT)
		return runtime_result(r);
	*ret_context = context;
	*ret_green = !r;
	return cudaSuccess;
}

cudaError_t cudaDeviceGetExecutionCtx(cudaExecutionContext_t *ctx, int device)
{
	CUcontext primary;

	ENTER();
	REQUIRE(ctx, cudaErrorInvalidValue);
	TRY(cudart_primary(device, &primary));
	*ctx = (cudaExecutionContext_t)(void *)primary;
	return cudaSuccess;
}

/* Drivers before CUDA 13.3 require the default-stream flag for every green
 * context. */
cudaError_t cudaGreenCtxCreate(cudaExecutionContext_t *phCtx,
			       cudaDevResourceDesc_t desc, int device,
			       unsigned int flags)
{
	CUgreenCtx green;

	ENTER();
	REQUIRE(phCtx && !flags, cudaErrorInvalidValue);
	TRY(runtime_result(legacy->cuGreenCtxCreate(
	    &green, desc, device, CU_GREEN_CTX_DEFAULT_STREAM)));
	*phCtx = (cudaExecutionContext_t)(void *)green;
	return cudaSuccess;
}

/* Fails for the primary context of a device, which cannot be destroyed. */
cudaError_t cudaExecutionCtxDestroy(cudaExecutionContext_t ctx)
{
	ENTER();
	REQUIRE(ctx, cudaErrorInvalidValue);
	return runtime_result(
	    legacy->cuGreenCtxDestroy((CUgreenCtx)(void *)ctx));
}

/* Defines a function of an execution context; `call` uses `context`. */
#define OF_CONTEXT(symbol, params, call)                                       \
	cudaError_t symbol params                                              \
	{                                                                      \
		CUcontext context = NULL;                                      \
		bool green;                                                    \
                                                                               \
		TRY(find_context(ctx, &context, &green));                      \
		return runtime_result(legacy->call);                           \
	}

OF_CONTEXT(cudaExecutionCtxGetDevice, (int *device, cudaExecutionContext_t ctx),
	   cuCtxGetDevice_v2(device, context))
OF_CONTEXT(cudaExecutionCtxGetId,
	   (cudaExecutionContext_t ctx, unsigned long long *ctxId),
	   cuCtxGetId(context, ctxId))
OF_CONTEXT(cudaExecutionCtxGetDevResource,
	   (cudaExecutionContext_t ctx, cudaDevResource *resource,
	    enum cudaDevResourceType type),
	   cuCtxGetDevResource(context, (CUdevResource *)resource,
			       (CUdevResourceType)type))
OF_CONTEXT(cudaExecutionCtxRecordEvent,
	   (cudaExecutionContext_t ctx, cudaEvent_t event),
	   cuCtxRecordEvent(context, event))
OF_CONTEXT(cudaExecutionCtxWaitEvent,
	   (cudaExecutionContext_t ctx, cudaEvent_t event),
	   cuCtxWaitEvent(context, event))
OF_CONTEXT(
    cudaGraphConditionalHandleCreate_v2,
    (cudaGraphConditionalHandle * pHandle_out, cudaGraph_t graph,
     cudaExecutionContext_t ctx, unsigned int defaultLaunchValue,
     unsigned int flags),
    cuGraphConditionalHandleCreate((CUgraphConditionalHandle *)pHandle_out,
				   graph, context, defaultLaunchValue, flags))
OF_CONTEXT(cudaExecutionCtxSynchronize, (cudaExecutionContext_t ctx),
	   cuCtxSynchronize_v2(context))

static CUresult create_in(CUcontext context, cudaStream_t *stream,
			  unsigned flags, int priority)
{
	CUresult r = legacy->cuCtxPushCurrent_v2(context);

	if (r)
		return r;
	r = legacy->cuStreamCreateWithPriority(stream, flags, priority);
	legacy->cuCtxPopCurrent_v2(&context);
	return r;
}

cudaError_t cudaExecutionCtxStreamCreate(cudaStream_t *phStream,
					 cudaExecutionContext_t ctx,
					 unsigned int flags, int priority)
{
	CUcontext context = NULL;
	bool green = false;

	TRY(find_context(ctx, &context, &green));
	return runtime_result(
	    green ? legacy->cuGreenCtxStreamCreate(
			phStream, (CUgreenCtx)(void *)ctx, flags, priority)
		  : create_in(context, phStream, flags, priority));
}

cudaError_t cudaFuncGetParamCount(const void *func, size_t *paramCount)
{
	CUkernel kernel;

	ENTER_CONTEXT();
	TRY(function_kernel(func, &kernel));
	return runtime_result(
	    legacy->cuKernelGetParamCount(kernel, paramCount));
}
#endif
