/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream.h - puts work in streams, according to the rules for the legacy
 * default stream, per-thread default streams and blocking streams.
 *
 * `stream` is the argument of the CUDA call: a handle, NULL, CU_STREAM_LEGACY
 * or CU_STREAM_PER_THREAD. per_thread tells whether NULL means the calling
 * thread's own stream, as it does in the _ptds and _ptsz entry points.
 */
#ifndef GKF_CUDA_STREAM_H
#define GKF_CUDA_STREAM_H

#include "fronts/cuda/context/front.h"

/*
 * Returns CUDA_ERROR_INVALID_HANDLE (the runtime's
 * cudaErrorInvalidResourceHandle) unless `stream` is a stream of ctx. Call it
 * before making a task.
 */
CUresult stream_check(CUcontext ctx, CUstream stream, bool per_thread);

/*
 * Begins a call on a stream of any context and returns that context. If
 * `stream` is a handle, no context needs to be current.
 */
CUresult stream_enter_context(enum cuda_row row, CUstream stream,
			      bool per_thread, CUcontext *ret_ctx);

/*
 * Returns the context of the stream if `stream` is a handle, else ctx. For
 * calls that accept a stream of any context, such as copies and waits for
 * events.
 */
CUcontext stream_context(CUcontext ctx, CUstream stream);

/*
 * Puts a task in a stream, which then owns the task. Never fails if
 * stream_check() succeeded.
 */
CUresult stream_submit(CUcontext ctx, CUstream stream, bool per_thread,
		       struct gkf_task *task);

/* Does the same, but waits until the task is done and returns its result. */
CUresult stream_run(CUcontext ctx, CUstream stream, bool per_thread,
		    struct gkf_task *task);

/* Waits for all work of a context; returns its sticky error. */
CUresult stream_drain(CUcontext ctx);

/*
 * Waits for all work of the contexts for which concerns() is true, even if one
 * of them ends meanwhile. Returns the sticky error of ctx, which may be NULL.
 */
CUresult stream_drain_all(CUcontext ctx,
			  bool (*concerns)(CUcontext other, const void *data),
			  const void *data);

/*
 * Order the caller's default stream in ctx relative to all streams of the
 * context `of`, which may be ctx itself. stream_follow() makes later work of
 * the default stream wait for all work of `of`. stream_lead() makes later work
 * of `of` wait for all work of the default stream.
 */
void stream_follow(CUcontext ctx, bool per_thread, CUcontext of);
void stream_lead(CUcontext ctx, bool per_thread, CUcontext of);

/* Whether all work of all contexts is done. */
bool stream_all_done(void);

/*
 * Returns the id for cuStreamGetId(), which is never reused; 0: no such stream.
 */
uint64_t stream_number(CUcontext ctx, CUstream stream, bool per_thread);

/*
 * Calls done(data) on an executor thread when all work now in the stream is
 * over, to free things in the order of the stream. The ticket is done after
 * that call.
 */
CUresult stream_after(CUcontext ctx, CUstream stream, bool per_thread,
		      void (*done)(void *data), void *data,
		      struct gkf_ticket *ret_ticket);

#endif
