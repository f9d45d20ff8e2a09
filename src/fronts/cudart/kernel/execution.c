/*
 * execution.c - execution contexts: the primary context of a device, or a green
 * one. A handle is the driver's own of either.
 */
#include "fronts/cudart/function.h"

#if CUDART_MAJOR == 13
/* As the context that the driver's calls take; is it a green one? */
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

/* Drivers before CUDA 13.3 want a default stream in each. */
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

/* The primary context of a device is not the caller's to destroy. */
cudaError_t cudaExecutionCtxDestroy(cudaExecutionContext_t ctx)
{
	ENTER();
	REQUIRE(ctx, cudaErrorInvalidValue);
	return runtime_result(
	    legacy->cuGreenCtxDestroy((CUgreenCtx)(void *)ctx));
}

/* A function of a context and more: what `call` says of `context`. */
#define OF_CONTEXT(symbol, params, call)                                       \
	cudaError_t symbol params                                              \
	{                                                                      \
		CUcontext context;                                             \
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
	CUcontext context;
	bool green;

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
