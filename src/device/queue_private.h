/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue_private.h - shared by the files that implement queues.
 *
 * A queue is `busy` while it is in a list or a thread serves it. Only the
 * serving thread removes tasks, so a queue's lock is held only briefly, and a
 * thread never holds the locks of two queues. struct gkf_executors owns the
 * threads of a device and its ready queues, by priority. A thread never holds
 * the lock of a queue and the lock of struct gkf_executors together.
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

/* A thread-local word that is accessed without a function call. */
#define GKF_THREAD_WORD _Thread_local __attribute__((tls_model("initial-exec")))

/*
 * The maximum number of threads of a device, and how many of them may run
 * kernels and host functions, either of which may block forever. The other
 * threads are left for tasks that are sure to end. GPUs run up to 128 kernels
 * at once.
 */
#define GKF_EXECUTORS_MAX 192
#define GKF_KERNELS_MAX   128
#define GKF_HOSTS_MAX     48

struct gkf_executors;

/* Queues are never unmapped, because tickets of freed queues stay readable. */
struct gkf_queue {
	pthread_mutex_t lock;
	struct gkf_task *head, *tail; /* the head is the running task */
	bool busy, closing;
	/*
	 * Whether the head has returned GKF_TASK_AGAIN. Only the serving thread
	 * uses this member.
	 */
	bool looked;
	/* queues that wait for this one, linked by `next` */
	struct gkf_queue *waiting;
	_Atomic uint64_t pushed, done;
	/* if not 0, all tasks are dropped with this result */
	_Atomic int result;

	_Atomic bool stop; /* the running kernel must end */

	/* the next queue in the list that contains this one */
	struct gkf_queue *next;
	struct gkf_queue *next_of_all;
	/* the ticket for which the queue waits, if it is blocked */
	struct gkf_ticket blocked;
	_Atomic(struct gkf_executors *) executors;
	struct gkf_queue_ask ask;
	_Atomic unsigned level; /* index in gkf_executors.ready */

	/*
	 * For sleeping threads: the lowest task number awaited, and the word
	 * they sleep on.
	 */
	_Atomic uint64_t wake_at;
	_Atomic uint32_t wake_word;
};

/* A thread that serves the queues of a device. */
struct gkf_executor {
	struct gkf_executors *executors;
	/* the next thread in the list of idle threads */
	struct gkf_executor *next;
	_Atomic uint32_t woken; /* the word on which the thread sleeps */
	_Atomic bool alive, working;
};

/* A running task; lives on the stack of the thread that runs it. */
struct gkf_running {
	struct gkf_queue *queue;
	struct gkf_running *outer;
	pthread_mutex_t yielding; /* held while the task yields its turn */
	_Atomic bool has_turn;
};

struct gkf_list {
	struct gkf_queue *first, *last;
};

/*
 * A limit on the number of running tasks that may block. Queues wait here while
 * the limit is reached.
 */
struct gkf_admission {
	unsigned taken;
	struct gkf_list waiting;
};

struct gkf_executors {
	pthread_mutex_t lock;
	struct gkf_list ready[GKF_QUEUE_LEVELS];
	uint32_t levels; /* one bit for each level with a ready queue */
	_Atomic unsigned ready_count;
	struct gkf_list watched; /* queues whose head returned GKF_TASK_AGAIN */
	uint64_t watch_ns;       /* interval between checks of these queues */
	/*
	 * number of ready queues that the watcher, the thread that checks
	 * watched queues, will serve; no thread is woken for them
	 */
	unsigned quiet;
	struct gkf_executor *idle;
	struct gkf_executor *spinner, *watcher;
	_Atomic unsigned threads;
	unsigned in_long; /* number of threads in long tasks */
	struct gkf_admission kernel_admission, host_admission;
	_Atomic bool used;
	struct gkf_executor executor[GKF_EXECUTORS_MAX];

