/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream_wait.c - owns the list of the streams of all contexts: waits for a
 * stream, a context or several contexts, and makes contexts fail together.
 */
#include "base/assert.h"
#include "base/clock.h"
#include "fronts/cuda/stream/stream_private.h"

#include <sched.h>

/*
 * The times that a waiting thread spins before it sleeps; the context's flags
 * select one of them.
 */
#define SPIN_AUTO_NS (20 * GK_NS_PER_US)
#define SPIN_LONG_NS (50 * GK_NS_PER_MS)

/*
 * The streams of all contexts. This lock is taken before those of the contexts'
 * streams.
 */
static struct {
	pthread_mutex_t lock;
	struct streams *first, **end;
	uint64_t serial;
} contexts = {.lock = PTHREAD_MUTEX_INITIALIZER, .end = &contexts.first};

void streams_enlist(struct streams *streams)
{
	pthread_mutex_lock(&contexts.lock);
	streams->serial = ++contexts.serial;
	*contexts.end = streams;
	contexts.end = &streams->next;
	pthread_mutex_unlock(&contexts.lock);
}

void streams_strike_off(struct streams *streams)
{
	struct streams **at = &contexts.first;

	pthread_mutex_lock(&contexts.lock);
	while (*at && *at != streams)
		at = &(*at)->next;
	if (*at) { /* not in the list if opening failed */
		*at = streams->next;
		if (!*at)
			contexts.end = at;
	}
	pthread_mutex_unlock(&contexts.lock);
}

void ctx_stick(CUcontext ctx, CUresult result)
{
	int none = CUDA_SUCCESS;

	if (atomic_compare_exchange_strong(&ctx->sticky, &none, result) &&
	    result != CUDA_ERROR_ASSERT)
		atomic_store(&ctx->device->failed, result);
}

static void stop_streams(struct streams *of, int result)
{
	pthread_mutex_lock(&of->lock);
	for (CUstream s = of->all; s; s = s->next)
		gkf_queue_stop(s->queue, result);
	pthread_mutex_unlock(&of->lock);
}

/*
 * Sets the error of `ctx` last: once a program sees the error in `ctx`, all
 * other contexts with the same base must have it, too.
 */
void streams_fail(CUcontext ctx, CUresult result)
{
	struct streams *of;

	pthread_mutex_lock(&contexts.lock);
	for (of = contexts.first; of; of = of->next)
		if (of->ctx->base == ctx->base && of->ctx != ctx)
			ctx_stick(of->ctx, result);
	ctx_stick(ctx, result);
	for (of = contexts.first; of; of = of->next)
		if (of->ctx->base == ctx->base)
			stop_streams(of, (int)result);
	pthread_mutex_unlock(&contexts.lock);
}

CUresult ctx_strike(CUcontext ctx)
{
	if (!atomic_load(&ctx->sticky))
		streams_fail(ctx,
			     (CUresult)(atomic_load(ctx->strike) & 0xffff));
	return (CUresult)atomic_load(&ctx->sticky);
}

void streams_gather(struct streams *streams)
{
	GK_ASSERT(gk_lock_held(&streams->lock));
	for (CUstream s = streams->all; s; s = s->next)
		gkf_queue_after(streams->gather, gkf_queue_ticket(s->queue));
	for (unsigned i = 0; i < streams->left_count; i++)
		gkf_queue_after(streams->gather, streams->left[i].ticket);
}

/*
 * `hold` contains only waits, so one ticket of it stands for several tickets.
 */
void streams_hold_back(struct streams *streams, struct gkf_ticket ticket)
{
	GK_ASSERT(gk_lock_held(&streams->lock));
	gkf_queue_after(streams->hold, ticket);
	ticket = gkf_queue_ticket(streams->hold);
	for (CUstream s = streams->all; s; s = s->next)
		gkf_queue_after(s->queue, ticket);
}

/*
 * Returns the streams of the next green context of the base, beginning at `of`.
 * The caller holds contexts.lock.
 */
static struct streams *next_green(struct streams *of, CUcontext base)
{
	GK_ASSERT(gk_lock_held(&contexts.lock));
	while (of && (of->ctx == base || of->ctx->base != base))
		of = of->next;
	return of;
}

void streams_gather_greens(CUcontext base)
{
	struct streams *to = streams_of(base), *of;
	struct gkf_ticket ticket;

	pthread_mutex_lock(&contexts.lock);
	for (of = next_green(contexts.first, base); of;
	     of = next_green(of->next, base)) {
		pthread_mutex_lock(&of->lock);
		streams_gather(of);
		ticket = gkf_queue_ticket(of->gather);
		pthread_mutex_unlock(&of->lock);
		pthread_mutex_lock(&to->lock);
		gkf_queue_after(to->gather, ticket);
		pthread_mutex_unlock(&to->lock);
	}
	pthread_mutex_unlock(&contexts.lock);
}

void streams_hold_greens(CUcontext base, struct gkf_ticket ticket)
{
	pthread_mutex_lock(&contexts.lock);
	for (struct streams *of = next_green(contexts.first, base); of;
	     of = next_green(of->next, base)) {
		pthread_mutex_lock(&of->lock);
		streams_hold_back(of, ticket);
		pthread_mutex_unlock(&of->lock);
	}
	pthread_mutex_unlock(&contexts.lock);
}

