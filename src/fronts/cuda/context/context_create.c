/* SPDX-License-Identifier: Apache-2.0 */
/*
 * context_create.c - creates and destroys contexts, and sets the current
 * context of a thread.
 */
#include "fronts/cuda/context/context.h"
#include "fronts/cuda/context/stack.h"

/*
 * Refuses shares of the SMs, which need an MPS server, and sharing with
 * graphics: neither exists here.
 */
static CUresult params_error(int affinities, const CUctxCigParam *cig)
{
	if (affinities < 0)
		return CUDA_ERROR_INVALID_VALUE;
	if (affinities)
		return CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY;
	return cig ? CUDA_ERROR_NOT_SUPPORTED : CUDA_SUCCESS;
}

/* Creates a context and makes it current. */
static CUresult create_context(CUcontext *pctx, unsigned api, unsigned flags,
			       CUdevice dev)
{
	struct cuda_device *d = front_device(dev);
	CUcontext ctx;
	CUresult r;

	if (!pctx || !ctx_flags_ok(flags))
		return CUDA_ERROR_INVALID_VALUE;
	if (!d)
		return CUDA_ERROR_INVALID_DEVICE;
	r = ctx_new(d, flags, &ctx);
	if (r)
		return r;
	ctx->api = api;
	if (!stack_push(ctx)) {
		ctx_end(ctx);
		handle_free(ctx);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	*pctx = ctx;
	return CUDA_SUCCESS;
}

CUresult cuCtxCreate(CUcontext *pctx, unsigned int flags, CUdevice dev)
{
	ENTER(cuCtxCreate);
	return create_context(pctx, 3010, flags, dev);
}

CUresult cuCtxCreate_v2(CUcontext *pctx, unsigned int flags, CUdevice dev)
{
	ENTER(cuCtxCreate_v2);
	return create_context(pctx, 3020, flags, dev);
}

CUresult cuCtxCreate_v3(CUcontext *pctx, CUexecAffinityParam *paramsArray,
			int numParams, unsigned int flags, CUdevice dev)
{
	CUresult r;

	ENTER(cuCtxCreate_v3);
	r = !paramsArray != !numParams ? CUDA_ERROR_INVALID_VALUE
				       : params_error(numParams, NULL);
	return r ? r : create_context(pctx, 3020, flags, dev);
}

CUresult cuCtxCreate_v4(CUcontext *pctx, CUctxCreateParams *ctxCreateParams,
			unsigned int flags, CUdevice dev)
{
	const CUctxCreateParams *p = ctxCreateParams;
	CUresult r = CUDA_SUCCESS;

	ENTER(cuCtxCreate_v4);
	if (p && !p->execAffinityParams != !p->numExecAffinityParams)
		return CUDA_ERROR_INVALID_VALUE;
	if (p)
		r = params_error(p->numExecAffinityParams, p->cigParams);
	return r ? r : create_context(pctx, 3020, flags, dev);
}

/*
 * Destroys an ordinary context. Primary contexts are released instead, and
 * green contexts are destroyed by cuGreenCtxDestroy().
 */
static CUresult destroy_context(CUcontext ctx)
{
	bool current = ctx == ctx_current();

	if (!handle_is(ctx, HANDLE_CONTEXT) || ctx->primary || ctx->green ||
	    !ctx_end(ctx))
		return CUDA_ERROR_INVALID_CONTEXT;
	if (current)
		stack_pop();
	handle_free(ctx);
	return CUDA_SUCCESS;
}

CUresult cuCtxDestroy(CUcontext ctx)
{
	ENTER(cuCtxDestroy);
	return destroy_context(ctx);
}

CUresult cuCtxDestroy_v2(CUcontext ctx)
{
	ENTER(cuCtxDestroy_v2);
	return destroy_context(ctx);
}

CUresult cuCtxAttach(CUcontext *pctx, unsigned int flags)
{
	ENTER_CONTEXT(cuCtxAttach, ctx);
	if (!pctx || flags)
		return CUDA_ERROR_INVALID_VALUE;
	atomic_fetch_add(&ctx->attached, 1);
	*pctx = ctx;
	return CUDA_SUCCESS;
}

/*
 * Accepts only the current context, and destroys it when its last use is
 * detached.
 */
CUresult cuCtxDetach(CUcontext ctx)
{
	CUcontext current;
	CUresult r;

	ENTER(cuCtxDetach);
	r = ctx_of(NULL, &current);
	if (r == CUDA_ERROR_CONTEXT_IS_DESTROYED || ctx != ctx_current() ||
	    !ctx || ctx->primary)
		return CUDA_ERROR_INVALID_CONTEXT;
	return atomic_fetch_sub(&ctx->attached, 1) == 1 ? destroy_context(ctx)
							: CUDA_SUCCESS;
}

/*
 * Whether a context may become current. An inactive primary context may, but
 * then calls fail.
 */
static bool is_usable_context(CUcontext ctx)
{
	return handle_is(ctx, HANDLE_CONTEXT) &&
	       (ctx->primary || atomic_load(&ctx->alive));
}

static CUresult push_context(CUcontext ctx)
{
	if (!is_usable_context(ctx))
		return CUDA_ERROR_INVALID_CONTEXT;
	return stack_push(ctx) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuCtxPushCurrent(CUcontext ctx)
{
	ENTER(cuCtxPushCurrent);
	return push_context(ctx);
}

CUresult cuCtxPushCurrent_v2(CUcontext ctx)
{
	ENTER(cuCtxPushCurrent_v2);
	return push_context(ctx);
}

static CUresult pop_context(CUcontext *pctx)
{
	CUcontext ctx = stack_pop();

	if (!ctx)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (pctx)
		*pctx = ctx;
	return CUDA_SUCCESS;
}

CUresult cuCtxPopCurrent(CUcontext *pctx)
{
	ENTER(cuCtxPopCurrent);
	return pop_context(pctx);
}

CUresult cuCtxPopCurrent_v2(CUcontext *pctx)
{
	ENTER(cuCtxPopCurrent_v2);
	return pop_context(pctx);
}

/* Replaces the top of the stack; if ctx is NULL, only pops it. */
CUresult cuCtxSetCurrent(CUcontext ctx)
{
	ENTER(cuCtxSetCurrent);
	if (ctx && !is_usable_context(ctx))
		return CUDA_ERROR_INVALID_CONTEXT;
	stack_pop();
	return !ctx || stack_push(ctx) ? CUDA_SUCCESS
				       : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuCtxGetCurrent(CUcontext *pctx)
{
	ENTER(cuCtxGetCurrent);
	if (!pctx)
		return CUDA_ERROR_INVALID_VALUE;
	*pctx = ctx_current();
	return CUDA_SUCCESS;
}
