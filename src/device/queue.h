/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue.h - queues, which implement streams: executor threads of this process
 * do the tasks of a queue in order.
 *
 * A queue belongs to one device and runs one task at a time; different queues
 * run concurrently, as far as the device allows. Pushing a task returns at
 * once. Executor threads block all signals (except SIGBUS), have the default
 * MXCSR and end within a bounded time at exit. After fork() the child has no
 * queues; a child forked by a task exits with status 0 when the task returns.
 *
 * The queue waits for this process's turn on the device (turn.h) before it runs
 * a kernel. It counts kernels as busy time (busy.h), and copies as traffic.
 */
#ifndef GKF_QUEUE_H
#define GKF_QUEUE_H

#include "base/export.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stddef.h>

struct gkf_machine;

/* How a task uses the device. */
enum gkf_work {
	GKF_WORK_NONE,    /* events, waits, copies from host to host */
	GKF_WORK_KERNEL,  /* counts as busy time */
	GKF_WORK_COPY_IN, /* copies `bytes` over PCIe to the device */
	GKF_WORK_COPY_OUT,
	GKF_WORK_COPY_DEVICE, /* copies or sets `bytes` within the device */
	GKF_WORK_HOST,        /* calls a function of the program; may block */
};

/*
 * The result of a task that waits for a change in memory: the task is run again
 * later.
 */
#define GKF_TASK_AGAIN (-1)

/*
 * A piece of work; the first member of a larger struct of the caller. Once
 * pushed, the task and the memory of the struct belong to the queue.
 */
struct gkf_task {
	/*
	 * Does the work, on an executor thread. Returns 0, GKF_TASK_AGAIN or an
	 * error, which is a CUresult. An error is passed to the queue's
	 * `failed`; then all other tasks of the queue are dropped without being
	 * run. After GKF_TASK_AGAIN the task is run again when a task has
	 * written something, or after a short time; it occupies no thread in
	 * the meantime.
	 */
	int (*run)(struct gkf_task *task);
	/*
	 * Releases what the struct holds, whether the task was run or not; may
	 * be NULL.
	 */
	void (*drop)(struct gkf_task *task);
	int *ret_result; /* receives the result; may be NULL */
	uint64_t bytes;
	uint32_t work; /* enum gkf_work */
	uint32_t room; /* set by gkf_task_new() */
	struct gkf_task *next;
	uint64_t number; /* number in its queue; the first is 1 */
};

/* Allocates `size` bytes that begin with a zeroed task; NULL: out of memory. */
GKF_API void *gkf_task_new(size_t size);
/* Frees a task that was never pushed. */
GKF_API void gkf_task_free(void *task);

struct gkf_queue;

struct gkf_queue_ask {
	struct gkf_machine *machine;
	/* the device's index, and this process's slot on the device */
	unsigned device, slot;
	int priority; /* queues with lower numbers run sooner */
	void *owner;  /* passed to `failed` */
	/* called on an executor thread */
	void (*failed)(void *owner, int result);
	/*
	 * A word that changes when the device fails; its low 16 bits are then
	 * the result. NULL: the device never fails.
	 */
	const _Atomic uint64_t *strike;
	/* the value of that word while the device works */
	uint64_t strike_seen;
	/* The factor by which copies are slowed; NULL: 1. */
	uint64_t (*slowness)(void *owner);
};

#define GKF_RESULT_ENDED 4 /* CUDA_ERROR_DEINITIALIZED: the process exits */

/* A position in a queue. It is done when all tasks up to `number` are done. */
struct gkf_ticket {
	struct gkf_queue *queue; /* NULL: the ticket is always done */
	uint64_t number;
};

/*
 * Creates a queue of a device. Returns 0, GK_ERR_INVALID if there is no such
 * device, or GK_ERR_NOMEM. The owner must live until the queue is released and
 * empty.
 */
GKF_API int gkf_queue_new(const struct gkf_queue_ask *ask,
			  struct gkf_queue **ret_queue);

/*
 * Releases a queue, to which nothing may be pushed any more. The remaining
 * tasks are still done; with `drop`, they are dropped instead and a running
 * kernel is stopped. Then the queue is freed. Its tickets stay valid and become
 * done.
 */
GKF_API void gkf_queue_release(struct gkf_queue *queue, bool drop);

/* Appends a task, which then belongs to the queue. Any thread may call it. */
GKF_API void gkf_queue_push(struct gkf_queue *queue, struct gkf_task *task);

/*
 * Pushes a task, waits until it is done and returns its result. If the queue is
 * empty, the calling thread does the task itself.
 */
int gkf_queue_run(struct gkf_queue *queue, struct gkf_task *task);

/*
 * The two halves of gkf_queue_run(). gkf_queue_put() puts the task in the queue
 * and returns at once; gkf_queue_do(), which the same thread must call next,
 * does the task or waits for it.
 */
struct gkf_own_task {
	struct gkf_ticket ticket;
	bool serves; /* this thread must do the task */
	int result;
};
GKF_API void gkf_queue_put(struct gkf_queue *queue, struct gkf_task *task,
			   struct gkf_own_task *own);
GKF_API int gkf_queue_do(struct gkf_own_task *own);

/*
 * For a thread that does a kernel's work itself, outside the queue.
 * gkf_queue_take_turn() waits for this process's turn on the device; from then
 * until gkf_queue_give_turn() the work counts as busy time. Several threads may
 * do this at once, and calls may be nested.
 */
GKF_API void gkf_queue_take_turn(struct gkf_queue *queue);
GKF_API void gkf_queue_give_turn(struct gkf_queue *queue);

/* Sets the priority that applies from the next task on. */
GKF_API void gkf_queue_priority(struct gkf_queue *queue, int priority);

/*
 * Stops a queue whose device has failed: a running kernel is stopped, and all
 * tasks, including later ones, are dropped with `result`.
 */
GKF_API void gkf_queue_stop(struct gkf_queue *queue, int result);

/* Returns a ticket for all tasks pushed so far. */
GKF_API struct gkf_ticket gkf_queue_ticket(struct gkf_queue *queue);
GKF_API bool gkf_ticket_done(struct gkf_ticket ticket);
GKF_API void gkf_ticket_wait(struct gkf_ticket ticket);

/*
 * Spins for at most `ns`; returns whether the ticket is done. If no thread
 * could be started for the queue's device, does the device's work instead.
 */
GKF_API bool gkf_ticket_spin(struct gkf_ticket ticket, uint64_t ns);

/* Makes tasks pushed from now on start only after the ticket is done. */
GKF_API void gkf_queue_after(struct gkf_queue *queue, struct gkf_ticket ticket);

/* Called when this thread may have written something that a task waits for. */
void gkf_queue_look(void);

/*
 * Whether the kernel that runs on this executor thread must end early. Kernels
 * call it at every backward branch; there they also yield the device if other
 * processes wait for their turn. Returns false on any other thread.
 */
GKF_API bool gkf_task_stopped(void);

/* Called after fork() in the child. */
GKF_API void gkf_queue_forget(void);

/*
 * Ends the queues at process exit: stops kernels and waits at most half a
 * second for running tasks. No other task is begun; tasks pushed from now on
 * are dropped. A destructor of this library calls it unless it was called
 * before.
 */
GKF_API void gkf_queue_end(void);

#endif
