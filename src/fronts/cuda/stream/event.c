/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event.c - creates, destroys and records events, which mark points in streams.
 *
 * When an event is recorded again, its earlier record may still be in a stream.
 * So each record is an object of its own, held by the event and by the stream.
 */
#include "base/clock.h"
#include "fronts/cuda/stream/event_private.h"

#include <stdlib.h>

struct shared_event *event_hold_shared(CUevent e)
{
	struct shared_event *shared;

	pthread_mutex_lock(&e->lock);
	shared = shared_event_hold(e->shared);
	pthread_mutex_unlock(&e->lock);
	return shared;
}

static CUresult record_new(CUevent e, struct record **ret_record)
{
	struct record *record = calloc(1, sizeof(*record));
	CUresult r = CUDA_SUCCESS;

	if (!record)
		return CUDA_ERROR_OUT_OF_MEMORY;
	atomic_init(&record->holders, 1);
	record->shared = event_hold_shared(e);
	if (record->shared)
		r = shared_event_record(record->shared, &record->number);
	if (r) {
		shared_event_drop(record->shared);
		free(record);
		return r;
	}
	*ret_record = record;
	return r;
}

/*
 * Whether a record may be marked as reached. In an event shared by processes,
 * it must wait until all earlier records in its slot are reached.
 */
static bool may_reach(const struct record *record)
{
	return shared_event_may_reach(record->shared, record->number);
}

static void mark_reached(struct record *record)
{
	atomic_store_explicit(&record->reached_ns, gk_mono_ns(),
			      memory_order_release);
	shared_event_reach(record->shared, record->number);
}

struct record *record_hold(struct record *record)
{
	if (record)
		atomic_fetch_add(&record->holders, 1);
	return record;
}

void record_drop(struct record *record)
{
	if (!record || atomic_fetch_sub(&record->holders, 1) != 1)
		return;
	/*
	 * A record that was never put in a stream must not delay other
	 * processes.
	 */
	shared_event_reach(record->shared, record->number);
	shared_event_drop(record->shared);
	free(record);
}

/* ---- making and destroying ---- */

#define FLAGS                                                                  \
	(CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING |                    \
	 CU_EVENT_INTERPROCESS)

static CUevent new_event(CUcontext ctx, unsigned flags)
{
	CUevent e = handle_new(HANDLE_EVENT, sizeof(*e));

	if (!e)
		return NULL;
	pthread_mutex_init(&e->lock, NULL);
	e->ctx = ctx->base;
	e->ctx_id = ctx->base->id;
	e->flags = flags;
	return e;
}

CUresult cuEventCreate(CUevent *phEvent, unsigned int Flags)
{
	CUevent e;

	ENTER_CONTEXT(cuEventCreate, ctx);
	if (!phEvent || Flags & ~(unsigned)FLAGS)
		return CUDA_ERROR_INVALID_VALUE;
	if (Flags & CU_EVENT_INTERPROCESS && !(Flags & CU_EVENT_DISABLE_TIMING))
		return CUDA_ERROR_INVALID_VALUE;
	e = new_event(ctx, Flags);
	if (!e)
		return CUDA_ERROR_OUT_OF_MEMORY;
	if (Flags & CU_EVENT_INTERPROCESS)
		e->shared = shared_event_new(ctx->device->index);
	*phEvent = e;
	return CUDA_SUCCESS;
}

CUresult event_usable(CUevent e)
{
	if (!handle_is(e, HANDLE_EVENT))
		return CUDA_ERROR_INVALID_HANDLE;
	if (e->ctx->id != e->ctx_id || !atomic_load(&e->ctx->alive))
		return CUDA_ERROR_CONTEXT_IS_DESTROYED;
	return CUDA_SUCCESS;
}

/* A record that is still in a stream stays there but has no effect. */
static CUresult destroy_event(CUevent e)
{
	struct shared_event *shared;
	struct record *record;

	if (!handle_is(e, HANDLE_EVENT))
		return CUDA_ERROR_INVALID_HANDLE;
	pthread_mutex_lock(&e->lock);
	record = e->record;
	shared = e->shared;
	e->record = NULL;
	e->shared = NULL;
	pthread_mutex_unlock(&e->lock);
	record_drop(record);
	shared_event_drop(shared);
	pthread_mutex_lock(&graph_mutex);
	capture_deps_free(&e->point.deps);
	pthread_mutex_unlock(&graph_mutex);
	handle_free(e);
	return CUDA_SUCCESS;
}

CUresult cuEventDestroy(CUevent hEvent)
{
	ENTER(cuEventDestroy);
	return destroy_event(hEvent);
}

CUresult cuEventDestroy_v2(CUevent hEvent)
{
	ENTER(cuEventDestroy_v2);
	return destroy_event(hEvent);
}

/* ---- recording ---- */

