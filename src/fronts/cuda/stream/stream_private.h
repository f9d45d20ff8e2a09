/*
 * stream_private.h - what the files of streams and events share: the streams
 * of a context and who of them waits for whom.
 *
 * The legacy default stream and the blocking streams of a context wait for
 * each other. `active` are the blocking ones that were given work since the
 * legacy stream last waited for all; a blocking stream remembers up to which
 * number of the legacy stream it waits. All under the lock of the context's
 * streams, which is held for no longer than a push takes.
 */
#ifndef GKF_CUDA_STREAM_PRIVATE_H
#define GKF_CUDA_STREAM_PRIVATE_H

#include "fronts/cuda/capture_deps.h"
#include "fronts/cuda/stream.h"

#include <pthread.h>

struct streams;
struct thread_entry;

/* cuCtxGetStreamPriorityRange tells these. */
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
	uint64_t legacy_seen; /* waits for the legacy stream up to this */
	CUstream next, *at;   /* in streams.all; who points here */
	CUstream next_active;
	bool is_active;
	bool detached; /* its green context has ended; it can be destroyed */
	struct thread_entry *thread; /* whose default stream it is, or NULL */
	/* cuStreamSetAttribute() */
	_Atomic unsigned sync_policy;
	CUlaunchAttributeValue window, domain_map, domain;
	/* capture.h; the rest of it with the lock of graphs */
	_Atomic(struct capture *) capture;
	struct capture_deps deps;
	CUstream next_captured;
};

/* The rest of a stream that was destroyed before its work was done. */
struct left {
	struct gkf_ticket ticket;
	bool blocking;
};

/* The streams of one context. */
struct streams {
	pthread_mutex_t lock;
	CUcontext ctx;
	struct streams *next; /* of the process, in the order of `serial` */
	uint64_t serial;
	CUstream all, legacy, active;
	struct left *left;
	unsigned left_count, left_room;
	struct gkf_queue *gather; /* waits for many things at once */
	struct gkf_queue *hold;   /* every stream waits for all in it */
	_Atomic unsigned capturing_blocking, capturing_others; /* streams */
};

/* Tickets that somebody waits for; those beyond the room wait in `gather`. */
#define PENDING_ROOM 32
struct pending {
	struct gkf_ticket ticket[PENDING_ROOM];
	unsigned count;
	bool gathered;
};

/* The nearest priority that there is. */
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
 * Enters a call about a stream of any context: the current one when it is a
 * default stream. The context's sticky error goes before.
 */
CUresult stream_enter(enum cuda_row row, CUstream given, bool per_thread,
		      CUstream *ret_stream);

/* The stream that a caller means; CUDA_ERROR_INVALID_HANDLE of another ctx. */
CUresult stream_find(CUcontext ctx, CUstream given, bool per_thread,
		     CUstream *ret_stream);

/* A new stream of a context; NULL: no memory. */
CUstream stream_new(CUcontext ctx, enum stream_kind kind, int priority);

/* Ends the handle; the stream's work is still done. */
void stream_destroy(CUstream s);

/*
 * Takes the lock of the stream's context for a push: what is pushed until
 * stream_unlock() waits for all that it has to wait for. Waits before that
 * when there is far too much in the stream.
 */
void stream_begin(CUstream s);
void stream_push(CUstream s, struct gkf_task *task);

/*
 * Records all the work that a context was given, in whichever stream; makes
 * every stream of it wait, those that are made later, too. event.c.
 */
CUresult event_record_all(CUcontext ctx, CUevent event);
CUresult event_hold_back(CUcontext ctx, CUevent event);

/*
 * An error of the device: all contexts that share memory with ctx have it, and
 * what their streams still have to do is dropped. Takes locks.
 */
void streams_fail(CUcontext ctx, CUresult result);

/* The two halves of stream_begin(): only the first one waits. */
void stream_make_room(CUstream s);
void stream_hold(CUstream s);

/* Add streams to those that stream_drain_all() finds, and take them out. */
void streams_enlist(struct streams *streams);
void streams_strike_off(struct streams *streams);

/* Under the lock: `gather` waits for all that the context has to do. */
void streams_gather(struct streams *streams);

/*
 * The same of all green contexts of a base: into its `gather`; and the other
 * way about, all their streams wait for a ticket. Without locks.
 */
void streams_gather_greens(CUcontext base);
void streams_hold_greens(CUcontext base, struct gkf_ticket ticket);

/* Under the lock: what streams are given from now on waits for a ticket. */
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
 * Collects all that a stream stands for now, done or not; for the legacy one:
 * all that it would wait for.
 */
void stream_pending(CUstream s, struct pending *ret_pending);
bool stream_is_done(CUstream s);

/* Waits as a policy of the context (CU_CTX_SCHED_...) says. */
void stream_wait(CUcontext ctx, unsigned policy, struct gkf_ticket ticket);

/* The context's error, if it has one. */
static inline CUresult stream_error(CUcontext ctx)
{
	return ctx_error(ctx);
}

/* hostfunc.c: the task that calls a function of the program's; NULL. */
struct gkf_task *hostfunc_make(CUhostFn function, void *data);

/*
 * stream_value.c: checks operations on words in memory, and makes a task of
 * them; NULL: no memory.
 */
CUresult values_check(const CUstreamBatchMemOpParams *ops, unsigned count);
struct gkf_task *values_make(const CUstreamBatchMemOpParams *ops,
			     unsigned count);

/* event.c: records an event of a queue's context in the queue; no locks. */
CUresult event_put(CUevent event, struct gkf_queue *queue);
CUcontext event_context(CUevent event);

/*
 * Was it recorded in a capture? Then a stream that waits for it joins that, or
 * learns why it may not.
 */
bool event_join(CUevent event, CUstream s, CUresult *ret_result);

/* event.c: is it an event that lives, and what would wait for it? */
CUresult event_check(CUevent event, struct gkf_ticket *ret_ticket);

/*
 * The same for records of other processes: what the stream is given from now on
 * waits for them. Under the lock.
 */
CUresult event_await(CUstream s, CUevent event);

/* stream_thread.c: the calling thread's own stream; NULL: no memory. */
CUstream stream_of_thread(CUcontext ctx);
/* The streams of a context that ends are no thread's any more. */
void stream_leave_threads(struct streams *streams);

#endif
