/* SPDX-License-Identifier: Apache-2.0 */
/* hostfunc_calls.c - cuLaunchHostFunc and cuStreamAddCallback. */
#include "fronts/cuda/graph/capture.h"
#include "fronts/cuda/stream/stream_private.h"

/* Pushes a task. NULL means that it could not be allocated. */
static CUresult push_made(CUstream s, struct gkf_task *task)
{
	if (!task)
		return CUDA_ERROR_OUT_OF_MEMORY;
	stream_push(s, task);
	return CUDA_SUCCESS;
}

BOTH_STREAMS(cuLaunchHostFunc, _ptsz,
	     (CUstream hStream, CUhostFn fn, void *userData),
	     (hStream, fn, userData))
{
	CUstream s;
	CUresult r = stream_enter(row, hStream, per_thread, &s);

	if (r)
		return r;
	if (!fn)
		return CUDA_ERROR_INVALID_VALUE;
	if (stream_captures(s))
		return GRAPH_LOCKED(capture_host(s, fn, userData));
	r = stream_usable(s);
	return r ? r : push_made(s, hostfunc_make(fn, userData));
}

/*
 * Ignores syncMode, which says how the device waits for the host. It would have
 * no visible effect here.
 */
BOTH_STREAMS(cuLaunchHostFunc_v2, _ptsz,
	     (CUstream hStream, CUhostFn fn, void *userData,
	      unsigned int syncMode),
	     (hStream, fn, userData, syncMode))
{
	CUresult r;

	if (syncMode <= CU_HOST_TASK_SPINWAIT)
		return cuLaunchHostFunc_on(row, per_thread, hStream, fn,
					   userData);
	r = front_enter(row);
	return r ? r : CUDA_ERROR_INVALID_VALUE;
}

BOTH_STREAMS(cuStreamAddCallback, _ptsz,
	     (CUstream hStream, CUstreamCallback callback, void *userData,
	      unsigned int flags),
	     (hStream, callback, userData, flags))
{
	CUstream s;
	CUresult r = stream_enter(row, hStream, per_thread, &s);

	if (r)
		return r;
	if (!callback || flags)
		return CUDA_ERROR_INVALID_VALUE;
	r = stream_usable(s);
	return r ? r
		 : push_made(
		       s, callback_make(s->ctx, hStream, callback, userData));
}
