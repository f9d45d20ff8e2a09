/* SPDX-License-Identifier: Apache-2.0 */
/*
 * executors.c - owns the executor threads of a device: decides which queue a
 * thread serves next, when it sleeps and wakes, and how it ends with the
 * process.
 */
#include "base/assert.h"
#include "base/clock.h"
#include "base/log.h"
#include "device/cpus.h"
#include "device/queue_private.h"
#include "machine/file/numbers.h"

#include <stdbool.h>
#include <stdatomic.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* How long one idle thread spins before it sleeps. */
#define SPIN_NS (20 * GK_NS_PER_US)

/* The first and the longest interval between checks of watched tasks. */
#define WATCH_FIRST_NS (20 * GK_NS_PER_US)
#define WATCH_LAST_NS  GK_NS_PER_MS

/* How long process exit waits for running tasks. */
#define END_PATIENCE_NS (500 * GK_NS_PER_MS)

struct gkf_queue_room gkf_room;

static GKF_THREAD_WORD struct gkf_executor *self;

static void *run_executor(void *argument);

static unsigned count_cpus(void)
{
	static _Atomic unsigned counted;
	unsigned n = atomic_load_explicit(&counted, memory_order_relaxed);

	if (!n) {
		n = (unsigned)gk_cpu_count();
		atomic_store_explicit(&counted, n, memory_order_relaxed);
	}
	return n;
}

/*
 * Returns a thread to start, or NULL if there are enough: as many as there are
 * CPUs for short tasks, plus one for each long task. The caller holds
 * executors->lock.
 */
static struct gkf_executor *new_executor(struct gkf_executors *executors)
{
	unsigned cpus = count_cpus(),
		 threads = atomic_load(&executors->threads);

	GK_ASSERT(gk_lock_held(&executors->lock));
	if (threads - executors->in_long >= (cpus < 2 ? 2 : cpus))
		return NULL;
	for (unsigned i = 0; i < GKF_EXECUTORS_MAX; i++) {
		struct gkf_executor *e = &executors->executor[i];

		if (atomic_load(&e->alive))
			continue;
		e->executors = executors;
		atomic_store(&e->alive, true);
		atomic_store(&executors->threads, threads + 1);
		return e;
	}
	return NULL;
}

/* Makes waiting threads check again whether any executor exists. */
static void wake_all_waiters(void)
{
	struct gkf_queue *queue;

	pthread_mutex_lock(&gkf_room.lock);
	for (queue = gkf_room.queues; queue; queue = queue->next_of_all)
		gkf_wake_waiters(queue, UINT64_MAX - 1);
	pthread_mutex_unlock(&gkf_room.lock);
}

/* The caller holds no lock. */
static void start_executor(struct gkf_executor *e)
{
	struct gkf_executors *executors = e->executors;
	sigset_t all, old;
	pthread_t thread;
	int error;

	/*
	 * Blocks all signals except SIGBUS, which base/truncated.h handles if a
	 * machine file is truncated.
	 */
	sigfillset(&all);
	sigdelset(&all, SIGBUS);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	error = pthread_create(&thread, NULL, run_executor, e);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (!error) {
		pthread_detach(thread);
		return;
	}
	gk_log(GK_LOG_WARN, "cannot start a thread for CUDA work: %s",
	       strerror(error));
	pthread_mutex_lock(&executors->lock);
	atomic_fetch_sub(&executors->threads, 1);
	atomic_store(&e->alive, false);
	pthread_mutex_unlock(&executors->lock);
	wake_all_waiters();
}

/* The threads to wake or start after releasing the lock. */
struct call {
	struct gkf_executor *wake, *start;
};

static struct call call_somebody(struct gkf_executors *executors)
{
	struct call call = {.wake = executors->idle};

	GK_ASSERT(gk_lock_held(&executors->lock));
	if (call.wake) {
		executors->idle = call.wake->next;
		atomic_store(&call.wake->woken, 1);
	} else {
		call.start = new_executor(executors);
	}
	return call;
}