static void add_pending(struct streams *streams, struct pending *p,
			struct gkf_ticket ticket)
{
	GK_ASSERT(gk_lock_held(&streams->lock));
	if (gkf_ticket_done(ticket))
		return;
	if (p->count < PENDING_ROOM - 1) {
		p->ticket[p->count++] = ticket;
		return;
	}
	gkf_queue_after(streams->gather, ticket);
	p->gathered = true;
}

static void end_pending(struct streams *streams, struct pending *p)
{
	if (p->gathered)
		p->ticket[p->count++] = gkf_queue_ticket(streams->gather);
}

static void add_left(struct streams *streams, struct pending *p,
		     bool blocking_only)
{
	for (unsigned i = 0; i < streams->left_count; i++)
		if (streams->left[i].blocking || !blocking_only)
			add_pending(streams, p, streams->left[i].ticket);
}

void stream_pending(CUstream s, struct pending *ret_pending)
{
	struct streams *streams = s->of;
	struct pending *p = ret_pending;

	p->count = 0;
	p->gathered = false;
	stream_lock(s);
	add_pending(streams, p, gkf_queue_ticket(s->queue));
	if (s->kind == STREAM_LEGACY) {
		for (CUstream a = streams->active; a; a = a->next_active)
			add_pending(streams, p, gkf_queue_ticket(a->queue));
		add_left(streams, p, true);
	}
	end_pending(streams, p);
	stream_unlock(s);
}

static bool is_queue_done(struct gkf_queue *queue)
{
	return gkf_ticket_spin(gkf_queue_ticket(queue), 0);
}

bool stream_is_done(CUstream s)
{
	struct streams *streams = s->of;
	bool done = is_queue_done(s->queue);

	if (s->kind != STREAM_LEGACY)
		return done;
	stream_lock(s);
	for (CUstream a = streams->active; a && done; a = a->next_active)
		done = is_queue_done(a->queue);
	for (unsigned i = 0; i < streams->left_count && done; i++)
		done = !streams->left[i].blocking ||
		       gkf_ticket_done(streams->left[i].ticket);
	stream_unlock(s);
	return done;
}

static void yield_for(struct gkf_ticket ticket, uint64_t ns)
{
	uint64_t end = gk_mono_ns() + ns;

	while (!gkf_ticket_spin(ticket, 0) && gk_mono_ns() < end)
		sched_yield();
}

void stream_wait(CUcontext ctx, unsigned policy, struct gkf_ticket ticket)
{
	if (gkf_ticket_done(ticket))
		return;
	if (policy == CU_CTX_SCHED_AUTO && ctx)
		policy = atomic_load(&ctx->flags) & CU_CTX_SCHED_MASK;
	switch (policy) {
	case CU_CTX_SCHED_SPIN:
		gkf_ticket_spin(ticket, SPIN_LONG_NS);
		break;
	case CU_CTX_SCHED_YIELD:
		yield_for(ticket, SPIN_LONG_NS);
		break;
	case CU_CTX_SCHED_BLOCKING_SYNC:
		break;
	default:
		gkf_ticket_spin(ticket, SPIN_AUTO_NS);
	}
	gkf_ticket_wait(ticket);
}

/* Collects tickets for all unfinished work of a context. */
static void collect_pending(struct streams *streams, struct pending *p)
{
	p->count = 0;
	p->gathered = false;
	pthread_mutex_lock(&streams->lock);
	for (CUstream s = streams->all; s; s = s->next)
		add_pending(streams, p, gkf_queue_ticket(s->queue));
	add_left(streams, p, false);
	add_pending(streams, p, gkf_queue_ticket(streams->gather));
	end_pending(streams, p);
	pthread_mutex_unlock(&streams->lock);
}

static void wait_pending(CUcontext ctx, const struct pending *p)
{
	for (unsigned i = 0; i < p->count; i++)
		stream_wait(ctx, CU_CTX_SCHED_AUTO, p->ticket[i]);
}

CUresult stream_drain(CUcontext ctx)
{
	struct pending p;

	collect_pending(streams_of(ctx), &p);
	wait_pending(ctx, &p);
	return stream_error(ctx);
}

CUresult stream_drain_all(CUcontext ctx,
			  bool (*concerns)(CUcontext other, const void *data),
			  const void *data)
{
	uint64_t seen = 0;
	struct streams *s;
	struct pending p;

	/*
	 * No lock is held while waiting, because a ticket remains valid after
	 * its context has ended.
	 */
	do {
		p.count = 0;
		pthread_mutex_lock(&contexts.lock);
		for (s = contexts.first; s; s = s->next)
			if (s->serial > seen && concerns(s->ctx, data))
				break;
		if (s) {
			seen = s->serial;
			collect_pending(s, &p);
		}
		pthread_mutex_unlock(&contexts.lock);
		wait_pending(ctx, &p);
	} while (s);
	return ctx ? stream_error(ctx) : CUDA_SUCCESS;
}

bool stream_all_done(void)
{
	struct pending p = {.count = 0};

	pthread_mutex_lock(&contexts.lock);
	for (struct streams *s = contexts.first; s && !p.count; s = s->next)
		collect_pending(s, &p);
	pthread_mutex_unlock(&contexts.lock);
	return !p.count;
}
