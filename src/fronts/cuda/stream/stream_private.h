/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream_private.h - shared by the files that implement streams and events: the
 * streams of a context, and which stream waits for which.
 *
 * The legacy default stream and the blocking streams of a context wait for each
 * other. `active` lists the blocking streams that got work since the legacy
 * stream last waited for all of them. Each blocking stream stores the number of
 * the last task of the legacy stream for which it already waits. The lock of
 * the context's streams guards this; it is held only for as long as a push
 * takes.
 */
#ifndef GKF_CUDA_STREAM_PRIVATE_H
#define GKF_CUDA_STREAM_PRIVATE_H

#include "fronts/cuda/graph/capture_deps.h"
#include "fronts/cuda/stream/stream.h"

#include <pthread.h>

struct streams;
struct thread_entry;

/* The range returned by cuCtxGetStreamPriorityRange(). */
#define STREAM_PRIORITY_LEAST    0
#define STREAM_PRIORITY_GREATEST (-5)

enum stream_kind { STREAM_LEGACY, STREAM_BLOCKING, STREAM_NON_BLOCKING };

struct CUstream_st {
	struct streams *of;
	CUcontext ctx;
	struct gkf_queue *queue;
	enum stream_kind kind;
	_Atomic int priority;
	uint64_t id;
	/*
	 * number of the last task of the legacy stream for which this stream
	 * waits
	 */
	uint64_t legacy_seen;
	/* links of the list streams.all; *at is this stream */
	CUstream next, *at;
	CUstream next_active;
	bool is_active;
	/*
	 * the stream's green context has ended; the stream can only be
	 * destroyed
	 */
	bool detached;
	struct thread_entry *thread; /* NULL: not a per-thread stream */
	/* Set by cuStreamSetAttribute(). */
	_Atomic unsigned sync_policy;
	CUlaunchAttributeValue window, domain_map, domain;
	/* For captures (capture.h). graph_mutex guards all except `capture`. */
	_Atomic(struct capture *) capture;
	struct capture_deps deps;
	CUstream next_captured;
};

/* The unfinished work of a stream that was destroyed. */
struct left {
	struct gkf_ticket ticket;
	bool blocking;
};

/* The streams of one context. */
struct streams {
	pthread_mutex_t lock;
	CUcontext ctx;
	/* the list of all contexts' streams, sorted by `serial` */
	struct streams *next;
	uint64_t serial;
	CUstream all, legacy, active;
	struct left *left;
	unsigned left_count, left_room;
	/*
	 * A queue that contains only waits, so that one of its tickets stands
	 * for many tickets.
	 */
	struct gkf_queue *gather;
	/* A queue that contains only waits; all streams wait for it. */
	struct gkf_queue *hold;
	_Atomic unsigned capturing_blocking, capturing_others; /* counts */
};

/*
 * Tickets to wait for; when the array is full, further tickets are put in
 * `gather`.
 */
#define PENDING_ROOM 32
struct pending {
	struct gkf_ticket ticket[PENDING_ROOM];
	unsigned count;
	bool gathered;
};

/* Clamps a priority to the valid range. */
static inline int stream_priority(int priority)
{
	if (priority > STREAM_PRIORITY_LEAST)
		return STREAM_PRIORITY_LEAST;
	return priority < STREAM_PRIORITY_GREATEST ? STREAM_PRIORITY_GREATEST
						   : priority;
}

static inline struct streams *streams_of(CUcontext ctx)
{
	return ctx->part[PART_STREAM];
}

/*
 * Begins a call on a stream of any context. A default stream is that of the
 * current context. Returns the context's sticky error, if any.
 */
CUresult stream_enter(enum cuda_row row, CUstream given, bool per_thread,
		      CUstream *ret_stream);

/*
 * Finds the stream that the argument means; CUDA_ERROR_INVALID_HANDLE if it
 * belongs to another context.
 */
CUresult stream_find(CUcontext ctx, CUstream given, bool per_thread,
		     CUstream *ret_stream);

/*
 * Returns a new queue for work of a context; NULL: out of memory. Defined in
 * stream_new.c.
 */
struct gkf_queue *stream_queue_new(CUcontext ctx, int priority);

/* Returns a new stream of a context; NULL: out of memory. */
CUstream stream_new(CUcontext ctx, enum stream_kind kind, int priority);

/* Frees the handle. The work in the stream is still done. */
void stream_destroy(CUstream s);

