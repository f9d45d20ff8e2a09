/* SPDX-License-Identifier: Apache-2.0 */
/* launch.c - launches plans as kernels on the program's streams. */
#include "fronts/nccl/front.h"
#include "base/assert.h"

#include <stdlib.h>
#include <string.h>

/* The minimum size of buffers that are made accessible to other processes. */
#define SHOWN_MIN (64u << 10)

struct run_params {
	uint64_t serial; /* serial of the communicator */
	struct plan *plan;
};

/* ---- running ---- */

/* Frees a plan after its kernel has run, unless a graph may run it again. */
static void forget_plan(struct ncclComm *c, struct plan *plan)
{
	struct plan **at = &c->plans;

	if (plan->kept)
		return;
	pthread_mutex_lock(&c->lock);
	while (*at && *at != plan)
		at = &(*at)->next;
	if (*at)
		*at = plan->next;
	pthread_mutex_unlock(&c->lock);
	plan_free(plan);
}

static void run_work(struct work *w, struct plan *plan)
{
	bool ok = true;

	for (unsigned i = 0; ok && i < plan->collectives; i++)
		ok = collective_run(w, &plan->collective[i]);
	if (ok && plan->messages)
		messages_run(w, plan);
}

/*
 * Waits for this kernel's turn: the kernels of a communicator run one after the
 * other, whatever their streams. False: the kernel must end.
 */
static bool take_turn_of(struct work *w)
{
	struct timespec soon;

	for (;;) {
		clock_gettime(CLOCK_REALTIME, &soon);
		soon.tv_nsec += 2000000;
		if (soon.tv_nsec >= 1000000000) {
			soon.tv_nsec -= 1000000000;
			soon.tv_sec++;
		}
		if (!pthread_mutex_timedlock(&w->c->turn, &soon))
			return true;
		if (!work_goes_on(w))
			return false;
	}
}

static CUresult run_plan(struct gpukit_run *run)
{
	const struct run_params *p = run->params;
	struct work w = {.run = run, .c = comm_use_serial(p->serial)};

	/* The communicator was destroyed or aborted meanwhile, which also freed
	 * the plan. */
	if (!w.c)
		return CUDA_SUCCESS;
	w.self = meeting_member(&w.c->seat, w.c->rank);
	if (work_goes_on(&w) && take_turn_of(&w)) {
		run_work(&w, p->plan);
		pthread_mutex_unlock(&w.c->turn);
	}
	forget_plan(w.c, p->plan);
	comm_leave(w.c);
	return CUDA_SUCCESS;
}

/*
 * One kernel for each function, then one for messages and one for plans with
 * several collectives, or with both kinds of work.
 */
#define KERNEL(name)                                                           \
	{                                                                      \
		"ncclDevKernel_" name, run_plan, sizeof(struct run_params),    \
		    NULL                                                       \
	}
static struct native_kernel kernels[] = {
    [ALL_GATHER] = KERNEL("AllGather"),
    [ALL_REDUCE] = KERNEL("AllReduce"),
    [ALL_TO_ALL] = KERNEL("AlltoAll"),
    [BROADCAST] = KERNEL("Broadcast"),
    [GATHER] = KERNEL("Gather"),
    [REDUCE] = KERNEL("Reduce"),
    [REDUCE_SCATTER] = KERNEL("ReduceScatter"),
    [SCATTER] = KERNEL("Scatter"),
    [FUNCTIONS] = KERNEL("SendRecv"),
    [FUNCTIONS + 1] = KERNEL("Generic"),
};
static struct native_library library = {
    kernels, sizeof kernels / sizeof *kernels, PTHREAD_MUTEX_INITIALIZER, NULL};

static unsigned kernel_of(const struct plan *plan)
{
	if (!plan->collectives)
		return FUNCTIONS;
	if (plan->collectives == 1 && !plan->messages)
		return plan->collective[0].call.function;
	return FUNCTIONS + 1;
}

/* ---- launching ---- */

void place_show(struct place *place, CUdeviceptr address, uint64_t bytes)
{
	const struct native_driver *d = native_driver();
	CUdeviceptr base = 0;
	CUipcMemHandle handle;

	if (bytes < SHOWN_MIN ||
	    d->cuPointerGetAttribute(
		&base, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, address) ||
	    d->cuIpcGetMemHandle(&handle, base))
		return;
	memcpy(place->handle, &handle, sizeof place->handle);
	place->offset = address - base;
	place->shown = 1;
}

static bool has_foreign_ranks(const struct ncclComm *c)
{
	uint64_t own = meeting_member(&c->seat, c->rank)->process;

	for (unsigned i = 0; i < c->ranks; i++)
		if (meeting_member(&c->seat, i)->process != own)
			return true;
	return false;
}

