/*
 * executors.c - the threads of a device: which queue is served next, who
 * sleeps and who is woken, and how it all ends with the process.
 */
#include "base/clock.h"
#include "base/log.h"
#include "device/queue_private.h"
#include "machine/file/numbers.h"

#include <stdbool.h>
#include <stdatomic.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* How long one thread of a pool looks for work before it sleeps. */
#define SPIN_NS (20 * GK_NS_PER_US)

/* Between two looks at what tasks wait for: at first, and at most. */
#define WATCH_FIRST_NS (20 * GK_NS_PER_US)
#define WATCH_LAST_NS  GK_NS_PER_MS

/* What ends with the process is waited for so long. */
#define END_PATIENCE_NS (500 * GK_NS_PER_MS)

struct gkf_queue_room gkf_room;

static GKF_THREAD_WORD struct gkf_executor *self;

static void *execute(void *argument);

static unsigned count_cpus(void)
{
	static _Atomic unsigned counted;
	unsigned n = atomic_load_explicit(&counted, memory_order_relaxed);
	cpu_set_t set;

	if (!n) {
		n = sched_getaffinity(0, sizeof set, &set)
			? 1
			: (unsigned)CPU_COUNT(&set);
		atomic_store_explicit(&counted, n, memory_order_relaxed);
	}
	return n;
}

/*
 * As many threads as there are CPUs do what is short, and others stand beside
 * those whose tasks take long. Under the lock.
 */
static struct gkf_executor *new_executor(struct gkf_executors *pool)
{
	unsigned cpus = count_cpus(), threads = atomic_load(&pool->threads);

	if (threads - pool->in_long >= (cpus < 2 ? 2 : cpus))
		return NULL;
	for (unsigned i = 0; i < GKF_EXECUTORS_MAX; i++) {
		struct gkf_executor *e = &pool->executor[i];

		if (atomic_load(&e->alive))
			continue;
		e->pool = pool;
		atomic_store(&e->alive, true);
		atomic_store(&pool->threads, threads + 1);
		return e;
	}
	return NULL;
}

/* Those who wait look again whether there is a thread that does the work. */
static void wake_all_waiters(void)
{
	struct gkf_queue *queue;

	pthread_mutex_lock(&gkf_room.lock);
	for (queue = gkf_room.queues; queue; queue = queue->next_of_all)
		gkf_wake_waiters(queue, UINT64_MAX - 1);
	pthread_mutex_unlock(&gkf_room.lock);
}

/* Without the lock. */
static void start_executor(struct gkf_executor *e)
{
	struct gkf_executors *pool = e->pool;
	sigset_t all, old;
	pthread_t thread;
	int error;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	error = pthread_create(&thread, NULL, execute, e);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (!error) {
		pthread_detach(thread);
		return;
	}
	gk_log(GK_LOG_WARN, "no thread for CUDA work: %s", strerror(error));
	pthread_mutex_lock(&pool->lock);
	atomic_fetch_sub(&pool->threads, 1);
	atomic_store(&e->alive, false);
	pthread_mutex_unlock(&pool->lock);
	wake_all_waiters();
}

/* Who is to be called once the lock is released. */
struct call {
	struct gkf_executor *wake, *start;
};

static struct call call_somebody(struct gkf_executors *pool)
{
	struct call call = {.wake = pool->idle};

	if (call.wake) {
		pool->idle = call.wake->next;
		atomic_store(&call.wake->woken, 1);
	} else {
		call.start = new_executor(pool);
	}
	return call;
}

/* Is there work that nobody is going to look at soon? */
static struct call call_as_needed(struct gkf_executors *pool)
{
	unsigned ready = atomic_load(&pool->ready_count);

	if (ready > (pool->spinner ? 1 : 0) && ready > pool->quiet)
		return call_somebody(pool);
	if (pool->watched.first && !pool->watcher && !pool->spinner)
		return call_somebody(pool);
	return (struct call){0};
}

static void unlock_and_call(struct gkf_executors *pool, struct call call)
{
	pthread_mutex_unlock(&pool->lock);
	if (call.wake)
		gk_futex_wake(GK_FUTEX_PRIVATE, &call.wake->woken, 1);
	if (call.start)
		start_executor(call.start);
}

static void add_ready(struct gkf_executors *pool, struct gkf_queue *queue)
{
	unsigned level = atomic_load(&queue->level);

	gkf_list_add(&pool->ready[level], queue);
	pool->levels |= 1u << level;
	atomic_fetch_add(&pool->ready_count, 1);
}

static struct gkf_queue *take_ready(struct gkf_executors *pool)
{
	struct gkf_queue *queue;
	unsigned level;

