/*
 * hostfunc.c - functions of the program's that a stream calls: on an executor
 * thread, where they may not call CUDA.
 */
#include "fronts/cuda/capture.h"
#include "fronts/cuda/stream_private.h"

struct host_function {
	struct gkf_task task;
	CUhostFn function;
	CUstreamCallback callback; /* instead */
	CUstream stream;           /* as the caller named it */
	CUcontext ctx;
	void *data;
	bool was_called;
};

static int run_function(struct gkf_task *task)
{
	struct host_function *h = (struct host_function *)task;

	front_bar(true);
	h->function(h->data);
	front_bar(false);
	return CUDA_SUCCESS;
}

static void call_back(struct host_function *h, CUresult status)
{
	h->was_called = true;
	front_bar(true);
	h->callback(h->stream, status, h->data);
	front_bar(false);
}

static int run_callback(struct gkf_task *task)
{
	call_back((struct host_function *)task, CUDA_SUCCESS);
	return CUDA_SUCCESS;
}

/* A callback hears of a context that has failed; a host function does not. */
static void drop_callback(struct gkf_task *task)
{
	struct host_function *h = (struct host_function *)task;
	CUresult error = stream_error(h->ctx);

	if (!h->was_called && error)
		call_back(h, error);
}

static struct gkf_task *new_host_function(CUcontext ctx,
					  const struct host_function *what)
{
	struct host_function *h = gkf_task_new(sizeof(*h));
	struct gkf_task head;

	if (!h)
		return NULL;
	head = h->task;
	*h = *what;
	h->task = head;
	h->task.work = GKF_WORK_HOST;
	h->task.run = h->callback ? run_callback : run_function;
	h->task.drop = h->callback ? drop_callback : NULL;
	h->ctx = ctx;
	return &h->task;
}

struct gkf_task *hostfunc_make(CUhostFn function, void *data)
{
	return new_host_function(
	    NULL, &(struct host_function){.function = function, .data = data});
}

static CUresult push_host_function(CUstream s, const struct host_function *what)
{
	struct gkf_task *task;
	CUresult r = stream_usable(s);

	if (r)
		return r;
	task = new_host_function(s->ctx, what);
	if (!task)
		return CUDA_ERROR_OUT_OF_MEMORY;
	stream_push(s, task);
	return CUDA_SUCCESS;
}

static CUresult cuLaunchHostFunc_on(enum cuda_row row, bool per_thread,
				    CUstream hStream, CUhostFn fn,
				    void *userData)
{
	CUstream s;
	CUresult r = stream_enter(row, hStream, per_thread, &s);

	if (r)
		return r;
	if (!fn)
		return CUDA_ERROR_INVALID_VALUE;
	if (stream_captures(s))
		return GRAPH_LOCKED(capture_host(s, fn, userData));
	return push_host_function(
	    s, &(struct host_function){.function = fn, .data = userData});
}

BOTH_STREAMS(cuLaunchHostFunc, _ptsz,
	     (CUstream hStream, CUhostFn fn, void *userData),
	     (hStream, fn, userData))

/* How the device waits for the host is nothing that can be seen here. */
static CUresult cuLaunchHostFunc_v2_on(enum cuda_row row, bool per_thread,
				       CUstream hStream, CUhostFn fn,
				       void *userData, unsigned int syncMode)
{
	CUresult r;

	if (syncMode <= CU_HOST_TASK_SPINWAIT)
		return cuLaunchHostFunc_on(row, per_thread, hStream, fn,
					   userData);
	r = front_enter(row);
	return r ? r : CUDA_ERROR_INVALID_VALUE;
}

BOTH_STREAMS(cuLaunchHostFunc_v2, _ptsz,
	     (CUstream hStream, CUhostFn fn, void *userData,
	      unsigned int syncMode),
	     (hStream, fn, userData, syncMode))

static CUresult cuStreamAddCallback_on(enum cuda_row row, bool per_thread,
				       CUstream hStream,
				       CUstreamCallback callback,
				       void *userData, unsigned int flags)
{
	CUstream s;
	CUresult r = stream_enter(row, hStream, per_thread, &s);

	if (r)
		return r;
	if (!callback || flags)
		return CUDA_ERROR_INVALID_VALUE;
	return push_host_function(
	    s, &(struct host_function){
		   .callback = callback, .stream = hStream, .data = userData});
}

BOTH_STREAMS(cuStreamAddCallback, _ptsz,
	     (CUstream hStream, CUstreamCallback callback, void *userData,
	      unsigned int flags),
	     (hStream, callback, userData, flags))