	pthread_mutex_t turn; /* guards the count of kernels */
	/* running kernels of this process; a kept turn counts as one */
	unsigned kernels;
	/*
	 * Whether the turn of a kernel that has ended is kept until its thread
	 * finds nothing to do. Guarded by `turn`.
	 */
	_Atomic bool keeps;
	/*
	 * Whether copies have run since that kernel ended; if so, the kept turn
	 * is not counted in `kernels`.
	 */
	bool kept_rests;
	struct gkf_machine *kept_machine;
	unsigned kept_slot;
};

struct gkf_queue_room {
	struct gkf_executors executors[GKF_DEVICES_MAX];
	pthread_mutex_t lock;
	struct gkf_queue *queues; /* all, linked by `next_of_all` */
	struct gkf_queue *free;   /* freed queues, linked by `next` */
	_Atomic unsigned watched; /* number of watched queues of all devices */
	_Atomic bool ending;      /* the process is exiting */
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

/* The result with which the queue's device failed; 0: the device works. */
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

/* Like gkf_ticket_wait(), but waits even while the process exits. */
void gkf_ticket_sleep(struct gkf_ticket ticket);

/* Wakes the threads that wait for tasks up to number `done`. */
void gkf_wake_waiters(struct gkf_queue *queue, uint64_t done);

/* queue_memory.c: returns zeroed memory, which is never freed. */
void *gkf_lasting(size_t size);
void gkf_memory_forget(void);

/* queue.c */

/*
 * Runs the tasks of a busy queue until it is empty or blocked, or other queues
 * must be served first.
 */
void gkf_queue_serve(struct gkf_queue *queue);

/* executors.c */

/* Adds a busy queue to the ready ones: any thread may serve it now. */
void gkf_executors_add(struct gkf_queue *queue);

/*
 * Adds a queue whose task must be run again; returns false if the task must be
 * dropped.
 */
bool gkf_executors_watch(struct gkf_queue *queue);

/*
 * Called when the task of a watched queue is done: the watcher now serves that
 * queue, so threads must be woken for the other ready queues.
 */
void gkf_executors_found(struct gkf_executors *executors);

/* Makes all watched queues ready now. */
void gkf_executors_look(struct gkf_executors *executors);

/*
 * Whether other work is ready and no thread is free to do it: then a thread
 * should serve another queue.
 */
bool gkf_executors_pressed(struct gkf_executors *executors);

/*
 * Called when a queue was stopped: makes all waiting queues of the device
 * ready.
 */
void gkf_executors_stir(struct gkf_executors *executors);

/*
 * Called before and after a long task, so that meanwhile other threads do the
 * other work. gkf_executors_begin_long() returns false if too many tasks of
 * this kind are running; then the queue waits for admission and no longer
 * belongs to the caller.
 */
bool gkf_executors_begin_long(struct gkf_queue *queue,
			      const struct gkf_task *task);
void gkf_executors_end_long(struct gkf_executors *executors,
			    const struct gkf_task *task);

/* Whether the calling thread is an executor. False in a forked child. */
bool gkf_is_executor(void);

/*
 * Serves ready queues on the calling thread; used when no thread could be
 * started.
 */
void gkf_executors_help(struct gkf_executors *executors);

/* ---- queue_admission.c; the caller holds executors->lock ---- */

/* Admits a task, or returns false and makes its queue wait for admission. */
bool gkf_admission_take(struct gkf_queue *queue, const struct gkf_task *task);

/*
 * Called when a task has ended. Returns a queue that waited for admission, or
 * NULL.
 */
struct gkf_queue *gkf_admission_leave(struct gkf_executors *executors,
				      const struct gkf_task *task);

/* ---- queue_work.c ---- */

/*
 * Runs a task on the calling thread and accounts for its cost to the device.
 * GKF_TASK_FORKED: the task forked, and this is the child, which has no queues.
 * GKF_TASK_LATER: the task was not started, and its queue no longer belongs to
 * the caller.
 */
#define GKF_TASK_FORKED (-2)
#define GKF_TASK_LATER  (-3)
int gkf_work_run(struct gkf_queue *queue, struct gkf_task *task);

/*
 * Gives a kept turn back, if there is one. If another thread is giving it back
 * at this moment, waits until that is done.
 */
void gkf_work_release(struct gkf_executors *executors);
void gkf_work_plain_floating(void);
void gkf_work_forget(void);

#endif
