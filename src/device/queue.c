/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue.c - owns the queues: their tasks, the order of tasks, and which queue
 * waits for which.
 */
#include "base/assert.h"
#include "base/err.h"
#include "device/queue_private.h"
#include "machine/file/numbers.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdatomic.h>

/* A task that only makes its queue wait for another queue. */
struct barrier {
	struct gkf_task task;
	struct gkf_ticket ticket;
};

static int is_barrier(struct gkf_task *task)
{
	(void)task;
	return 0;
}

static unsigned level_of_priority(int priority)
{
	int level = priority + GKF_QUEUE_LEVELS / 2;

	return level < 0                  ? 0
	       : level < GKF_QUEUE_LEVELS ? (unsigned)level
					  : GKF_QUEUE_LEVELS - 1;
}

void gkf_queue_priority(struct gkf_queue *queue, int priority)
{
	atomic_store(&queue->level, level_of_priority(priority));
}

/*
 * Returns a new queue, or a freed one, whose task numbers continue where they
 * stopped.
 */
static struct gkf_queue *some_queue(void)
{
	struct gkf_queue *queue;

	pthread_mutex_lock(&gkf_room.lock);
	queue = gkf_room.free;
	if (queue) {
		gkf_room.free = queue->next;
	} else {
		queue = gkf_lasting(sizeof *queue);
		if (queue) {
			pthread_mutex_init(&queue->lock, NULL);
			atomic_init(&queue->wake_at, UINT64_MAX);
			queue->next_of_all = gkf_room.queues;
			gkf_room.queues = queue;
		}
	}
	pthread_mutex_unlock(&gkf_room.lock);
	return queue;
}

int gkf_queue_new(const struct gkf_queue_ask *ask, struct gkf_queue **ret_queue)
{
	struct gkf_queue *queue;

	if (ask->device >= GKF_DEVICES_MAX)
		return GK_ERR_INVALID;
	queue = some_queue();
	if (!queue)
		return GK_ERR_NOMEM;
	queue->ask = *ask;
	gkf_queue_priority(queue, ask->priority);
	atomic_store(&queue->executors, &gkf_room.executors[ask->device]);
	atomic_store(&gkf_room.executors[ask->device].used, true);
	queue->blocked = (struct gkf_ticket){0};
	queue->closing = false;
	atomic_store(&queue->result, 0);
	atomic_store(&queue->stop, atomic_load(&gkf_room.ending));
	*ret_queue = queue;
	return 0;
}

static void recycle_queue(struct gkf_queue *queue)
{
	pthread_mutex_lock(&gkf_room.lock);
	queue->next = gkf_room.free;
	gkf_room.free = queue;
	pthread_mutex_unlock(&gkf_room.lock);
}

/*
 * Removes a queue from the list of those that wait for `on`; false: not in the
 * list.
 */
static bool unblock_queue(struct gkf_queue *on, const struct gkf_queue *queue)
{
	struct gkf_queue **at;
	bool found = false;

	pthread_mutex_lock(&on->lock);
	for (at = &on->waiting; *at && *at != queue; at = &(*at)->next)
		;
	if (*at) {
		*at = queue->next;
		found = true;
	}
	pthread_mutex_unlock(&on->lock);
	return found;
}

void gkf_queue_stop(struct gkf_queue *queue, int result)
{
	struct gkf_ticket on;
	int none = 0;

	atomic_compare_exchange_strong(&queue->result, &none, result);
	atomic_store(&queue->stop, true);
	pthread_mutex_lock(&queue->lock);
	on = queue->blocked;
	pthread_mutex_unlock(&queue->lock);
	if (on.queue && unblock_queue(on.queue, queue))
		gkf_executors_add(queue);
	gkf_executors_stir(queue->executors);
}

void gkf_queue_release(struct gkf_queue *queue, bool drop)
{
	bool idle;

	if (drop)
		gkf_queue_stop(queue, GKF_RESULT_ENDED);
	pthread_mutex_lock(&queue->lock);
	queue->closing = true;
	idle = !queue->busy;
	pthread_mutex_unlock(&queue->lock);
	gkf_work_release(queue->executors);
	if (idle)
		recycle_queue(queue);
}