	if (!pool->levels)
		return NULL;
	level = (unsigned)__builtin_ctz(pool->levels);
	queue = gkf_list_take(&pool->ready[level]);
	if (pool->quiet)
		pool->quiet--;
	if (!pool->ready[level].first)
		pool->levels &= ~(1u << level);
	atomic_fetch_sub(&pool->ready_count, 1);
	return queue;
}

void gkf_executors_add(struct gkf_queue *queue)
{
	struct gkf_executors *pool = queue->pool;

	pthread_mutex_lock(&pool->lock);
	add_ready(pool, queue);
	unlock_and_call(pool, call_as_needed(pool));
}

bool gkf_executors_begin_long(struct gkf_queue *queue,
			      const struct gkf_task *task)
{
	struct gkf_executors *pool = queue->pool;
	bool begins;

	if (!self)
		return true;
	pthread_mutex_lock(&pool->lock);
	begins = gkf_admission_take(queue, task);
	if (begins) {
		pool->in_long++;
		pool->quiet = 0;
	}
	unlock_and_call(pool, call_as_needed(pool));
	return begins;
}

void gkf_executors_end_long(struct gkf_executors *pool,
			    const struct gkf_task *task)
{
	struct gkf_queue *next;

	if (!self)
		return;
	pthread_mutex_lock(&pool->lock);
	pool->in_long--;
	next = gkf_admission_leave(pool, task);
	if (next)
		add_ready(pool, next);
	unlock_and_call(pool, call_as_needed(pool));
}

bool gkf_is_executor(void)
{
	return self;
}

/* Work of the same or a higher priority, and nobody free to do it. */
bool gkf_executors_pressed(struct gkf_executors *pool)
{
	bool pressed;

	if (!atomic_load_explicit(&pool->ready_count, memory_order_relaxed))
		return false;
	pthread_mutex_lock(&pool->lock);
	pressed = pool->levels && !pool->idle && !pool->spinner;
	pthread_mutex_unlock(&pool->lock);
	return pressed;
}

/* ---- tasks that wait for something in memory ---- */

bool gkf_executors_watch(struct gkf_queue *queue)
{
	struct gkf_executors *pool = queue->pool;
	bool watched;

	pthread_mutex_lock(&pool->lock);
	watched = !atomic_load(&queue->result);
	if (watched) {
		if (!queue->looked)
			pool->watch_ns = WATCH_FIRST_NS;
		queue->looked = true;
		gkf_list_add(&pool->watched, queue);
		atomic_fetch_add(&gkf_room.watched, 1);
	}
	unlock_and_call(pool, self ? (struct call){0} : call_as_needed(pool));
	return watched;
}

void gkf_executors_found(struct gkf_executors *pool)
{
	pthread_mutex_lock(&pool->lock);
	pool->quiet = 0;
	unlock_and_call(pool, call_as_needed(pool));
}

static void look_for_tasks(struct gkf_executors *pool)
{
	struct gkf_queue *queue;

	while ((queue = gkf_list_take(&pool->watched))) {
		atomic_fetch_sub(&gkf_room.watched, 1);
		add_ready(pool, queue);
	}
}

void gkf_executors_look(struct gkf_executors *pool)
{
	pthread_mutex_lock(&pool->lock);
	look_for_tasks(pool);
	unlock_and_call(pool, call_as_needed(pool));
}

static void all_ready(struct gkf_executors *pool, struct gkf_list *list)
{
	struct gkf_queue *queue;

	while ((queue = gkf_list_take(list)))
		add_ready(pool, queue);
}

void gkf_executors_stir(struct gkf_executors *pool)
{
	pthread_mutex_lock(&pool->lock);
	look_for_tasks(pool);
	all_ready(pool, &pool->kernel_admission.waiting);
	all_ready(pool, &pool->host_admission.waiting);
	unlock_and_call(pool, call_as_needed(pool));
}

void gkf_queue_look(void)
{
	for (unsigned i = 0; i < GKF_DEVICES_MAX; i++) {
		if (atomic_load(&gkf_room.watched) == 0)
			return;
		gkf_executors_look(&gkf_room.pool[i]);
	}
}

/* ---- the life of a thread ---- */

/* One thread looks around for a while; then what comes needs no wake. */
static void spin(struct gkf_executors *pool)
{
	uint64_t end = gk_mono_ns() + SPIN_NS;

	pool->spinner = self;
	pthread_mutex_unlock(&pool->lock);
	while (
	    !atomic_load_explicit(&pool->ready_count, memory_order_relaxed) &&
	    gk_mono_ns() < end) {
		for (int i = 0; i < 16; i++)
			gk_cpu_pause();
	}
	pthread_mutex_lock(&pool->lock);
	pool->spinner = NULL;
}

static void leave_idle(struct gkf_executors *pool)
{
	struct gkf_executor **at = &pool->idle;

	while (*at && *at != self)
		at = &(*at)->next;
	if (*at)
		*at = self->next;
}

