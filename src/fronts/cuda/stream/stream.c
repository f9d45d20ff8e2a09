/*
 * stream.c - the streams of a context: which one a caller means, and what
 * waits for what.
 */
#include "device/queue.h"
#include "fronts/cuda/capture.h"
#include "fronts/cuda/generation.h"
#include "fronts/cuda/green.h"
#include "fronts/cuda/stream_private.h"
#include "machine/trouble/cuda_fault.h"

#include <stdlib.h>

/* ---- coming and going ---- */

/* On an executor thread, which holds no lock. */
static void fail_context(void *owner, int result)
{
	streams_fail(owner, (CUresult)result);
}

void stream_fail(CUcontext ctx, int result)
{
	fail_context(ctx, result);
}

static uint64_t slowness_of(void *owner)
{
	return gkf_cuda_fault_slowness(cuda.machine,
				       ((CUcontext)owner)->device->index);
}

static struct gkf_queue *queue_new(CUcontext ctx, int priority)
{
	struct gkf_queue_ask ask = {
	    .machine = cuda.machine,
	    .device = ctx->device->index,
	    .slot = ctx->device->slot,
	    .priority = priority,
	    .owner = ctx,
	    .failed = fail_context,
	    .strike = ctx->strike,
	    .strike_seen = ctx->strike_seen,
	    .slowness = slowness_of,
	};
	struct gkf_queue *queue;

	return gkf_queue_new(&ask, &queue) ? NULL : queue;
}

static void link_stream(CUstream s)
{
	struct streams *streams = s->of;

	s->next = streams->all;
	s->at = &streams->all;
	if (s->next)
		s->next->at = &s->next;
	streams->all = s;
}

CUstream stream_new(CUcontext ctx, enum stream_kind kind, int priority)
{
	static _Atomic uint64_t last_id;
	struct streams *streams = streams_of(ctx);
	CUstream s = handle_new(HANDLE_STREAM, sizeof(*s));

	if (!s)
		return NULL;
	s->queue = queue_new(ctx, priority);
	if (!s->queue) {
		handle_free(s);
		return NULL;
	}
	s->of = streams;
	s->ctx = ctx;
	s->kind = kind;
	s->priority = priority;
	s->id = atomic_fetch_add(&last_id, 1) + 1;
	s->sync_policy = CU_SYNC_POLICY_AUTO;
	pthread_mutex_lock(&streams->lock);
	link_stream(s);
	if (streams->hold)
		gkf_queue_after(s->queue, gkf_queue_ticket(streams->hold));
	pthread_mutex_unlock(&streams->lock);
	return s;
}

static void remove_active(CUstream s)
{
	CUstream *at = &s->of->active;

	while (*at && *at != s)
		at = &(*at)->next_active;
	if (*at)
		*at = s->next_active;
	s->is_active = false;
}

static void prune_left(struct streams *streams)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < streams->left_count; i++)
		if (!gkf_ticket_done(streams->left[i].ticket))
			streams->left[kept++] = streams->left[i];
	streams->left_count = kept;
}

/* Without memory the caller waits for the stream that is destroyed. */
static void leave_streams(struct streams *streams, struct left left)
{
	unsigned room = streams->left_room ? 2 * streams->left_room : 8;
	struct left *more = streams->left;

	prune_left(streams);
	if (gkf_ticket_done(left.ticket))
		return;
	if (streams->left_count == streams->left_room) {
		more = realloc(more, room * sizeof(*more));
		if (!more) {
			gkf_ticket_wait(left.ticket);
			return;
		}
		streams->left = more;
		streams->left_room = room;
	}
	more[streams->left_count++] = left;
}

static void unlink_stream(CUstream s)
{
	*s->at = s->next;
	if (s->next)
		s->next->at = s->at;
	if (s->is_active)
		remove_active(s);
}

void stream_destroy(CUstream s)
{
	struct streams *streams = s->of;
	struct left left = {gkf_queue_ticket(s->queue),
			    s->kind == STREAM_BLOCKING};

	capture_leave(s);
	pthread_mutex_lock(&streams->lock);
	unlink_stream(s);
	leave_streams(streams, left);
	pthread_mutex_unlock(&streams->lock);
	gkf_queue_release(s->queue, false);
	handle_free(s);
}

static void close_streams(CUcontext ctx)
{
	struct streams *streams = streams_of(ctx);
	CUstream s, next;

	streams_strike_off(streams);
	stream_leave_threads(streams);
	for (s = streams->all; s; s = next) {
		next = s->next;
		capture_leave(s);
		gkf_queue_release(s->queue, false);
		if (ctx->green && !s->thread && s->kind != STREAM_LEGACY)
			s->detached = true;
		else
			handle_free(s);
	}
	if (streams->gather)
		gkf_queue_release(streams->gather, false);
	if (streams->hold)
		gkf_queue_release(streams->hold, false);
	pthread_mutex_destroy(&streams->lock);
	free(streams->left);
	free(streams);
	ctx->part[PART_STREAM] = NULL;
}