/*
 * Appends a task. Returns true if the queue was idle: then the caller must
 * serve it.
 */
static bool append_task(struct gkf_queue *queue, struct gkf_task *task,
			uint64_t *ret_number)
{
	bool was_busy;

	task->next = NULL;
	pthread_mutex_lock(&queue->lock);
	task->number =
	    atomic_load_explicit(&queue->pushed, memory_order_relaxed) + 1;
	*ret_number = task->number;
	if (queue->head)
		queue->tail->next = task;
	else
		queue->head = task;
	queue->tail = task;
	was_busy = queue->busy;
	queue->busy = true;
	atomic_store_explicit(&queue->pushed, task->number,
			      memory_order_release);
	pthread_mutex_unlock(&queue->lock);
	return !was_busy;
}

static void let_task_go(struct gkf_task *task, int result)
{
	if (task->ret_result)
		*task->ret_result = result;
	if (task->drop)
		task->drop(task);
}

static bool is_ending(void)
{
	return atomic_load_explicit(&gkf_room.ending, memory_order_relaxed);
}

/* During process exit no thread serves queues, so the task is dropped. */
static bool end_at_exit(struct gkf_task *task)
{
	if (!is_ending())
		return false;
	let_task_go(task, GKF_RESULT_ENDED);
	gkf_task_free(task);
	return true;
}

void gkf_queue_push(struct gkf_queue *queue, struct gkf_task *task)
{
	uint64_t number;

	GK_ASSERT(task->run != NULL);
	if (end_at_exit(task) || !append_task(queue, task, &number))
		return;
	gkf_executors_add(queue);
}

struct gkf_ticket gkf_queue_ticket(struct gkf_queue *queue)
{
	return (struct gkf_ticket){
	    queue, atomic_load_explicit(&queue->pushed, memory_order_acquire)};
}

void gkf_queue_after(struct gkf_queue *queue, struct gkf_ticket ticket)
{
	struct barrier *barrier;

	if (ticket.queue == queue || gkf_ticket_done(ticket))
		return;
	barrier = gkf_task_new(sizeof *barrier);
	if (!barrier) {
		gkf_ticket_wait(ticket);
		return;
	}
	barrier->task.run = is_barrier;
	barrier->ticket = ticket;
	gkf_queue_push(queue, &barrier->task);
}

/*
 * Adds a queue to the list of the queue that it waits for; false: it need not
 * wait. gkf_queue_stop() sets the result before it searches that list, so
 * either it finds the queue there or this function sees the result.
 */
static bool block_queue(struct gkf_queue *queue, struct gkf_ticket ticket)
{
	struct gkf_queue *on = ticket.queue;
	bool blocked;

	if (gkf_ticket_done(ticket))
		return false;
	pthread_mutex_lock(&queue->lock);
	queue->blocked = ticket;
	pthread_mutex_unlock(&queue->lock);
	pthread_mutex_lock(&on->lock);
	blocked = !gkf_ticket_done(ticket) && !atomic_load(&queue->result);
	if (blocked) {
		queue->next = on->waiting;
		on->waiting = queue;
	}
	pthread_mutex_unlock(&on->lock);
	return blocked;
}

/* Runs a task. GKF_TASK_AGAIN: the queue no longer belongs to the caller. */
static int step_task(struct gkf_queue *queue, struct gkf_task *task)
{
	int result = atomic_load_explicit(&queue->result, memory_order_acquire);

	if (!result)
		result = gkf_queue_struck(queue);
	if (result)
		return result;
	if (task->run == is_barrier) {
		struct barrier *barrier = (struct barrier *)task;

		return block_queue(queue, barrier->ticket) ? GKF_TASK_AGAIN : 0;
	}
	result = gkf_work_run(queue, task);
	if (result == GKF_TASK_LATER)
		return GKF_TASK_AGAIN;
	if (result == GKF_TASK_AGAIN && !gkf_executors_watch(queue))
		result = atomic_load(&queue->result);
	return result;
}