/* The sizes in bytes of a collective's buffers. */
static void sizes_of(const struct ncclComm *c, const struct call *call,
		     uint64_t *ret_in, uint64_t *ret_out)
{
	uint64_t one = call->count * type_size((int)call->type);
	uint64_t all = one * c->ranks;

	*ret_in = call->function == ALL_TO_ALL ||
			  call->function == REDUCE_SCATTER ||
			  call->function == SCATTER
		      ? all
		      : one;
	*ret_out = call->function == ALL_GATHER ||
			   call->function == ALL_TO_ALL ||
			   call->function == GATHER
		       ? all
		       : one;
}

static void show_plan(const struct ncclComm *c, struct plan *plan)
{
	uint64_t in, out;

	if (!has_foreign_ranks(c))
		return;
	for (unsigned i = 0; i < plan->collectives; i++) {
		struct collective *what = &plan->collective[i];

		sizes_of(c, &what->call, &in, &out);
		if (what->in)
			place_show(&what->call.in, what->in, in);
		if (what->out && (what->call.function == ALL_REDUCE ||
				  what->call.function == REDUCE))
			place_show(&what->call.out, what->out, out);
	}
	for (unsigned i = 0; i < plan->messages; i++)
		if (plan->message[i].sends)
			place_show(&plan->message[i].at,
				   plan->message[i].address,
				   plan->message[i].bytes);
}

/*
 * Makes the plan's first stream wait for the communicator's last kernel and for
 * the plan's other streams.
 */
static CUresult order_streams(struct ncclComm *c, const struct plan *plan)
{
	const struct native_driver *d = native_driver();
	CUresult r = CUDA_SUCCESS;

	if (c->launched && c->last_stream != plan->stream[0] && !plan->kept)
		r = d->cuStreamWaitEvent(plan->stream[0], c->last, 0);
	for (unsigned i = 1; !r && i < plan->streams; i++) {
		CUevent before;

		r = d->cuEventCreate(&before, CU_EVENT_DISABLE_TIMING);
		if (r)
			break;
		r = d->cuEventRecord(before, plan->stream[i]);
		if (!r)
			r = d->cuStreamWaitEvent(plan->stream[0], before, 0);
		d->cuEventDestroy_v2(before);
	}
	return r;
}

/* Makes the plan's other streams wait for the kernel. */
static CUresult end_streams(struct ncclComm *c, const CUstream *streams,
			    unsigned count, bool kept)
{
	const struct native_driver *d = native_driver();
	CUevent after = c->last;
	CUresult r = CUDA_SUCCESS;

	/* An event recorded in a capture cannot be used outside the capture. */
	if (kept && count > 1)
		r = d->cuEventCreate(&after, CU_EVENT_DISABLE_TIMING);
	if (!r && (!kept || count > 1))
		r = d->cuEventRecord(after, streams[0]);
	for (unsigned i = 1; !r && i < count; i++)
		r = d->cuStreamWaitEvent(streams[i], after, 0);
	if (after != c->last)
		d->cuEventDestroy_v2(after);
	if (!kept) {
		c->launched = true;
		c->last_stream = streams[0];
	}
	return r;
}

static CUresult launch_ordered(struct ncclComm *c, struct plan *plan)
{
	struct run_params params = {c->serial, plan};
	/* Copies of the plan's members, as the kernel may free the plan before
	 * this function returns. */
	unsigned count = plan->streams;
	bool kept = plan->kept;
	CUstream *streams = plan->stream;
	CUresult r = order_streams(c, plan);

	if (r) {
		plan_free(plan);
		return r;
	}
	plan->stream = NULL;
	pthread_mutex_lock(&c->lock);
	plan->next = c->plans;
	c->plans = plan;
	pthread_mutex_unlock(&c->lock);
	r = native_launch(&library, kernel_of(plan), streams[0], &params);
	if (r)
		forget_plan(c, plan);
	else
		r = end_streams(c, streams, count, kept);
	free(streams);
	return r;
}

ncclResult_t launch_plan(struct ncclComm *c, struct plan *plan)
{
	const struct native_driver *d = native_driver();
	CUstreamCaptureStatus capture = CU_STREAM_CAPTURE_STATUS_NONE;
	CUcontext before = NULL;
	CUresult r = d->cuCtxGetCurrent(&before);

	GK_ASSERT(plan->streams);
	if (!r && before != c->ctx)
		r = d->cuCtxSetCurrent(c->ctx);
	if (!r)
		r = d->cuStreamIsCapturing(plan->stream[0], &capture);
	if (r) {
		plan_free(plan);
	} else {
		plan->kept = capture != CU_STREAM_CAPTURE_STATUS_NONE;
		show_plan(c, plan);
		r = launch_ordered(c, plan);
	}
	if (before != c->ctx)
		d->cuCtxSetCurrent(before);
	return error_of_cuda(r, "a launch of NCCL's");
}
