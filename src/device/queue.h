/*
 * queue.h - streams: work in order, done by executor threads of this process.
 *
 * A queue belongs to one device and does one task after the other; queues run
 * beside each other, as far as the device lets them. Pushing returns at once.
 * Executor threads block all signals, have a default MXCSR and end within a
 * bounded time at exit. After fork() the child has no queues; one that a task
 * forked ends, with status 0, where the task returns.
 *
 * Kernels run while this process has its turn on the device (turn.h) and are
 * its busy time (busy.h); copies are traffic. Both are seen to here.
 */
#ifndef GKF_QUEUE_H
#define GKF_QUEUE_H

#include "base/export.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stddef.h>

struct gkf_machine;

/* The kind of work that a task is for the device. */
enum gkf_work {
	GKF_WORK_NONE,    /* events, waits, copies on the host */
	GKF_WORK_KERNEL,  /* busy time */
	GKF_WORK_COPY_IN, /* `bytes` over PCIe to the device */
	GKF_WORK_COPY_OUT,
	GKF_WORK_COPY_DEVICE, /* `bytes` inside the device; sets, too */
	GKF_WORK_HOST,        /* a function of the program's; may block */
};

/* Answer of a task that waits for something in memory: look again later. */
#define GKF_TASK_AGAIN (-1)

/*
 * One piece of work, the head of a bigger struct of whoever pushes it. It
 * belongs to the queue from the push on, and its memory too.
 */
struct gkf_task {
	/*
	 * Does it, on an executor thread. 0, or a CUresult: then `failed` of
	 * the queue is told, and the rest is dropped without being run.
	 * GKF_TASK_AGAIN: it is run once more when something was written, or
	 * after a short while; no thread is held meanwhile.
	 */
	int (*run)(struct gkf_task *task);
	/* Lets go of what the struct holds, done or not; may be NULL. */
	void (*drop)(struct gkf_task *task);
	int *ret_result; /* what it came to; may be NULL */
	uint64_t bytes;
	uint32_t work; /* enum gkf_work */
	uint32_t room; /* of gkf_task_new() */
	struct gkf_task *next;
	uint64_t number; /* in its queue */
};

/* `size` bytes, the first of them a zeroed task; NULL: out of memory. */
GKF_API void *gkf_task_new(size_t size);
GKF_API void gkf_task_free(void *task); /* of one that was never pushed */

struct gkf_queue;

struct gkf_queue_ask {
	struct gkf_machine *machine;
	unsigned device, slot; /* of the machine; of the ledger */
	int priority;          /* the lower, the sooner */
	void *owner;           /* handed to `failed` */
	void (*failed)(void *owner, int result); /* on an executor thread */
	/* A word that changes when the device fails: with what, below; or NULL
	 */
	const _Atomic uint64_t *strike;
	uint64_t strike_seen; /* the word as it is while all is well */
	/* How many times as long copies take; NULL: once. */
	uint64_t (*slowness)(void *owner);
};

#define GKF_RESULT_ENDED 4 /* CUDA_ERROR_DEINITIALIZED: the process exits */

/* A place in a queue: all that was pushed up to `number`. */
struct gkf_ticket {
	struct gkf_queue *queue; /* NULL: nothing, and always done */
	uint64_t number;
};

/*
 * Makes a queue of the device. 0; GK_ERR_INVALID: there is no such device;
 * GK_ERR_NOMEM. The owner must live until the queue is released and empty.
 */
GKF_API int gkf_queue_new(const struct gkf_queue_ask *ask,
			  struct gkf_queue **ret_queue);

/*
 * No more will be pushed: what is in it is still done (drop: thrown away, and
 * a running kernel told to stop), then the queue goes away by itself. Tickets
 * of it stay valid and done.
 */
GKF_API void gkf_queue_release(struct gkf_queue *queue, bool drop);

/* Puts a task behind the others; any thread may. The task is the queue's now.
 */
GKF_API void gkf_queue_push(struct gkf_queue *queue, struct gkf_task *task);

/*
 * Pushes, waits until it is done and answers what it came to. The calling
 * thread does it itself when nothing else is in the queue.
 */
int gkf_queue_run(struct gkf_queue *queue, struct gkf_task *task);

/*
 * The two halves of it: put keeps its place in the order and takes no time;
 * gkf_queue_do() must follow, by the same thread.
 */
struct gkf_own_task {
	struct gkf_ticket ticket;
	bool serves; /* the task is this thread's to do */
	int result;
};
GKF_API void gkf_queue_put(struct gkf_queue *queue, struct gkf_task *task,
			   struct gkf_own_task *own);
GKF_API int gkf_queue_do(struct gkf_own_task *own);

/*
 * The calling thread does a kernel's work itself, beside the queue: in this
 * process's turn on its device, as busy time, until it gives the turn back.
 * Any number of threads may, and what they do may nest.
 */
GKF_API void gkf_queue_take_turn(struct gkf_queue *queue);
GKF_API void gkf_queue_give_turn(struct gkf_queue *queue);

/* From its next task on. */
GKF_API void gkf_queue_priority(struct gkf_queue *queue, int priority);

/*
 * Stops a queue whose device has failed: a running kernel is told to stop, and
 * every task in the queue, or pushed later, is dropped and comes to `result`.
 */
GKF_API void gkf_queue_stop(struct gkf_queue *queue, int result);

/* A ticket for all tasks that were pushed so far. */
GKF_API struct gkf_ticket gkf_queue_ticket(struct gkf_queue *queue);
GKF_API bool gkf_ticket_done(struct gkf_ticket ticket);
GKF_API void gkf_ticket_wait(struct gkf_ticket ticket);

/*
 * Waits without sleeping, so long at most; is it done? Where no thread could
 * be started for the queue's device this does its work.
 */
GKF_API bool gkf_ticket_spin(struct gkf_ticket ticket, uint64_t ns);

/* Tasks that are pushed from now on start after the ticket is done. */
GKF_API void gkf_queue_after(struct gkf_queue *queue, struct gkf_ticket ticket);

/* Something that a task waits for may have been written by this thread. */
void gkf_queue_look(void);

/*
 * Shall the running kernel of the calling executor thread end early? Kernels
 * look at every back-branch; they also give up the device there when others
 * wait for their turn. False on any other thread.
 */
GKF_API bool gkf_task_stopped(void);

/* After fork(), in the child. */
GKF_API void gkf_queue_forget(void);

/*
 * The process exits: kernels are told to stop, what runs is waited for, half a
 * second at most; nothing else is begun, and what is pushed is dropped. Done
 * by itself when this library is taken down, if nobody did before.
 */
GKF_API void gkf_queue_end(void);

#endif