static void fail_queue(struct gkf_queue *queue, int result)
{
	int none = 0;

	if (!atomic_compare_exchange_strong(&queue->result, &none, result))
		return;
	atomic_store(&queue->stop, true);
	if (queue->ask.failed)
		queue->ask.failed(queue->ask.owner, result);
}

/*
 * Removes and returns the waiting queues whose awaited task is done. The caller
 * holds queue->lock.
 */
static struct gkf_queue *take_waiting(struct gkf_queue *queue, uint64_t done)
{
	struct gkf_queue **at = &queue->waiting, *ready = NULL, *one;

	GK_ASSERT(gk_lock_held(&queue->lock));
	while ((one = *at)) {
		if (one->blocked.number > done) {
			at = &one->next;
			continue;
		}
		*at = one->next;
		one->next = ready;
		ready = one;
	}
	return ready;
}

/*
 * Finishes the task at the head and returns the next one. NULL: the queue is
 * empty and no longer belongs to the caller; another thread may be serving it
 * already.
 */
static struct gkf_task *finish_head(struct gkf_queue *queue, int result)
{
	struct gkf_task *task = queue->head, *next;
	struct gkf_queue *ready, *one;
	uint64_t number = task->number;
	bool gone = false;

	if (queue->looked)
		gkf_executors_found(queue->executors);
	queue->looked = false;
	if (result)
		fail_queue(queue, result);
	let_task_go(task, result);
	pthread_mutex_lock(&queue->lock);
	next = queue->head = task->next;
	if (!next) {
		queue->busy = false;
		gone = queue->closing;
	}
	atomic_store(&queue->done, number);
	ready = queue->waiting ? take_waiting(queue, number) : NULL;
	pthread_mutex_unlock(&queue->lock);
	gkf_task_free(task);
	gkf_wake_waiters(queue, number);
	while ((one = ready)) {
		ready = one->next;
		gkf_executors_add(one);
	}
	if (gone)
		recycle_queue(queue);
	return next;
}

/*
 * Called with the result of step_task(): finishes the task, unless it must run
 * again. False: the queue no longer belongs to the caller.
 */
static bool end_step(struct gkf_queue *queue, int result)
{
	bool more;

	if (result == GKF_TASK_AGAIN || result == GKF_TASK_FORKED)
		return false;
	more = finish_head(queue, result);
	if (atomic_load_explicit(&gkf_room.watched, memory_order_relaxed))
		gkf_queue_look();
	return more;
}

/*
 * While the process exits, results are not reported: waiting threads wait until
 * the process has ended.
 */
void gkf_queue_serve(struct gkf_queue *queue)
{
	struct gkf_executors *executors = queue->executors;
	int result;

	for (;;) {
		result = step_task(queue, queue->head);
		if (is_ending() || !end_step(queue, result))
			return;
		if (gkf_executors_pressed(executors)) {
			gkf_executors_add(queue);
			return;
		}
	}
}

void gkf_queue_put(struct gkf_queue *queue, struct gkf_task *task,
		   struct gkf_own_task *own)
{
	own->ticket = (struct gkf_ticket){0};
	own->serves = false;
	own->result = GKF_RESULT_ENDED;
	task->ret_result = &own->result;
	if (end_at_exit(task))
		return;
	own->ticket.queue = queue;
	own->serves = append_task(queue, task, &own->ticket.number);
}

int gkf_queue_do(struct gkf_own_task *own)
{
	struct gkf_queue *queue = own->ticket.queue;

	if (own->serves && end_step(queue, step_task(queue, queue->head)))
		gkf_executors_add(queue);
	if (queue)
		gkf_ticket_sleep(own->ticket);
	return own->result;
}

int gkf_queue_run(struct gkf_queue *queue, struct gkf_task *task)
{
	struct gkf_own_task own;

	gkf_queue_put(queue, task, &own);
	return gkf_queue_do(&own);
}
