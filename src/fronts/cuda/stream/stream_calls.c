/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream_calls.c - creates, destroys and queries streams, and waits for them.
 */
#include "fronts/cuda/graph/capture.h"
#include "fronts/cuda/generation.h"
#include "fronts/cuda/stream/stream_private.h"

static CUresult create_stream(CUcontext ctx, CUstream *phStream, unsigned flags,
			      int priority)
{
	CUstream s;

	if (!phStream || flags & ~(unsigned)CU_STREAM_NON_BLOCKING)
		return CUDA_ERROR_INVALID_VALUE;
	s = stream_new(ctx,
		       flags & CU_STREAM_NON_BLOCKING ? STREAM_NON_BLOCKING
						      : STREAM_BLOCKING,
		       stream_priority(priority));
	if (!s)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*phStream = s;
	return CUDA_SUCCESS;
}

CUresult cuStreamCreate(CUstream *phStream, unsigned int Flags)
{
	ENTER_CONTEXT(cuStreamCreate, ctx);
	return create_stream(ctx, phStream, Flags, STREAM_PRIORITY_LEAST);
}

CUresult cuStreamCreateWithPriority(CUstream *phStream, unsigned int flags,
				    int priority)
{
	ENTER_CONTEXT(cuStreamCreateWithPriority, ctx);
	return create_stream(ctx, phStream, flags, priority);
}

/* Default streams cannot be destroyed. */
static CUresult destroy_stream(CUstream s)
{
	if (!handle_is(s, HANDLE_STREAM) || s->kind == STREAM_LEGACY ||
	    s->thread)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!s->detached)
		stream_destroy(s);
	else if (front_generation->cuda < 13010)
		return CUDA_ERROR_CONTEXT_IS_DESTROYED;
	else
		handle_free(s);
	return CUDA_SUCCESS;
}

CUresult cuStreamDestroy(CUstream hStream)
{
	ENTER(cuStreamDestroy);
	return destroy_stream(hStream);
}

CUresult cuStreamDestroy_v2(CUstream hStream)
{
	ENTER(cuStreamDestroy_v2);
	return destroy_stream(hStream);
}

BOTH_STREAMS(cuStreamQuery, _ptsz, (CUstream hStream), (hStream))
{
	CUstream s;
	CUresult r = stream_enter(row, hStream, per_thread, &s);

	if (!r)
		r = stream_usable(s);
	if (r)
		return r;
	if (!stream_is_done(s))
		return CUDA_ERROR_NOT_READY;
	return stream_error(s->ctx);
}

/*
 * Returns the stream's waiting policy as the corresponding CU_CTX_SCHED_...
 * value.
 */
static unsigned policy_of(CUstream s)
{
	switch (atomic_load_explicit(&s->sync_policy, memory_order_relaxed)) {
	case CU_SYNC_POLICY_SPIN:
		return CU_CTX_SCHED_SPIN;
	case CU_SYNC_POLICY_YIELD:
		return CU_CTX_SCHED_YIELD;
	case CU_SYNC_POLICY_BLOCKING_SYNC:
		return CU_CTX_SCHED_BLOCKING_SYNC;
	default:
		return CU_CTX_SCHED_AUTO;
	}
}

/*
 * Another thread may destroy the stream during the wait, but not its context.
 */
BOTH_STREAMS(cuStreamSynchronize, _ptsz, (CUstream hStream), (hStream))
{
	struct pending p;
	unsigned policy;
	CUcontext ctx;
	CUstream s;
	CUresult r = stream_enter(row, hStream, per_thread, &s);

	if (!r)
		r = stream_usable(s);
	if (r)
		return r;
	ctx = s->ctx;
	policy = policy_of(s);
	stream_pending(s, &p);
	for (unsigned i = 0; i < p.count; i++)
		stream_wait(ctx, policy, p.ticket[i]);
	return stream_error(ctx);
}

/*
 * GETTER(symbol, type of *out, value): an entry point that sets *out, which
 * must not be NULL, to an expression of the stream `s`.
 */
#define GETTER(symbol, type, value)                                            \
	BOTH_STREAMS(symbol, _ptsz, (CUstream hStream, type * out),            \
		     (hStream, out))                                           \
	{                                                                      \
		CUstream s;                                                    \
		CUresult r = stream_enter(row, hStream, per_thread, &s);       \
                                                                               \
		if (r)                                                         \
			return r;                                              \
		if (!out)                                                      \
			return CUDA_ERROR_INVALID_VALUE;                       \
		*out = (value);                                                \
		return CUDA_SUCCESS;                                           \
	}

GETTER(cuStreamGetPriority, int, s->priority)
GETTER(cuStreamGetFlags, unsigned int,
       s->kind == STREAM_NON_BLOCKING ? CU_STREAM_NON_BLOCKING
				      : CU_STREAM_DEFAULT)
GETTER(cuStreamGetCtx, CUcontext, s->ctx)
GETTER(cuStreamGetId, unsigned long long, s->id)
GETTER(cuStreamGetDevice, CUdevice, front_number(s->ctx->device))
#undef GETTER

BOTH_STREAMS(cuStreamGetCtx_v2, _ptsz,
	     (CUstream hStream, CUcontext *pCtx, CUgreenCtx *pGreenCtx),
	     (hStream, pCtx, pGreenCtx))
{
	CUstream s;
	CUresult r = stream_enter(row, hStream, per_thread, &s);

	if (r)
		return r;
	if (!pCtx && !pGreenCtx)
		return CUDA_ERROR_INVALID_VALUE;
	if (pCtx)
		*pCtx = s->ctx->base;
	if (pGreenCtx)
		*pGreenCtx = s->ctx->green;
	return CUDA_SUCCESS;
}

BOTH_STREAMS(cuStreamWaitEvent, _ptsz,
	     (CUstream hStream, CUevent hEvent, unsigned int Flags),
	     (hStream, hEvent, Flags))
{
	struct gkf_ticket ticket;
	CUstream s;
	CUresult r = stream_enter(row, hStream, per_thread, &s);

	if (r)
		return r;
	/* This flag is valid only in captures. */
	if (Flags & ~(unsigned)CU_EVENT_WAIT_EXTERNAL ||
	    (Flags && !stream_captures(s)))
		return CUDA_ERROR_INVALID_VALUE;
	r = event_check(hEvent, &ticket);
	if (r)
		return r;
	if (Flags)
		return GRAPH_LOCKED(
		    capture_event(s, hEvent, CU_GRAPH_NODE_TYPE_WAIT_EVENT));
	if (event_join(hEvent, s, &r))
		return r;
	r = stream_captures(s) ? GRAPH_LOCKED(capture_isolation(s))
			       : stream_usable(s);
	if (r)
		return r;
	stream_begin(s);
	gkf_queue_after(s->queue, ticket);
	r = event_await(s, hEvent);
	stream_unlock(s);
	return r;
}
