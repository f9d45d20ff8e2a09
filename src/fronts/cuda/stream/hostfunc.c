/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hostfunc.c - makes tasks that call functions of the program. Such a function
 * runs on an executor thread and must not call CUDA.
 */
#include "fronts/cuda/stream/stream_private.h"

struct host_function {
	struct gkf_task task;
	CUhostFn function;
	/* if not NULL: called instead of `function` */
	CUstreamCallback callback;
	CUstream stream; /* the program's stream argument */
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

/*
 * If the context has an error, callbacks are called and receive it; host
 * functions are not called.
 */
static void drop_callback(struct gkf_task *task)
{
	struct host_function *h = (struct host_function *)task;
	CUresult error = stream_error(h->ctx);

	if (!h->was_called && error)
		call_back(h, error);
}

static struct host_function *new_host_function(void *data)
{
	struct host_function *h = gkf_task_new(sizeof(*h));

	if (!h)
		return NULL;
	h->task.work = GKF_WORK_HOST;
	h->data = data;
	return h;
}

struct gkf_task *hostfunc_make(CUhostFn function, void *data)
{
	struct host_function *h = new_host_function(data);

	if (!h)
		return NULL;
	h->task.run = run_function;
	h->function = function;
	return &h->task;
}

struct gkf_task *callback_make(CUcontext ctx, CUstream named,
			       CUstreamCallback callback, void *data)
{
	struct host_function *h = new_host_function(data);

	if (!h)
		return NULL;
	h->task.run = run_callback;
	h->task.drop = drop_callback;
	h->ctx = ctx;
	h->stream = named;
	h->callback = callback;
	h->was_called = false;
	return &h->task;
}
