/* SPDX-License-Identifier: Apache-2.0 */
/*
 * capture_permit.c - owns the list of captures and the capture modes of
 * threads; makes captures invalid when a prohibited function is called.
 */
#include "fronts/cuda/graph/capture_private.h"
#include "base/assert.h"

struct capture *captures;
_Atomic unsigned captures_open;

static _Thread_local __attribute__((tls_model("initial-exec"))) struct {
	uint64_t number;
	CUstreamCaptureMode mode;
} of_thread;

uint64_t capture_thread(void)
{
	static _Atomic uint64_t last;

	if (!of_thread.number)
		of_thread.number = atomic_fetch_add(&last, 1) + 1;
	return of_thread.number;
}

CUstreamCaptureMode *capture_mode(void)
{
	return &of_thread.mode;
}

CUresult capture_invalidate(struct capture *c, CUresult why)
{
	GK_ASSERT(gk_lock_held(&graph_mutex));
	if (c->is_invalid)
		return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
	c->is_invalid = true;
	return why;
}

/*
 * Invalidates every capture that includes a stream of the context or, if
 * blocking_only is set, a blocking stream of it. Returns `why`.
 */
static CUresult invalidate_in(CUcontext ctx, bool blocking_only, CUresult why)
{
	for (struct capture *c = captures; c; c = c->next)
		for (CUstream s = c->streams; s; s = s->next_captured)
			if (s->ctx == ctx &&
			    (s->kind == STREAM_BLOCKING || !blocking_only))
				c->is_invalid = true;
	return why;
}

static CUresult refuse_stream(CUstream s)
{
	struct capture *c = s->capture;

	if (c)
		return capture_invalidate(
		    c, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
	return s->kind == STREAM_LEGACY && s->of->capturing_blocking
		   ? invalidate_in(s->ctx, true,
				   CUDA_ERROR_STREAM_CAPTURE_IMPLICIT)
		   : CUDA_SUCCESS;
}

CUresult stream_usable(CUstream s)
{
	return capture_is_open() ? GRAPH_LOCKED(refuse_stream(s))
				 : CUDA_SUCCESS;
}

CUresult capture_permit_context(CUcontext ctx)
{
	struct streams *streams = streams_of(ctx);

	if (!capture_is_open() ||
	    (!streams->capturing_blocking && !streams->capturing_others))
		return CUDA_SUCCESS;
	return GRAPH_LOCKED(
	    invalidate_in(ctx, false, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED));
}

/*
 * The functions that cannot be captured: most of those that allocate, free or
 * wait. `legacy`: the function uses the legacy stream.
 */
static const struct {
	enum cuda_row row;
	bool legacy;
} unsafe[] = {
#define OF_SAFE(symbol, stream)
#define OF_UNSAFE(symbol, stream)        {ROW_##symbol, false},
#define OF_UNSAFE_LEGACY(symbol, stream) {ROW_##symbol, USES_##stream},
#define USES_LEGACY                      true
#define USES_PTDS                        false
#define USES_PTSZ                        false
#define CUDA_SYMBOL(symbol, base, since, stream, limit, capture, ...)          \
	OF_##capture(symbol, stream)
#include "abi/cuda/cuda_symbols.def"
};

static bool is_prohibited(const struct capture *c)
{
	bool own = c->thread == capture_thread();

	if (own)
		return c->mode != CU_STREAM_CAPTURE_MODE_RELAXED;
	return c->mode == CU_STREAM_CAPTURE_MODE_GLOBAL &&
	       *capture_mode() == CU_STREAM_CAPTURE_MODE_GLOBAL;
}

static CUresult refuse_call(bool legacy)
{
	CUcontext ctx = ctx_current();
	CUresult r = CUDA_SUCCESS;

	if (legacy && ctx && handle_is(ctx, HANDLE_CONTEXT) &&
	    streams_of(ctx) && streams_of(ctx)->capturing_blocking)
		return invalidate_in(ctx, true,
				     CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
	if (*capture_mode() == CU_STREAM_CAPTURE_MODE_RELAXED)
		return r;
	for (struct capture *c = captures; c; c = c->next)
		if (is_prohibited(c))
			r = capture_invalidate(
			    c, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
	return r;
}

CUresult capture_permit_call(enum cuda_row row)
{
	for (size_t i = 0; i < sizeof unsafe / sizeof *unsafe; i++)
		if (unsafe[i].row == row)
			return GRAPH_LOCKED(refuse_call(unsafe[i].legacy));
	return CUDA_SUCCESS;
}