/*
 * Chooses a thread to wake or start if there is work that no running thread
 * will look at soon.
 */
static struct call call_as_needed(struct gkf_executors *executors)
{
	unsigned ready = atomic_load(&executors->ready_count);

	GK_ASSERT(gk_lock_held(&executors->lock));
	if (ready > (executors->spinner ? 1 : 0) && ready > executors->quiet)
		return call_somebody(executors);
	if (executors->watched.first && !executors->watcher &&
	    !executors->spinner)
		return call_somebody(executors);
	return (struct call){0};
}

static void unlock_and_call(struct gkf_executors *executors, struct call call)
{
	pthread_mutex_unlock(&executors->lock);
	if (call.wake)
		gk_futex_wake(GK_FUTEX_PRIVATE, &call.wake->woken, 1);
	if (call.start)
		start_executor(call.start);
}

static void add_ready(struct gkf_executors *executors, struct gkf_queue *queue)
{
	unsigned level = atomic_load(&queue->level);

	gkf_list_add(&executors->ready[level], queue);
	executors->levels |= 1u << level;
	atomic_fetch_add(&executors->ready_count, 1);
}

static struct gkf_queue *take_ready(struct gkf_executors *executors)
{
	struct gkf_queue *queue;
	unsigned level;

	if (!executors->levels)
		return NULL;
	level = (unsigned)__builtin_ctz(executors->levels);
	queue = gkf_list_take(&executors->ready[level]);
	if (executors->quiet)
		executors->quiet--;
	if (!executors->ready[level].first)
		executors->levels &= ~(1u << level);
	atomic_fetch_sub(&executors->ready_count, 1);
	return queue;
}

void gkf_executors_add(struct gkf_queue *queue)
{
	struct gkf_executors *executors = queue->executors;

	pthread_mutex_lock(&executors->lock);
	add_ready(executors, queue);
	unlock_and_call(executors, call_as_needed(executors));
}

bool gkf_executors_begin_long(struct gkf_queue *queue,
			      const struct gkf_task *task)
{
	struct gkf_executors *executors = queue->executors;
	bool begins;

	if (!self)
		return true;
	pthread_mutex_lock(&executors->lock);
	begins = gkf_admission_take(queue, task);
	if (begins) {
		executors->in_long++;
		executors->quiet = 0;
	}
	unlock_and_call(executors, call_as_needed(executors));
	return begins;
}

void gkf_executors_end_long(struct gkf_executors *executors,
			    const struct gkf_task *task)
{
	struct gkf_queue *next;

	if (!self)
		return;
	pthread_mutex_lock(&executors->lock);
	executors->in_long--;
	next = gkf_admission_leave(executors, task);
	if (next)
		add_ready(executors, next);
	unlock_and_call(executors, call_as_needed(executors));
}

bool gkf_is_executor(void)
{
	return self;
}

/* Whether other work is ready and no thread is free to do it. */
bool gkf_executors_pressed(struct gkf_executors *executors)
{
	bool pressed;

	if (!atomic_load_explicit(&executors->ready_count,
				  memory_order_relaxed))
		return false;
	pthread_mutex_lock(&executors->lock);
	pressed = executors->levels && !executors->idle && !executors->spinner;
	pthread_mutex_unlock(&executors->lock);
	return pressed;
}

/* ---- tasks that wait for a change in memory ---- */

bool gkf_executors_watch(struct gkf_queue *queue)
{
	struct gkf_executors *executors = queue->executors;
	bool watched;

	pthread_mutex_lock(&executors->lock);
	watched = !atomic_load(&queue->result);
	if (watched) {
		if (!queue->looked)
			executors->watch_ns = WATCH_FIRST_NS;
		queue->looked = true;
		gkf_list_add(&executors->watched, queue);
		atomic_fetch_add(&gkf_room.watched, 1);
	}
	unlock_and_call(executors,
			self ? (struct call){0} : call_as_needed(executors));
	return watched;
}

