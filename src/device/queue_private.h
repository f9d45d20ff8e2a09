/*
 * queue_private.h - what the files of the queues share.
 *
 * A queue is `busy` while it is in some list or some thread serves it; only
 * that thread takes tasks out, so a queue's lock is held for a few words and
 * two of them never at once. The executors of a device have the queues that are
 * ready, by priority, and the threads. Order of locks: queue or executors,
 * never both.
 */
#ifndef GKF_QUEUE_PRIVATE_H
#define GKF_QUEUE_PRIVATE_H

#include "base/futex.h"
#include "device/queue.h"
#include "machine/file/numbers.h"

#include <stdatomic.h>
#include <pthread.h>

#define GKF_QUEUE_LEVELS 16 /* priorities -8..7 */
#define GKF_CACHE_LINE   64

/* One word in the storage that every thread has from the start: no call. */
#define GKF_THREAD_WORD _Thread_local __attribute__((tls_model("initial-exec")))

/*
 * Threads of a device, and how many of them what may block for ever can take:
 * the rest is left to what ends by itself. GPUs run 128 kernels at once.
 */
#define GKF_EXECUTORS_MAX 192
#define GKF_KERNELS_MAX   128
#define GKF_HOSTS_MAX     48

struct gkf_executors;

/* Never unmapped: a ticket of a queue that is gone stays readable. */
struct gkf_queue {
	pthread_mutex_t lock;
	struct gkf_task *head, *tail; /* the one that runs is the head */
	bool busy, closing;
	bool looked; /* the head said GKF_TASK_AGAIN before; its server's */
	struct gkf_queue *waiting; /* for a number of ours, by `next` */
	_Atomic uint64_t pushed, done;
	_Atomic int result; /* not 0: everything is dropped with it */

	_Atomic bool stop; /* and the kernel that runs shall end */

	struct gkf_queue *next; /* of the list it is in */
	struct gkf_queue *next_of_all;
	struct gkf_ticket blocked; /* what it waits for, if it does */
	_Atomic(struct gkf_executors *) executors;
	struct gkf_queue_ask ask;
	_Atomic unsigned level; /* of gkf_executors.ready */

	/* Sleepers: the lowest number awaited, and the word they sleep on. */
	_Atomic uint64_t wake_at;
	_Atomic uint32_t wake_word;
};

/* A thread that serves the queues of a device. */
struct gkf_executor {
	struct gkf_executors *executors;
	struct gkf_executor *next; /* idle */
	_Atomic uint32_t woken;    /* what it sleeps on */
	_Atomic bool alive, working;
};

/* Where a task runs: on the stack of the thread that runs it. */
struct gkf_running {
	struct gkf_queue *queue;
	struct gkf_running *outer;
	pthread_mutex_t yielding; /* held by who gives up the turn for all */
	_Atomic bool has_turn;
};

struct gkf_list {
	struct gkf_queue *first, *last;
};

/* Places for tasks that may block; queues without one wait here. */
struct gkf_admission {
	unsigned taken;
	struct gkf_list waiting;
};

struct gkf_executors {
	pthread_mutex_t lock;
	struct gkf_list ready[GKF_QUEUE_LEVELS];
	uint32_t levels; /* bits: which of them have any */
	_Atomic unsigned ready_count;
	struct gkf_list watched; /* tasks that said GKF_TASK_AGAIN */
	uint64_t watch_ns;       /* between two looks */
	unsigned quiet; /* of those ready: the watcher looks at them alone */
	struct gkf_executor *idle;
	struct gkf_executor *spinner, *watcher;
	_Atomic unsigned threads;
	unsigned in_long; /* of them, in tasks that take long */
	struct gkf_admission kernel_admission, host_admission;
	_Atomic bool used;
	struct gkf_executor executor[GKF_EXECUTORS_MAX];

	pthread_mutex_t turn; /* held while kernels are counted */
	unsigned kernels;     /* of this process that run now, and the kept */
	/* The turn of a kernel that ended, until there is nothing to do for
	 * the thread that ran it; under `turn`. */
	_Atomic bool keeps;
	bool kept_rests; /* copies came since: it is not among the kernels */
	struct gkf_machine *kept_machine;
	unsigned kept_slot;
};

