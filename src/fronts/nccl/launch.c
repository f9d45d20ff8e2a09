/* launch.c - work becomes kernels on the streams of the program. */
#include "fronts/nccl/front.h"

#include <stdlib.h>
#include <string.h>

/* Larger buffers are shown to other processes. */
#define SHOWN_MIN (64u << 10)

struct run_params {
	uint64_t serial; /* of the communicator */
	struct plan *plan;
};

/* ---- running ---- */

/* A plan that no graph has is done after its kernel. */
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

/* Kernels of a communicator run one after the other, whatever their streams. */
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

	/* It was destroyed or aborted meanwhile, and the plan with it. */
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

/* By function; then of messages, then of several things. */
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

void plan_free(struct plan *plan)
{
	free(plan->stream);
	free(plan->collective);
	free(plan->message);
	free(plan);
}

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

/* Bytes of the buffers of a collective. */
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

/* Kernels of a communicator follow each other, of whatever stream. */
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

/* The others of its streams go on after it. */
static CUresult end_streams(struct ncclComm *c, const CUstream *streams,
			    unsigned count, bool kept)
{
	const struct native_driver *d = native_driver();
	CUevent after = c->last;
	CUresult r = CUDA_SUCCESS;

	/* What a capture records is no event of others. */
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
	/* The kernel may have run, and its plan be gone, before this returns.
	 */
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