void gkf_executors_found(struct gkf_executors *executors)
{
	pthread_mutex_lock(&executors->lock);
	executors->quiet = 0;
	unlock_and_call(executors, call_as_needed(executors));
}

static void look_for_tasks(struct gkf_executors *executors)
{
	struct gkf_queue *queue;

	while ((queue = gkf_list_take(&executors->watched))) {
		atomic_fetch_sub(&gkf_room.watched, 1);
		add_ready(executors, queue);
	}
}

void gkf_executors_look(struct gkf_executors *executors)
{
	pthread_mutex_lock(&executors->lock);
	look_for_tasks(executors);
	unlock_and_call(executors, call_as_needed(executors));
}

static void all_ready(struct gkf_executors *executors, struct gkf_list *list)
{
	struct gkf_queue *queue;

	while ((queue = gkf_list_take(list)))
		add_ready(executors, queue);
}

void gkf_executors_stir(struct gkf_executors *executors)
{
	pthread_mutex_lock(&executors->lock);
	look_for_tasks(executors);
	all_ready(executors, &executors->kernel_admission.waiting);
	all_ready(executors, &executors->host_admission.waiting);
	unlock_and_call(executors, call_as_needed(executors));
}

void gkf_queue_look(void)
{
	for (unsigned i = 0; i < GKF_DEVICES_MAX; i++) {
		if (atomic_load(&gkf_room.watched) == 0)
			return;
		gkf_executors_look(&gkf_room.executors[i]);
	}
}

/* ---- executor threads ---- */

/* One thread spins for a while, so that new work need not wake a thread. */
static void spin_for_work(struct gkf_executors *executors)
{
	uint64_t end = gk_mono_ns() + SPIN_NS;

	executors->spinner = self;
	pthread_mutex_unlock(&executors->lock);
	while (!atomic_load_explicit(&executors->ready_count,
				     memory_order_relaxed) &&
	       gk_mono_ns() < end) {
		for (int i = 0; i < 16; i++)
			gk_cpu_pause();
	}
	pthread_mutex_lock(&executors->lock);
	executors->spinner = NULL;
}

static void leave_idle(struct gkf_executors *executors)
{
	struct gkf_executor **at = &executors->idle;

	while (*at && *at != self)
		at = &(*at)->next;
	if (*at)
		*at = self->next;
}

/*
 * Sleeps. If tasks are watched, one of the sleeping threads wakes after a short
 * time to check them.
 */
static void rest_executor(struct gkf_executors *executors)
{
	bool watches = executors->watched.first && !executors->watcher;
	uint64_t timeout = watches ? executors->watch_ns : UINT64_MAX;

	if (watches)
		executors->watcher = self;
	atomic_store(&self->woken, 0);
	self->next = executors->idle;
	executors->idle = self;
	pthread_mutex_unlock(&executors->lock);
	gk_futex_wait(GK_FUTEX_PRIVATE, &self->woken, 0, timeout);
	pthread_mutex_lock(&executors->lock);
	leave_idle(executors);
	if (!watches)
		return;
	executors->watcher = NULL;
	if (executors->watch_ns < WATCH_LAST_NS)
		executors->watch_ns *= 2;
	look_for_tasks(executors);
	executors->quiet = atomic_load(&executors->ready_count);
}

/* Sleeps until the process has ended. */
static void park_executor(struct gkf_executors *executors)
{
	pthread_mutex_unlock(&executors->lock);
	gkf_work_release(executors);
	for (;;)
		gk_futex_wait(GK_FUTEX_PRIVATE, &self->woken,
			      atomic_load(&self->woken), UINT64_MAX);
}