struct record_task {
	struct gkf_task task;
	struct record *record;
};

static int reach_record(struct gkf_task *task)
{
	struct record_task *t = (struct record_task *)task;

	if (!may_reach(t->record))
		return GKF_TASK_AGAIN;
	mark_reached(t->record);
	return 0;
}

/* A record in dropped work must not delay other processes. */
static void drop_record(struct gkf_task *task)
{
	struct record *record = ((struct record_task *)task)->record;

	shared_event_reach(record->shared, record->number);
	record_drop(record);
}

/* Makes a record the event's last record. */
static void mean_record(CUevent e, struct record *record,
			struct gkf_ticket ticket)
{
	struct record *before;

	pthread_mutex_lock(&e->lock);
	before = e->record;
	e->record = record;
	e->ticket = ticket;
	atomic_store(&e->point.id, 0);
	pthread_mutex_unlock(&e->lock);
	record_drop(before);
}

/*
 * If the queue is idle, marks the record as reached at once, without a thread.
 * The caller ensures that no other thread puts work in the queue.
 */
static CUresult put_record(struct gkf_queue *queue, struct record *record,
			   struct gkf_ticket *ret_ticket)
{
	struct gkf_ticket ticket = gkf_queue_ticket(queue);
	struct record_task *t;

	if (gkf_ticket_done(ticket) && may_reach(record)) {
		mark_reached(record);
		*ret_ticket = ticket;
		return CUDA_SUCCESS;
	}
	t = gkf_task_new(sizeof(*t));
	if (!t)
		return CUDA_ERROR_OUT_OF_MEMORY;
	t->task.run = reach_record;
	t->task.drop = drop_record;
	t->record = record_hold(record);
	gkf_queue_push(queue, &t->task);
	*ret_ticket = gkf_queue_ticket(queue);
	return CUDA_SUCCESS;
}

CUresult event_put(CUevent e, struct gkf_queue *queue)
{
	struct record *record;
	struct gkf_ticket ticket;
	CUresult r = record_new(e, &record);

	if (r)
		return r;
	r = put_record(queue, record, &ticket);
	if (r)
		record_drop(record);
	else
		mean_record(e, record, ticket);
	return r;
}

CUcontext event_context(CUevent event)
{
	return event->ctx;
}

/* ---- whole contexts ---- */

CUresult event_record_all(CUcontext ctx, CUevent hEvent)
{
	struct record *record;
	struct gkf_ticket ticket;
	struct streams *streams;
	CUresult r = event_usable(hEvent);

	if (r)
		return r;
	if (hEvent->ctx != ctx->base)
		return CUDA_ERROR_INVALID_HANDLE;
	r = capture_permit_context(ctx);
	if (r)
		return r;
	r = record_new(hEvent, &record);
	if (r)
		return r;
	if (atomic_load(&ctx->greens))
		streams_gather_greens(ctx);
	streams = streams_of(ctx);
	pthread_mutex_lock(&streams->lock);
	streams_gather(streams);
	r = put_record(streams->gather, record, &ticket);
	pthread_mutex_unlock(&streams->lock);
	if (r)
		record_drop(record);
	else
		mean_record(hEvent, record, ticket);
	return r;
}

CUresult cuCtxRecordEvent(CUcontext hCtx, CUevent hEvent)
{
	CUcontext ctx;
	CUresult r;

	ENTER(cuCtxRecordEvent);
	r = ctx_of(hCtx, &ctx);
	return r ? r : event_record_all(ctx, hEvent);
}

/* ---- between processes ---- */

CUresult cuIpcGetEventHandle(CUipcEventHandle *pHandle, CUevent event)
{
	CUresult r;

	ENTER_CONTEXT(cuIpcGetEventHandle, ctx);
	if (!pHandle)
		return CUDA_ERROR_INVALID_VALUE;
	r = event_usable(event);
	if (r)
		return r;
	if (!(event->flags & CU_EVENT_INTERPROCESS))
		return CUDA_ERROR_INVALID_HANDLE;
	if (!event->shared) {
		front_count_refusal(ROW_cuIpcGetEventHandle);
		return CUDA_ERROR_NOT_SUPPORTED;
	}
	return shared_event_handle(event->shared, pHandle);
}

CUresult cuIpcOpenEventHandle(CUevent *phEvent, CUipcEventHandle handle)
{
	struct shared_event *shared;
	CUresult r;
	CUevent e;

	ENTER_CONTEXT(cuIpcOpenEventHandle, ctx);
	if (!phEvent)
		return CUDA_ERROR_INVALID_VALUE;
	r = shared_event_open(&handle, &shared);
	if (r)
		return r;
	e = new_event(ctx, CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS);
	if (!e) {
		shared_event_drop(shared);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	e->shared = shared;
	*phEvent = e;
	return CUDA_SUCCESS;
}