struct gkf_queue_room {
	struct gkf_executors executors[GKF_DEVICES_MAX];
	pthread_mutex_t lock;
	struct gkf_queue *queues; /* all, by `next_of_all` */
	struct gkf_queue *free;   /* those that are gone, by `next` */
	_Atomic unsigned watched; /* queues, of all pools */
	_Atomic bool ending;      /* the process exits */
};
extern struct gkf_queue_room gkf_room;

static inline void gkf_list_add(struct gkf_list *list, struct gkf_queue *queue)
{
	queue->next = NULL;
	if (list->first)
		list->last->next = queue;
	else
		list->first = queue;
	list->last = queue;
}

static inline struct gkf_queue *gkf_list_take(struct gkf_list *list)
{
	struct gkf_queue *queue = list->first;

	if (queue)
		list->first = queue->next;
	return queue;
}

/* What the device of a queue failed with; 0: it has not. */
static inline int gkf_queue_struck(const struct gkf_queue *queue)
{
	const struct gkf_queue_ask *ask = &queue->ask;
	uint64_t now;

	if (!ask->strike)
		return 0;
	now = atomic_load_explicit(ask->strike, memory_order_relaxed);
	return __builtin_expect(now == ask->strike_seen, 1)
		   ? 0
		   : (int)(now & 0xffff);
}

/* As gkf_ticket_wait(), even when the process exits. */
void gkf_ticket_sleep(struct gkf_ticket ticket);

/* Wakes those who wait for the queue to come so far. */
void gkf_wake_waiters(struct gkf_queue *queue, uint64_t done);

/* queue_memory.c: zeroed, and never given back. */
void *gkf_lasting(size_t size);
void gkf_memory_forget(void);

/* queue.c */

/* Does what is in a busy queue, until it is empty, blocked or not its turn. */
void gkf_queue_serve(struct gkf_queue *queue);

/* executors.c */

/* A busy queue that anyone may serve now. */
void gkf_executors_add(struct gkf_queue *queue);

/* One whose task wants to be run again; false: it is to be dropped. */
bool gkf_executors_watch(struct gkf_queue *queue);

/* A watched queue can go on: the watcher is busy with it from now on. */
void gkf_executors_found(struct gkf_executors *executors);

/* All that are watched are looked at now. */
void gkf_executors_look(struct gkf_executors *executors);

/* Shall a thread leave its queue to the end of the line? */
bool gkf_executors_pressed(struct gkf_executors *executors);

/* One of them was stopped: nothing here is waited for any more. */
void gkf_executors_stir(struct gkf_executors *executors);

/*
 * Around a task that may take long: other threads do the rest meanwhile. False:
 * there are too many of its kind, and the queue is in other hands.
 */
bool gkf_executors_begin_long(struct gkf_queue *queue,
			      const struct gkf_task *task);
void gkf_executors_end_long(struct gkf_executors *executors,
			    const struct gkf_task *task);

/* Is the calling thread one of a pool's? Not in a child any more. */
bool gkf_is_executor(void);

/* Does what is ready in the calling thread, where there are no others. */
void gkf_executors_help(struct gkf_executors *executors);

/* queue_admission.c; the pool's lock is held */

/* For a task that begins; false: its queue waits for one. */
bool gkf_admission_take(struct gkf_queue *queue, const struct gkf_task *task);

/* For one that ended. A queue that waited for its seat, or NULL. */
struct gkf_queue *gkf_admission_leave(struct gkf_executors *executors,
				      const struct gkf_task *task);

/* queue_work.c */

/*
 * Runs a task with all that it costs, on the calling thread. GKF_TASK_FORKED:
 * an executor's task forked, and this is the child, which has no queues.
 * GKF_TASK_LATER: it was not begun, and the queue is in other hands.
 */
#define GKF_TASK_FORKED (-2)
#define GKF_TASK_LATER  (-3)
int gkf_work_run(struct gkf_queue *queue, struct gkf_task *task);

/*
 * Gives back the turn that a kernel left to the next one, if it did; when it
 * returns no other thread is about to.
 */
void gkf_work_release(struct gkf_executors *executors);
void gkf_work_plain_floating(void);
void gkf_work_forget(void);

#endif