static CUresult open_streams(CUcontext ctx)
{
	struct streams *streams = calloc(1, sizeof(*streams));

	if (!streams)
		return CUDA_ERROR_OUT_OF_MEMORY;
	pthread_mutex_init(&streams->lock, NULL);
	streams->ctx = ctx;
	ctx->part[PART_STREAM] = streams;
	streams->gather = queue_new(ctx, 0);
	streams->hold = queue_new(ctx, 0);
	streams->legacy = stream_new(ctx, STREAM_LEGACY, 0);
	if (!streams->gather || !streams->hold || !streams->legacy) {
		close_streams(ctx);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	streams_enlist(streams); /* others may look at it from now on */
	return CUDA_SUCCESS;
}

const struct cuda_part_row stream_part = {open_streams, close_streams};

/* ---- which stream ---- */

static bool is_default_stream(CUstream given)
{
	return !given || given == CU_STREAM_LEGACY ||
	       given == CU_STREAM_PER_THREAD;
}

static CUresult find_default(CUcontext ctx, CUstream given, bool per_thread,
			     CUstream *ret_stream)
{
	CUstream s = streams_of(ctx)->legacy;

	/* Threads have no streams of their own in a green context. */
	if (ctx->green && (given == CU_STREAM_PER_THREAD || per_thread ||
			   !ctx->green->share.has_default))
		return CUDA_ERROR_INVALID_HANDLE;
	if (given == CU_STREAM_PER_THREAD || (!given && per_thread)) {
		s = stream_of_thread(ctx);
		if (!s)
			return CUDA_ERROR_OUT_OF_MEMORY;
	}
	*ret_stream = s;
	return CUDA_SUCCESS;
}

/* The code for it came with CUDA 13.1. */
static CUresult detached_error(void)
{
	return front_generation->cuda < 13010 ? CUDA_ERROR_CONTEXT_IS_DESTROYED
					      : CUDA_ERROR_STREAM_DETACHED;
}

CUresult stream_find(CUcontext ctx, CUstream given, bool per_thread,
		     CUstream *ret_stream)
{
	if (is_default_stream(given))
		return find_default(ctx, given, per_thread, ret_stream);
	if (!handle_is(given, HANDLE_STREAM))
		return CUDA_ERROR_INVALID_HANDLE;
	if (given->detached)
		return detached_error();
	if (given->ctx->base != ctx->base)
		return CUDA_ERROR_INVALID_HANDLE;
	*ret_stream = given;
	return CUDA_SUCCESS;
}

uint64_t stream_number(CUcontext ctx, CUstream stream, bool per_thread)
{
	CUstream s;

	return stream_find(ctx, stream, per_thread, &s) ? 0 : s->id;
}

CUresult stream_enter(enum cuda_row row, CUstream given, bool per_thread,
		      CUstream *ret_stream)
{
	CUcontext ctx;
	CUresult r;

	if (is_default_stream(given)) {
		r = front_enter_context(row, &ctx);
		return r ? r : find_default(ctx, given, per_thread, ret_stream);
	}
	r = front_enter(row);
	if (r)
		return r;
	if (!handle_is(given, HANDLE_STREAM))
		return CUDA_ERROR_INVALID_HANDLE;
	if (given->detached)
		return detached_error();
	*ret_stream = given;
	return stream_error(given->ctx);
}

CUresult stream_enter_context(enum cuda_row row, CUstream stream,
			      bool per_thread, CUcontext *ret_ctx)
{
	CUstream s;
	CUresult r = stream_enter(row, stream, per_thread, &s);

	if (!r)
		*ret_ctx = s->ctx;
	return r;
}

CUcontext stream_context(CUcontext ctx, CUstream stream)
{
	return !is_default_stream(stream) && handle_is(stream, HANDLE_STREAM) &&
		       !stream->detached
		   ? stream->ctx
		   : ctx;
}

/* ---- what waits for what ---- */

/* The legacy stream waits for all that blocking streams were given. */
static void order_legacy(struct streams *streams)
{
	struct gkf_queue *queue = streams->legacy->queue;
	CUstream s;

	while ((s = streams->active)) {
		streams->active = s->next_active;
		s->is_active = false;
		gkf_queue_after(queue, gkf_queue_ticket(s->queue));
	}
	for (unsigned i = 0; i < streams->left_count; i++)
		if (streams->left[i].blocking)
			gkf_queue_after(queue, streams->left[i].ticket);
}

static void order_blocking(CUstream s)
{
	struct streams *streams = s->of;
	struct gkf_ticket legacy = gkf_queue_ticket(streams->legacy->queue);

	if (legacy.number != s->legacy_seen) {
		gkf_queue_after(s->queue, legacy);
		s->legacy_seen = legacy.number;
	}
	if (!s->is_active) {
		s->is_active = true;
		s->next_active = streams->active;
		streams->active = s;
	}
}

/* Work that is pushed from now on waits for all that it has to wait for. */
static void stream_order(CUstream s)
{
	if (s->kind == STREAM_LEGACY)
		order_legacy(s->of);
	else if (s->kind == STREAM_BLOCKING)
		order_blocking(s);
}

/*
 * Who pushes faster than the work is done waits, as for a real driver, whose
 * streams hold about a thousand launches: memory has an end.
 */
#define BACKLOG_MOST 4096

void stream_make_room(CUstream s)
{
	struct gkf_ticket ticket = gkf_queue_ticket(s->queue);

	if (ticket.number <= BACKLOG_MOST)
		return;
	ticket.number -= BACKLOG_MOST;
	if (__builtin_expect(gkf_ticket_done(ticket), 1))
		return;
	ticket.number += BACKLOG_MOST / 2;
	stream_wait(s->ctx, CU_CTX_SCHED_AUTO, ticket);
}

void stream_hold(CUstream s)
{
	stream_lock(s);
	stream_order(s);
}

void stream_begin(CUstream s)
{
	stream_make_room(s);
	stream_hold(s);
}

void stream_push(CUstream s, struct gkf_task *task)
{
	stream_begin(s);
	gkf_queue_push(s->queue, task);
	stream_unlock(s);
}

CUresult stream_check(CUcontext ctx, CUstream stream, bool per_thread)
{
	CUstream s;

	return stream_find(ctx, stream, per_thread, &s);
}

CUresult stream_submit(CUcontext ctx, CUstream stream, bool per_thread,
		       struct gkf_task *task)
{
	CUstream s;
	CUresult r = stream_find(ctx, stream, per_thread, &s);

	if (!r)
		r = stream_usable(s);
	if (r) {
		if (task->drop)
			task->drop(task);
		gkf_task_free(task);
		return r;
	}
	stream_push(s, task);
	return CUDA_SUCCESS;
}

CUresult stream_run(CUcontext ctx, CUstream stream, bool per_thread,
		    struct gkf_task *task)
{
	struct gkf_own_task own;
	CUstream s;
	CUresult r = stream_find(ctx, stream, per_thread, &s);

	if (!r)
		r = stream_usable(s);
	if (r) {
		if (task->drop)
			task->drop(task);
		gkf_task_free(task);
		return r;
	}
	stream_begin(s);
	gkf_queue_put(s->queue, task, &own);
	stream_unlock(s);
	return (CUresult)gkf_queue_do(&own);
}

/* ---- of whole contexts ---- */

void streams_gather(struct streams *streams)
{
	for (CUstream s = streams->all; s; s = s->next)
		gkf_queue_after(streams->gather, gkf_queue_ticket(s->queue));
	for (unsigned i = 0; i < streams->left_count; i++)
		gkf_queue_after(streams->gather, streams->left[i].ticket);
}

/* A queue of nothing but waits, so that one ticket stands for several. */
void streams_hold_back(struct streams *streams, struct gkf_ticket ticket)
{
	gkf_queue_after(streams->hold, ticket);
	ticket = gkf_queue_ticket(streams->hold);
	for (CUstream s = streams->all; s; s = s->next)
		gkf_queue_after(s->queue, ticket);
}

/* ---- for what is freed in the order of a stream ---- */

struct after {
	struct gkf_task task;
	void (*done)(void *data);
	void *data;
};

static int do_nothing_task(struct gkf_task *task)
{
	(void)task;
	return 0;
}

/* Done or not, what was before it in the stream is over. */
static void call_done(struct gkf_task *task)
{
	struct after *after = (struct after *)task;

	after->done(after->data);
}

CUresult stream_after(CUcontext ctx, CUstream stream, bool per_thread,
		      void (*done)(void *data), void *data,
		      struct gkf_ticket *ret_ticket)
{
	CUstream s;
	struct after *after;
	CUresult r = stream_find(ctx, stream, per_thread, &s);

	if (!r)
		r = stream_usable(s);
	if (r)
		return r;
	after = gkf_task_new(sizeof(*after));
	if (!after)
		return CUDA_ERROR_OUT_OF_MEMORY;
	after->task.run = do_nothing_task;
	after->task.drop = call_done;
	after->done = done;
	after->data = data;
	stream_push(s, &after->task);
	*ret_ticket = gkf_queue_ticket(s->queue);
	return CUDA_SUCCESS;
}
