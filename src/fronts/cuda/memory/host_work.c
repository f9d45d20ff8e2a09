/*
 * host_work.c - work of a device that the calling thread does itself, in the
 * order of a stream: the operators of libraries that work on tensors. To all
 * who look it is a kernel: it waits for its stream, in its process's turn on
 * the device, and is busy time.
 */
#include "fronts/cuda/host_work.h"
#include "fronts/cuda/capture.h"
#include "fronts/cuda/stream_private.h"
#include "machine/store/gate.h"
#include "machine/file/board.h"
#include "machine/file/fault_kinds.h"
#include "machine/trouble/cuda_fault.h"

/* Nobody can wait for what is being captured. */
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

/* What somebody wants this work to end with; CUDA_SUCCESS: with its own end. */
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
	stream_fail(s->ctx, (int)result);
}

CUresult host_work_watch(CUstream stream, void (*ended)(void *data), void *data)
{
	CUstream s;
	CUresult r =
	    stream_enter(ROW_cuStreamGetCaptureInfo_v2, stream, false, &s);

	return r ? r : GRAPH_LOCKED(capture_watch(s, ended, data));
}
