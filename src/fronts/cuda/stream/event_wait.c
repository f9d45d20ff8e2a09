/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_wait.c - queries events, waits for them, and computes the time between
 * two events.
 */
#include "base/assert.h"
#include "fronts/cuda/stream/event_private.h"

static bool is_shared_done(CUevent e)
{
	struct shared_event *shared = event_hold_shared(e);
	bool done = shared_event_done(shared);

	shared_event_drop(shared);
	return done;
}

static CUresult wait_shared(CUcontext ctx, CUevent e)
{
	struct shared_event *shared = event_hold_shared(e);
	CUresult r = shared_event_wait(ctx, shared);

	shared_event_drop(shared);
	return r;
}

/*
 * Returns the event's last record, which the caller drops; NULL: never
 * recorded.
 */
static struct record *look_at_record(CUevent e, struct gkf_ticket *ret_ticket)
{
	struct record *record;

	pthread_mutex_lock(&e->lock);
	record = record_hold(e->record);
	*ret_ticket = e->ticket;
	pthread_mutex_unlock(&e->lock);
	return record;
}

static struct gkf_ticket ticket_of(CUevent e)
{
	struct gkf_ticket ticket;

	pthread_mutex_lock(&e->lock);
	ticket = e->ticket;
	pthread_mutex_unlock(&e->lock);
	return ticket;
}

static bool is_captured(CUevent e)
{
	return atomic_load(&e->point.id) != 0;
}

bool event_join(CUevent event, CUstream s, CUresult *ret_result)
{
	if (!is_captured(event))
		return false;
	*ret_result = GRAPH_LOCKED(capture_join(s, &event->point));
	return true;
}

CUresult event_check(CUevent event, struct gkf_ticket *ret_ticket)
{
	CUresult r = event_usable(event);

	if (!r)
		*ret_ticket = ticket_of(event);
	return r;
}

CUresult cuEventQuery(CUevent hEvent)
{
	struct gkf_ticket ticket;
	CUresult r;

	ENTER(cuEventQuery);
	r = event_check(hEvent, &ticket);
	if (!r && is_captured(hEvent))
		r = CUDA_ERROR_CAPTURED_EVENT;
	if (r)
		return r;
	if (!gkf_ticket_spin(ticket, 0) || !is_shared_done(hEvent))
		return CUDA_ERROR_NOT_READY;
	return stream_error(hEvent->ctx);
}

CUresult cuEventSynchronize(CUevent hEvent)
{
	struct gkf_ticket ticket;
	CUcontext ctx;
	CUresult r;

	ENTER(cuEventSynchronize);
	r = event_check(hEvent, &ticket);
	if (!r && is_captured(hEvent))
		r = CUDA_ERROR_CAPTURED_EVENT;
	if (r)
		return r;
	ctx = hEvent->ctx;
	stream_wait(ctx,
		    hEvent->flags & CU_EVENT_BLOCKING_SYNC
			? CU_CTX_SCHED_BLOCKING_SYNC
			: CU_CTX_SCHED_AUTO,
		    ticket);
	r = wait_shared(ctx, hEvent);
	return r ? r : stream_error(ctx);
}

/*
 * Returns the time at which the event was reached; CUDA_ERROR_NOT_READY: not
 * yet.
 */
static CUresult time_of_event(CUevent e, uint64_t *ret_ns)
{
	struct gkf_ticket ticket;
	struct record *record = look_at_record(e, &ticket);
	bool done = gkf_ticket_spin(ticket, 0);
	CUresult r = CUDA_SUCCESS;
	uint64_t ns;

	if (!record)
		return CUDA_ERROR_INVALID_HANDLE;
	ns = atomic_load_explicit(&record->reached_ns, memory_order_acquire);
	record_drop(record);
	if (ns)
		*ret_ns = ns;
	else
		r = done ? stream_error(e->ctx) : CUDA_ERROR_NOT_READY;
	return r || ns ? r : CUDA_ERROR_UNKNOWN;
}

static CUresult measure_elapsed(float *pMilliseconds, CUevent start,
				CUevent end)
{
	uint64_t from, to;
	CUresult r, r2;

	if (!pMilliseconds)
		return CUDA_ERROR_INVALID_VALUE;
	r = event_usable(start);
	if (!r)
		r = event_usable(end);
	if (r)
		return r;
	if ((start->flags | end->flags) & CU_EVENT_DISABLE_TIMING ||
	    start->ctx != end->ctx)
		return CUDA_ERROR_INVALID_HANDLE;
	if (is_captured(start) || is_captured(end))
		return CUDA_ERROR_CAPTURED_EVENT;
	r = time_of_event(start, &from);
	r2 = time_of_event(end, &to);
	/*
	 * If one event was never recorded and the other is unreached, returns
	 * the error for the event that was never recorded.
	 */
	if (r2 == CUDA_ERROR_INVALID_HANDLE || !r)
		r = r2;
	if (r)
		return r;
	*pMilliseconds = (float)((double)(int64_t)(to - from) / 1e6);
	return stream_error(start->ctx);
}

CUresult cuEventElapsedTime(float *pMilliseconds, CUevent hStart, CUevent hEnd)
{
	ENTER(cuEventElapsedTime);
	return measure_elapsed(pMilliseconds, hStart, hEnd);
}

CUresult cuEventElapsedTime_v2(float *pMilliseconds, CUevent hStart,
			       CUevent hEnd)
{
	ENTER(cuEventElapsedTime_v2);
	return measure_elapsed(pMilliseconds, hStart, hEnd);
}

CUresult event_hold_back(CUcontext ctx, CUevent hEvent)
{
	struct streams *streams = streams_of(ctx);
	struct gkf_ticket ticket;
	CUresult r = event_check(hEvent, &ticket);

	if (!r && is_captured(hEvent))
		r = CUDA_ERROR_CAPTURED_EVENT;
	if (!r)
		r = capture_permit_context(ctx);
	if (r)
		return r;
	/*
	 * The calling thread, not the streams, waits for the records of other
	 * processes.
	 */
	r = wait_shared(ctx, hEvent);
	if (r)
		return r;
	pthread_mutex_lock(&streams->lock);
	streams_hold_back(streams, ticket);
	pthread_mutex_unlock(&streams->lock);
	if (atomic_load(&ctx->greens))
		streams_hold_greens(ctx, ticket);
	return CUDA_SUCCESS;
}

CUresult cuCtxWaitEvent(CUcontext hCtx, CUevent hEvent)
{
	CUcontext ctx;
	CUresult r;

	ENTER(cuCtxWaitEvent);
	r = ctx_of(hCtx, &ctx);
	return r ? r : event_hold_back(ctx, hEvent);
}

CUresult event_await(CUstream s, CUevent event)
{
	struct shared_event *shared = event_hold_shared(event);
	CUresult r = shared_event_await(s, shared);

	GK_ASSERT(gk_lock_held(&s->of->lock));
	shared_event_drop(shared);
	return r;
}
