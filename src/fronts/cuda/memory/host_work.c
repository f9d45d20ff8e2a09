/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host_work.c - device work that the calling thread does itself, in the order
 * of a stream; tensor libraries run their operators in this way. To observers
 * it looks like a kernel: it waits for its stream, runs when it is the
 * process's turn on the device, and counts as busy time.
 */
#include "fronts/cuda/memory/host_work.h"
#include "fronts/cuda/graph/capture.h"
#include "fronts/cuda/stream/stream_private.h"
#include "machine/store/gate.h"
#include "machine/file/board.h"
#include "machine/file/fault_kinds.h"
#include "machine/trouble/cuda_fault.h"

/* Fails if the stream is being captured: then it cannot be waited for. */
static CUresult wait_for_stream(CUstream s)
{
	struct pending p;
	CUresult r;

	if (stream_captures(s))
		return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	r = stream_usable(s);
	if (r)
		return r;
	if (__builtin_expect(stream_is_done(s), 1))
		return CUDA_SUCCESS;
	stream_pending(s, &p);
	for (unsigned i = 0; i < p.count; i++)
		stream_wait(s->ctx, CU_CTX_SCHED_AUTO, p.ticket[i]);
	return stream_error(s->ctx);
}

/* Returns the error of an injected fault; CUDA_SUCCESS: none. */
static CUresult injected_end(CUcontext ctx, const char *name)
{
	const struct cuda_device *d = ctx->device;

	if (__builtin_expect(
		!(gkf_gate_word(cuda.gate->device[d->index].faults) &
		  GKF_FAULT_BIT(GKF_FAULT_LAUNCH)),
		1))
		return CUDA_SUCCESS;
	return (CUresult)gkf_cuda_fault_launch(cuda.machine, d->index, name);
}

CUresult host_work_begin(CUstream stream, const char *name,
			 struct gpukit_work *work)
{
	CUresult r;
	CUstream s;

	r = stream_enter(ROW_cuLaunchKernel, stream, false, &s);
	if (!r)
		r = wait_for_stream(s);
	if (r)
		return r;
	r = injected_end(s->ctx, name);
	if (r) {
		host_work_fail(s, r);
		return r;
	}
	work->queue = s->queue;
	gkf_queue_take_turn(s->queue);
	return CUDA_SUCCESS;
}

void host_work_end(struct gpukit_work *work)
{
	gkf_queue_give_turn(work->queue);
}

void host_work_fail(CUstream stream, CUresult result)
{
	CUcontext ctx;
	CUstream s;

	if (front_enter_context(ROW_cuLaunchKernel, &ctx) ||
	    stream_find(ctx, stream, false, &s))
		return;
	gkf_cuda_fault_tell(cuda.machine, s->ctx->device->index,
			    s->ctx->device->instance, (unsigned)result);
	streams_fail(s->ctx, (CUresult)result);
}

CUresult host_work_watch(CUstream stream, void (*ended)(void *data), void *data)
{
	CUstream s;
	CUresult r =
	    stream_enter(ROW_cuStreamGetCaptureInfo_v2, stream, false, &s);

	return r ? r : GRAPH_LOCKED(capture_watch(s, ended, data));
}
