/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream.c - opens and closes the streams of a context, finds the stream that
 * an argument means, and orders work between streams.
 */
#include "base/assert.h"
#include "device/queue.h"
#include "fronts/cuda/graph/capture.h"
#include "fronts/cuda/generation.h"
#include "fronts/cuda/context/green.h"
#include "fronts/cuda/stream/stream_private.h"

#include <stdlib.h>

/* ---- contexts ---- */

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
	streams->gather = stream_queue_new(ctx, 0);
	streams->hold = stream_queue_new(ctx, 0);
	streams->legacy = stream_new(ctx, STREAM_LEGACY, 0);
	if (!streams->gather || !streams->hold || !streams->legacy) {
		close_streams(ctx);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	/* From now on, other threads can find these streams. */
	streams_enlist(streams);
	return CUDA_SUCCESS;
}

const struct cuda_part_row stream_part = {open_streams, close_streams};

/* ---- finding streams ---- */

static bool is_default_stream(CUstream given)
{
	return !given || given == CU_STREAM_LEGACY ||
	       given == CU_STREAM_PER_THREAD;
}

static CUresult find_default(CUcontext ctx, CUstream given, bool per_thread,
			     CUstream *ret_stream)
{
	CUstream s = streams_of(ctx)->legacy;

	/* Green contexts have no per-thread streams. */
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

/*
 * Returns the error for a stream whose green context has ended; CUDA 13.1 added
 * a more specific one.
 */
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

/* ---- order ---- */

/* Makes the legacy stream wait for all work of the blocking streams. */
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

/*
 * Makes work pushed from now on wait for other streams, as CUDA requires for
 * the legacy stream and the blocking streams.
 */
static void stream_order(CUstream s)
{
	GK_ASSERT(gk_lock_held(&s->of->lock));
	if (s->kind == STREAM_LEGACY)
		order_legacy(s->of);
	else if (s->kind == STREAM_BLOCKING)
		order_blocking(s);
}

/*
 * A program that pushes work faster than it is done must wait, to limit memory.
 * Real drivers make it wait too; their streams hold about a thousand launches.
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

/* ---- captures: looked up by a call's stream argument ---- */

bool capture_finds(CUcontext ctx, CUstream given, bool per_thread,
		   CUstream *ret_stream)
{
	return capture_is_open() &&
	       !stream_find(ctx, given, per_thread, ret_stream) &&
	       stream_captures(*ret_stream);
}

CUresult capture_permit_stream(CUcontext ctx, CUstream given, bool per_thread)
{
	CUstream s;
	CUresult r = stream_find(ctx, given, per_thread, &s);

	return r ? r : stream_usable(s);
}

/* ---- whole contexts ---- */

void stream_follow(CUcontext ctx, bool per_thread, CUcontext of)
{
	struct streams *streams = streams_of(of);
	struct gkf_ticket ticket;
	CUstream s;

	if (stream_find(ctx, NULL, per_thread, &s))
		return;
	pthread_mutex_lock(&streams->lock);
	streams_gather(streams);
	ticket = gkf_queue_ticket(streams->gather);
	pthread_mutex_unlock(&streams->lock);
	stream_lock(s);
	gkf_queue_after(s->queue, ticket);
	stream_unlock(s);
}

void stream_lead(CUcontext ctx, bool per_thread, CUcontext of)
{
	struct streams *streams = streams_of(of);
	CUstream s;

	if (stream_find(ctx, NULL, per_thread, &s))
		return;
	pthread_mutex_lock(&streams->lock);
	streams_hold_back(streams, gkf_queue_ticket(s->queue));
	pthread_mutex_unlock(&streams->lock);
}

/* ---- calls in the order of a stream ---- */

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

/* Earlier work of the stream is over: it has been done or dropped. */
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