/* The one that finds tasks waiting sleeps for a short time only. */
static void rest_executor(struct gkf_executors *pool)
{
	bool watches = pool->watched.first && !pool->watcher;
	uint64_t timeout = watches ? pool->watch_ns : UINT64_MAX;

	if (watches)
		pool->watcher = self;
	atomic_store(&self->woken, 0);
	self->next = pool->idle;
	pool->idle = self;
	pthread_mutex_unlock(&pool->lock);
	gk_futex_wait(GK_FUTEX_PRIVATE, &self->woken, 0, timeout);
	pthread_mutex_lock(&pool->lock);
	leave_idle(pool);
	if (!watches)
		return;
	pool->watcher = NULL;
	if (pool->watch_ns < WATCH_LAST_NS)
		pool->watch_ns *= 2;
	look_for_tasks(pool);
	pool->quiet = atomic_load(&pool->ready_count);
}

/* Sleeps until the process has ended. */
static void park(struct gkf_executors *pool)
{
	pthread_mutex_unlock(&pool->lock);
	gkf_work_release(pool);
	for (;;)
		gk_futex_wait(GK_FUTEX_PRIVATE, &self->woken,
			      atomic_load(&self->woken), UINT64_MAX);
}

static struct gkf_queue *next_queue(struct gkf_executors *pool, bool may_spin)
{
	struct gkf_queue *queue;

	pthread_mutex_lock(&pool->lock);
	for (;;) {
		if (atomic_load(&gkf_room.ending))
			park(pool);
		queue = take_ready(pool);
		if (queue)
			break;
		if (atomic_load(&pool->keeps)) {
			pthread_mutex_unlock(&pool->lock);
			gkf_work_release(pool);
			pthread_mutex_lock(&pool->lock);
			continue;
		}
		if (may_spin && !pool->spinner && !pool->watched.first) {
			may_spin = false;
			spin(pool);
		} else {
			rest_executor(pool);
			may_spin = true;
		}
	}
	unlock_and_call(pool, call_as_needed(pool));
	return queue;
}

static void *execute(void *argument)
{
	struct gkf_executors *pool;
	char name[16];

	self = argument;
	pool = self->pool;
	snprintf(name, sizeof name, "gpukit-gpu%u",
		 (unsigned)(pool - gkf_room.pool));
	pthread_setname_np(pthread_self(), name);
	gkf_work_plain_floating();
	for (;;) {
		struct gkf_queue *queue = next_queue(pool, count_cpus() > 1);

		/* Whoever ends the process says so before it looks here. */
		atomic_store(&self->working, true);
		if (!atomic_load(&gkf_room.ending))
			gkf_queue_serve(queue);
		if (!self) /* its task forked: the queue is the parent's */
			_exit(0);
		atomic_store(&self->working, false);
	}
	return NULL;
}

void gkf_executors_help(struct gkf_executors *pool)
{
	struct gkf_queue *queue;

	for (;;) {
		pthread_mutex_lock(&pool->lock);
		queue = take_ready(pool);
		pthread_mutex_unlock(&pool->lock);
		if (!queue)
			return;
		gkf_queue_serve(queue);
	}
}

/* ---- the end ---- */

/* Whoever exits may hold locks, so threads give back the kept turn. */
static bool is_working(const struct gkf_executors *pool)
{
	if (!atomic_load(&pool->threads))
		return false;
	if (atomic_load(&pool->keeps))
		return true;
	for (unsigned i = 0; i < GKF_EXECUTORS_MAX; i++) {
		if (&pool->executor[i] != self &&
		    atomic_load(&pool->executor[i].working))
			return true;
	}
	return false;
}

static bool is_any_working(void)
{
	for (unsigned i = 0; i < GKF_DEVICES_MAX; i++) {
		if (is_working(&gkf_room.pool[i]))
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
	/* Programs of NVML alone do not pay for a look at all pools. */
	any = gkf_room.queues;
	pthread_mutex_unlock(&gkf_room.lock);
	while (any && is_any_working() && gk_mono_ns() < patience)
		gk_sleep_until(gk_mono_ns() + GK_NS_PER_MS / 4);
}

void gkf_queue_forget(void)
{
	for (unsigned i = 0; i < GKF_DEVICES_MAX; i++) {
		struct gkf_executors *pool = &gkf_room.pool[i];

		if (atomic_load(&pool->used))
			memset(pool, 0, sizeof *pool);
	}
	pthread_mutex_init(&gkf_room.lock, NULL);
	gkf_room.queues = gkf_room.free = NULL;
	atomic_store(&gkf_room.watched, 0);
	atomic_store(&gkf_room.ending, false);
	self = NULL;
	gkf_work_forget();
	gkf_memory_forget();
}
