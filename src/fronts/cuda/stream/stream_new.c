/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream_new.c - makes and destroys streams, and keeps track of their
 * unfinished work.
 */
#include "base/assert.h"
#include "device/queue.h"
#include "fronts/cuda/graph/capture.h"
#include "fronts/cuda/stream/stream_private.h"
#include "machine/trouble/cuda_fault.h"

#include <stdlib.h>

/* Called on an executor thread, which holds no lock. */
static void fail_context(void *owner, int result)
{
	streams_fail(owner, (CUresult)result);
}

static uint64_t slowness_of(void *owner)
{
	return gkf_cuda_fault_slowness(cuda.machine,
				       ((CUcontext)owner)->device->index);
}

struct gkf_queue *stream_queue_new(CUcontext ctx, int priority)
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

	GK_ASSERT(gk_lock_held(&s->of->lock));
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
	s->queue = stream_queue_new(ctx, priority);
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

/*
 * Remembers the unfinished work of a destroyed stream; if there is no memory
 * for that, waits for the work.
 */
static void leave_streams(struct streams *streams, struct left left)
{
	unsigned room = streams->left_room ? 2 * streams->left_room : 8;
	struct left *more = streams->left;

	GK_ASSERT(gk_lock_held(&streams->lock));
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
	GK_ASSERT(gk_lock_held(&s->of->lock));
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
