/*
 * stream.h - putting work into streams: the rules of the legacy default
 * stream, of per-thread ones and of blocking streams are kept here.
 *
 * `stream` is what the caller of CUDA gave: a handle, NULL, CU_STREAM_LEGACY
 * or CU_STREAM_PER_THREAD; per_thread says what NULL means (the _ptds and
 * _ptsz entry points: the calling thread's own stream).
 */
#ifndef GKF_CUDA_STREAM_H
#define GKF_CUDA_STREAM_H

#include "fronts/cuda/front.h"

/*
 * CUDA_ERROR_INVALID_HANDLE (CUDA_ERROR_INVALID_RESOURCE_HANDLE's name here)
 * for what is no stream of ctx. Call it before a task is made.
 */
CUresult stream_check(CUcontext ctx, CUstream stream, bool per_thread);

/*
 * Enters a call about a stream of any context, whose context it answers: with
 * a handle none need be current.
 */
CUresult stream_enter_context(enum cuda_row row, CUstream stream,
			      bool per_thread, CUcontext *ret_ctx);

/*
 * The context to name with a stream where any will do, as copies and waits for
 * events do: that of the handle, else ctx.
 */
CUcontext stream_context(CUcontext ctx, CUstream stream);

/*
 * Puts a task in; it is the stream's from now on. Never fails after
 * stream_check().
 */
CUresult stream_submit(CUcontext ctx, CUstream stream, bool per_thread,
		       struct gkf_task *task);

/* The same, and waits until it is done; answers what it came to. */
CUresult stream_run(CUcontext ctx, CUstream stream, bool per_thread,
		    struct gkf_task *task);

/* Its device has failed: all its streams end with result. No lock is held. */
void stream_fail(CUcontext ctx, int result);

/* Waits for all that a context was given; answers its sticky error. */
CUresult stream_drain(CUcontext ctx);

/*
 * Waits for all that those contexts of the process were given which `concerns`
 * names, one that ends meanwhile included; answers the sticky error of ctx,
 * which may be NULL.
 */
CUresult stream_drain_all(CUcontext ctx,
			  bool (*concerns)(CUcontext other, const void *data),
			  const void *data);

/*
 * Order the caller's default stream in ctx and all streams of a context `of`,
 * which may be ctx. stream_follow(): the stream waits from now on for all that
 * `of` was given. stream_lead(): all streams of `of` wait from now on for all
 * that the stream was given.
 */
void stream_follow(CUcontext ctx, bool per_thread, CUcontext of);
void stream_lead(CUcontext ctx, bool per_thread, CUcontext of);

/* Has no context of the process anything to do? */
bool stream_all_done(void);

/* The number of cuStreamGetId(), never used twice; 0: no such stream. */
uint64_t stream_number(CUcontext ctx, CUstream stream, bool per_thread);

/*
 * Calls back, on an executor thread, when all that is in the stream now is
 * done: for what is freed in stream order. The ticket is done after that.
 */
CUresult stream_after(CUcontext ctx, CUstream stream, bool per_thread,
		      void (*done)(void *data), void *data,
		      struct gkf_ticket *ret_ticket);

#endif
