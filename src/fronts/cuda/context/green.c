/* SPDX-License-Identifier: Apache-2.0 */
/*
 * green.c - cuGreenCtx*: contexts with some of a device's SMs. A green context
 * retains the primary context, whose memory and code it uses, and has streams
 * of its own.
 */
#include "fronts/cuda/context/green.h"
#include "fronts/cuda/context/context.h"
#include "fronts/cuda/generation.h"
#include "fronts/cuda/module/module.h"
#include "fronts/cuda/stream/stream_private.h"
#include "machine/file/board.h"

#include <pthread.h>
#include <string.h>

static void list_sms(CUgreenCtx g)
{
	for (unsigned sm = 0; sm < GREEN_SMS_MAX; sm++)
		if (green_has(&g->share.sms, sm))
			g->sm[g->sm_count++] = (uint16_t)sm;
}

/*
 * Creates the CUcontext of a green context: like the primary context, but with
 * other streams.
 */
static CUresult open_derived(CUgreenCtx g, CUcontext base)
{
	CUcontext ctx = handle_new(HANDLE_CONTEXT, sizeof *ctx);
	CUresult r;

	if (!ctx)
		return CUDA_ERROR_OUT_OF_MEMORY;
	ctx->device = base->device;
	ctx->base = base;
	ctx->green = g;
	ctx->strike = base->strike;
	ctx->strike_seen = base->strike_seen;
	ctx->api = base->api;
	ctx_number(ctx);
	atomic_store(&ctx->flags, atomic_load(&base->flags));
	atomic_store(&ctx->sticky, ctx_error(base));
	r = stream_part.open(ctx);
	if (r) {
		handle_free(ctx);
		return r;
	}
	atomic_store(&ctx->alive, true);
	g->ctx = ctx;
	return CUDA_SUCCESS;
}

static CUresult create_green(CUgreenCtx *phCtx, const struct green_share *share)
{
	CUgreenCtx g = handle_new(HANDLE_GREEN, sizeof *g);
	CUcontext base;
	CUresult r;

	if (!g)
		return CUDA_ERROR_OUT_OF_MEMORY;
	g->share = *share;
	list_sms(g);
	r = ctx_retain_primary(share->device, &base);
	if (!r) {
		r = open_derived(g, base);
		if (r)
			ctx_release_primary(share->device);
	}
	if (r) {
		handle_free(g);
		return r;
	}
	atomic_fetch_add(&base->greens, 1);
	green_enlist(g);
	*phCtx = g;
	return CUDA_SUCCESS;
}

/* Before CUDA 13.3 the flag for a default stream was mandatory. */
CUresult cuGreenCtxCreate(CUgreenCtx *phCtx, CUdevResourceDesc desc,
			  CUdevice dev, unsigned int flags)
{
	struct green_share share;

	ENTER(cuGreenCtxCreate);
	if (!phCtx || flags & ~(unsigned)CU_GREEN_CTX_DEFAULT_STREAM ||
	    (!flags && front_generation->cuda < 13030))
		return CUDA_ERROR_INVALID_VALUE;
	if (!front_device(dev))
		return CUDA_ERROR_INVALID_DEVICE;
	if (!green_described(desc, &share) || share.device != dev)
		return CUDA_ERROR_INVALID_VALUE;
	share.has_default = flags & CU_GREEN_CTX_DEFAULT_STREAM;
	return create_green(phCtx, &share);
}

CUresult cuGreenCtxDestroy(CUgreenCtx hCtx)
{
	ENTER(cuGreenCtxDestroy);
	if (!handle_is(hCtx, HANDLE_GREEN) || !green_take_out(hCtx))
		return CUDA_ERROR_INVALID_CONTEXT;
	green_end(hCtx->ctx);
	ctx_release_primary(hCtx->share.device);
	handle_free(hCtx->ctx);
	handle_free(hCtx);
	return CUDA_SUCCESS;
}

/* Begins a call on a live green context. */
static CUresult enter_green(enum cuda_row row, CUgreenCtx g, CUcontext *ret_ctx)
{
	CUresult r = front_enter(row);

	if (r)
		return r;
	if (!handle_is(g, HANDLE_GREEN))
		return CUDA_ERROR_INVALID_CONTEXT;
	if (!atomic_load(&g->ctx->alive))
		return CUDA_ERROR_CONTEXT_IS_DESTROYED;
	*ret_ctx = g->ctx;
	return ctx_error(g->ctx);
}

CUresult cuCtxFromGreenCtx(CUcontext *pContext, CUgreenCtx hCtx)
{
	CUcontext ctx;
	CUresult r = enter_green(ROW_cuCtxFromGreenCtx, hCtx, &ctx);

	if (r)
		return r;
	if (!pContext)
		return CUDA_ERROR_INVALID_VALUE;
	*pContext = ctx;
	return CUDA_SUCCESS;
}

CUresult cuGreenCtxGetDevResource(CUgreenCtx hCtx, CUdevResource *resource,
				  CUdevResourceType type)
{
	CUcontext ctx;
	CUresult r = enter_green(ROW_cuGreenCtxGetDevResource, hCtx, &ctx);

	if (r)
		return r;
	return resource ? green_tell(&hCtx->share, ctx->id, type, resource)
			: CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGreenCtxStreamCreate(CUstream *phStream, CUgreenCtx greenCtx,
				unsigned int flags, int priority)
{
	CUcontext ctx;
	CUstream s;
	CUresult r = enter_green(ROW_cuGreenCtxStreamCreate, greenCtx, &ctx);

	if (r)
		return r;
	if (!phStream || flags != CU_STREAM_NON_BLOCKING)
		return CUDA_ERROR_INVALID_VALUE;
	s = stream_new(ctx, STREAM_NON_BLOCKING, stream_priority(priority));
	if (!s)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*phStream = s;
	return CUDA_SUCCESS;
}

CUresult cuGreenCtxRecordEvent(CUgreenCtx hCtx, CUevent hEvent)
{
	CUcontext ctx;
	CUresult r = enter_green(ROW_cuGreenCtxRecordEvent, hCtx, &ctx);

	return r ? r : event_record_all(ctx, hEvent);
}

CUresult cuGreenCtxWaitEvent(CUgreenCtx hCtx, CUevent hEvent)
{
	CUcontext ctx;
	CUresult r = enter_green(ROW_cuGreenCtxWaitEvent, hCtx, &ctx);

	return r ? r : event_hold_back(ctx, hEvent);
}

CUresult cuGreenCtxGetId(CUgreenCtx greenCtx, unsigned long long *greenCtxId)
{
	CUcontext ctx;
	CUresult r;

	if (greenCtx) {
		r = enter_green(ROW_cuGreenCtxGetId, greenCtx, &ctx);
	} else {
		r = front_enter_context(ROW_cuGreenCtxGetId, &ctx);
		if (!r && !ctx->green)
			r = CUDA_ERROR_INVALID_CONTEXT;
	}
	if (r)
		return r;
	if (!greenCtxId)
		return CUDA_ERROR_INVALID_VALUE;
	*greenCtxId = ctx->id;
	return CUDA_SUCCESS;
}

CUresult cuStreamGetGreenCtx(CUstream hStream, CUgreenCtx *phCtx)
{
	CUstream s;
	CUresult r = stream_enter(ROW_cuStreamGetGreenCtx, hStream, false, &s);

	if (r)
		return r;
	if (!phCtx)
		return CUDA_ERROR_INVALID_VALUE;
	*phCtx = s->ctx->green;
	return CUDA_SUCCESS;
}