static struct gkf_queue *next_queue(struct gkf_executors *executors,
				    bool may_spin)
{
	struct gkf_queue *queue;

	pthread_mutex_lock(&executors->lock);
	for (;;) {
		if (atomic_load(&gkf_room.ending))
			park_executor(executors);
		queue = take_ready(executors);
		if (queue)
			break;
		if (atomic_load(&executors->keeps)) {
			pthread_mutex_unlock(&executors->lock);
			gkf_work_release(executors);
			pthread_mutex_lock(&executors->lock);
			continue;
		}
		if (may_spin && !executors->spinner &&
		    !executors->watched.first) {
			may_spin = false;
			spin_for_work(executors);
		} else {
			rest_executor(executors);
			may_spin = true;
		}
	}
	unlock_and_call(executors, call_as_needed(executors));
	return queue;
}

static void *run_executor(void *argument)
{
	struct gkf_executors *executors;
	char name[16];

	self = argument;
	executors = self->executors;
	snprintf(name, sizeof name, "gpukit-gpu%u",
		 (unsigned)(executors - gkf_room.executors));
	pthread_setname_np(pthread_self(), name);
	gkf_work_plain_floating();
	for (;;) {
		struct gkf_queue *queue =
		    next_queue(executors, count_cpus() > 1);

		/*
		 * The exiting thread sets `ending` before it reads `working`,
		 * so one of the two threads sees what the other has set.
		 */
		atomic_store(&self->working, true);
		if (!atomic_load(&gkf_room.ending))
			gkf_queue_serve(queue);
		if (!self) /* this is the child of a task that forked */
			_exit(0);
		atomic_store(&self->working, false);
	}
	return NULL;
}

void gkf_executors_help(struct gkf_executors *executors)
{
	struct gkf_queue *queue;

	for (;;) {
		pthread_mutex_lock(&executors->lock);
		queue = take_ready(executors);
		pthread_mutex_unlock(&executors->lock);
		if (!queue)
			return;
		gkf_queue_serve(queue);
	}
}

/* ---- process exit ---- */

/*
 * A kept turn on the device counts as work, because an executor must still give
 * it back. The exiting thread cannot do that, as it may hold locks.
 */
static bool is_working(const struct gkf_executors *executors)
{
	if (!atomic_load(&executors->threads))
		return false;
	if (atomic_load(&executors->keeps))
		return true;
	for (unsigned i = 0; i < GKF_EXECUTORS_MAX; i++) {
		if (&executors->executor[i] != self &&
		    atomic_load(&executors->executor[i].working))
			return true;
	}
	return false;
}

static bool is_any_working(void)
{
	for (unsigned i = 0; i < GKF_DEVICES_MAX; i++) {
		if (is_working(&gkf_room.executors[i]))
			return true;
	}
	return false;
}

__attribute__((destructor)) void gkf_queue_end(void)
{
	uint64_t patience = gk_mono_ns() + END_PATIENCE_NS;
	struct gkf_queue *queue;
	bool any;

	if (atomic_exchange(&gkf_room.ending, true))
		return;
	pthread_mutex_lock(&gkf_room.lock);
	for (queue = gkf_room.queues; queue; queue = queue->next_of_all)
		atomic_store(&queue->stop, true);
	/*
	 * If there never was a queue, as in programs that use only NVML, there
	 * is nothing to wait for.
	 */
	any = gkf_room.queues;
	pthread_mutex_unlock(&gkf_room.lock);
	while (any && is_any_working() && gk_mono_ns() < patience)
		gk_sleep_until(gk_mono_ns() + GK_NS_PER_MS / 4);
}

void gkf_queue_forget(void)
{
	for (unsigned i = 0; i < GKF_DEVICES_MAX; i++) {
		struct gkf_executors *executors = &gkf_room.executors[i];

		if (atomic_load(&executors->used))
			memset(executors, 0, sizeof *executors);
	}
	pthread_mutex_init(&gkf_room.lock, NULL);
	gkf_room.queues = gkf_room.free = NULL;
	atomic_store(&gkf_room.watched, 0);
	atomic_store(&gkf_room.ending, false);
	self = NULL;
	gkf_work_forget();
	gkf_memory_forget();
}