/*
 * stream_begin() locks the streams of the context for a push. Work pushed
 * before stream_unlock() waits for the other streams as the rules require. If
 * the stream has too much unfinished work, stream_begin() first waits until
 * there is less.
 */
void stream_begin(CUstream s);
void stream_push(CUstream s, struct gkf_task *task);

/*
 * event_record_all() records an event after all present work of all streams of
 * a context. event_hold_back() makes all later work of a context wait for an
 * event, including work in streams created later. Defined in event.c and
 * event_wait.c.
 */
CUresult event_record_all(CUcontext ctx, CUevent event);
CUresult event_hold_back(CUcontext ctx, CUevent event);

/*
 * Makes a device error the sticky error of all contexts that share memory with
 * ctx, and drops the remaining work of their streams. Takes locks.
 */
void streams_fail(CUcontext ctx, CUresult result);

/* The two halves of stream_begin(). Only stream_make_room() may wait. */
void stream_make_room(CUstream s);
void stream_hold(CUstream s);

/*
 * Add a context's streams to the list that stream_drain_all() searches, and
 * remove them from it.
 */
void streams_enlist(struct streams *streams);
void streams_strike_off(struct streams *streams);

/*
 * Makes `gather` wait for all work of the context. The caller holds
 * streams->lock.
 */
void streams_gather(struct streams *streams);

/*
 * Handle all green contexts of a base context: streams_gather_greens() makes
 * the base's `gather` wait for all of their work; streams_hold_greens() makes
 * their later work wait for a ticket. Both take the locks.
 */
void streams_gather_greens(CUcontext base);
void streams_hold_greens(CUcontext base, struct gkf_ticket ticket);

/*
 * Makes later work of all streams wait for a ticket. The caller holds
 * streams->lock.
 */
void streams_hold_back(struct streams *streams, struct gkf_ticket ticket);

static inline void stream_lock(CUstream s)
{
	pthread_mutex_lock(&s->of->lock);
}

static inline void stream_unlock(CUstream s)
{
	pthread_mutex_unlock(&s->of->lock);
}

/*
 * Collects the tickets of the stream's present work, whether done or not; for
 * the legacy stream, also those of all streams for which it would wait.
 */
void stream_pending(CUstream s, struct pending *ret_pending);
bool stream_is_done(CUstream s);

/*
 * Waits for a ticket in the way that the policy (CU_CTX_SCHED_...) specifies.
 */
void stream_wait(CUcontext ctx, unsigned policy, struct gkf_ticket ticket);

/* Returns the context's sticky error, or CUDA_SUCCESS. */
static inline CUresult stream_error(CUcontext ctx)
{
	return ctx_error(ctx);
}

/*
 * hostfunc.c: make tasks that call a function of the program; NULL: out of
 * memory. `named` is the stream argument, which is passed on to the callback.
 */
struct gkf_task *hostfunc_make(CUhostFn function, void *data);
struct gkf_task *callback_make(CUcontext ctx, CUstream named,
			       CUstreamCallback callback, void *data);

/*
 * stream_value.c: checks memory operations (waits and writes), and makes one
 * task of them; NULL: out of memory.
 */
CUresult values_check(const CUstreamBatchMemOpParams *ops, unsigned count);
struct gkf_task *values_make(const CUstreamBatchMemOpParams *ops,
			     unsigned count);

/*
 * event.c: records an event in a queue of the event's context; takes no lock of
 * streams.
 */
CUresult event_put(CUevent event, struct gkf_queue *queue);
CUcontext event_context(CUevent event);

/*
 * Whether the event was recorded in a capture. If so, the stream that is to
 * wait for the event joins that capture, and *ret_result is set.
 */
bool event_join(CUevent event, CUstream s, CUresult *ret_result);

/* event_wait.c: checks an event and returns the ticket of its last record. */
CUresult event_check(CUevent event, struct gkf_ticket *ret_ticket);

/*
 * Makes later work of a stream wait for an event's records in other processes.
 * The caller holds the lock of the stream's context.
 */
CUresult event_await(CUstream s, CUevent event);

/*
 * stream_thread.c: returns the calling thread's own stream; NULL: out of
 * memory.
 */
CUstream stream_of_thread(CUcontext ctx);
/* Detaches the streams of a context that ends from their threads. */
void stream_leave_threads(struct streams *streams);

#endif
