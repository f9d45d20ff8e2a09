/* SPDX-License-Identifier: Apache-2.0 */
/* worker.c - runs the thread of a GPU and publishes what it reads. */
#include "core/driver/worker.h"
#include "base/assert.h"

#include "core/past/past.h"
#include "core/driver/sweep.h"
#include "core/driver/thread.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>

/* How often a waiting caller checks whether the sweep is held up. */
#define LOOK_NS (5 * GK_NS_PER_MS)

/* An idle processor takes about this long to wake up. */
#define YIELD_NS 100000

struct gk_worker {
	struct gk_gpu gpu; /* used by the thread or by the sweep */
	pthread_t thread;
	struct gk_sweep *sweep;    /* NULL: there is none */
	_Atomic uint64_t since_ns; /* when the current reading began, or 0 */
	/* The lock guards all members below. */
	pthread_mutex_t lock;
	/* wakes the thread when `asked` or `stop` is set */
	pthread_cond_t wake;
	pthread_cond_t told; /* wakes callers when the thread is idle or ends */
	unsigned asked;      /* bits of the requested tiers */
	bool running;        /* the thread was started */
	unsigned told_tiers; /* tiers that were announced through `news` */
	int news;            /* an eventfd, or -1 */
	bool busy, stop, ended;
	bool swept; /* the sweep reads this GPU; its own thread does not */
	bool guest; /* the sweep is reading this GPU now */
	uint64_t due_ns[GK_TIER_COUNT], period_ns[GK_TIER_COUNT];
	struct gk_reading published;
	struct gk_past *past; /* samples for gk_worker_take_past() */
	size_t device_cap, listed_cap;
};

/* Grows an array to `count` items; does not keep its contents. */
static void *ensure_room(void *items, size_t *cap, size_t count, size_t size)
{
	void *more;

	if (count <= *cap)
		return items;
	more = realloc(items, count * size);
	if (more)
		*cap = count;
	return more;
}

static void publish_detail(struct gk_reading *p, const struct gk_detail *detail)
{
	free(p->detail);
	p->detail = detail ? gk_detail_new_copy(detail) : NULL;
}

/* Publishes the values just read. If memory runs out, the previous ones stay.
 */
static void publish_reading(struct gk_worker *w)
{
	struct gk_reading *p = &w->published;
	const struct gk_gpu *gpu = &w->gpu;
	struct gk_device *devices;
	struct gk_listed *listed;

	pthread_mutex_lock(&w->lock);
	devices = ensure_room(p->devices, &w->device_cap, gpu->unit_count,
			      sizeof *devices);
	if (devices)
		p->devices = devices;
	listed = ensure_room(p->listed, &w->listed_cap, gpu->listed_count,
			     sizeof *listed);
	if (listed)
		p->listed = listed;
	if (devices && (listed || !gpu->listed_count)) {
		for (size_t i = 0; i < gpu->unit_count; i++)
			devices[i] = gpu->units[i].dev;
		if (gpu->listed_count)
			memcpy(listed, gpu->listed,
			       gpu->listed_count * sizeof *listed);
		p->device_count = gpu->unit_count;
		p->listed_count = gpu->listed_count;
		publish_detail(p, gpu->detail);
	}
	pthread_mutex_unlock(&w->lock);
}

/* Announces that a tier was read for the first time. */
static void tell_news(struct gk_worker *w, int tier)
{
	pthread_mutex_lock(&w->lock);
	if (w->news >= 0 && !w->stop && !(w->told_tiers & 1U << tier))
		eventfd_write(w->news, 1);
	w->told_tiers |= 1U << tier;
	pthread_mutex_unlock(&w->lock);
}

/* Returns the tiers that are due, and sets each one's next time after `now`. */
static unsigned take_due(struct gk_worker *w, uint64_t now)
{
	unsigned tiers = 0;

	for (int t = 0; t < GK_TIER_COUNT; t++) {
		if (!w->period_ns[t] || w->due_ns[t] > now)
			continue;
		tiers |= 1U << t;
		w->due_ns[t] += (1 + (now - w->due_ns[t]) / w->period_ns[t]) *
				w->period_ns[t];
	}
	return tiers;
}

static uint64_t next_due(const struct gk_worker *w)
{
	uint64_t next = UINT64_MAX;

	for (int t = 0; t < GK_TIER_COUNT; t++)
		if (w->period_ns[t] && w->due_ns[t] < next)
			next = w->due_ns[t];
	return next;
}

static void wait_for_wake(struct gk_worker *w, uint64_t until_ns)
{
	struct timespec until = gk_timespec(until_ns);

	if (until_ns == UINT64_MAX)
		pthread_cond_wait(&w->wake, &w->lock);
	else
		pthread_cond_timedwait(&w->wake, &w->lock, &until);
}

/* Returns the tiers to read now, requested or due, and clears the requests. */
static unsigned take_work(struct gk_worker *w)
{
	unsigned tiers = w->asked | take_due(w, gk_mono_ns());

	w->asked = 0;
	return tiers;
}

/* Waits for work; 0 when the worker must end. */
static unsigned await_work(struct gk_worker *w)
{
	unsigned tiers = 0;

	pthread_mutex_lock(&w->lock);
	while (!w->stop) {
		if (w->swept) {
			wait_for_wake(w, UINT64_MAX);
			continue;
		}
		tiers = take_work(w);
		if (tiers)
			break;
		w->busy = false;
		pthread_cond_broadcast(&w->told);
		wait_for_wake(w, next_due(w));
	}
	w->busy = tiers != 0;
	if (w->stop)
		tiers = 0;
	pthread_mutex_unlock(&w->lock);
	return tiers;
}

static bool must_end(struct gk_worker *w)
{
	bool stop;

	pthread_mutex_lock(&w->lock);
	stop = w->stop;
	pthread_mutex_unlock(&w->lock);
	return stop;
}

static void read_past(struct gk_worker *w)
{
	struct gk_past *past =
	    w->gpu.open ? gk_past_read(w->gpu.nvml, w->gpu.units[0].handle)
			: NULL;

	pthread_mutex_lock(&w->lock);
	free(w->past);
	w->past = past;
	if (past && w->news >= 0 && !w->stop)
		eventfd_write(w->news, 1);
	pthread_mutex_unlock(&w->lock);
}

struct gk_past *gk_worker_take_past(struct gk_worker *w)
{
	struct gk_past *past;

	pthread_mutex_lock(&w->lock);
	past = w->past;
	w->past = NULL;
	pthread_mutex_unlock(&w->lock);
	return past;
}

/* Reads tiers; all of them if the GPU was just opened. */
static void read_tiers(struct gk_worker *w, unsigned tiers)
{
	unsigned wanted = tiers, whole = 1U << GK_TIER_MEDIUM;

	if (!(w->gpu.with & GK_WITHOUT_SLOW))
		whole |= 1U << GK_TIER_SLOW;
	if (w->gpu.with & GK_WITH_DETAIL)
		whole |= 1U << GK_TIER_DETAIL;
	for (int t = 0; t <= GK_TIER_DETAIL && !must_end(w); t++) {
		bool opened;

		if (!(wanted & (1U << t)))
			continue;
		atomic_store(&w->since_ns, gk_mono_ns());
		opened = gk_gpu_read(&w->gpu, (enum gk_tier)t);
		publish_reading(w);
		tell_news(w, t);
		if (!opened)
			continue;
		wanted |= whole;
		gk_gpu_place(&w->gpu);
	}
	if (tiers & GK_ASK_PAST && !must_end(w))
		read_past(w);
	atomic_store(&w->since_ns, 0);
}

uint64_t gk_worker_since(const struct gk_worker *w)
{
	return atomic_load_explicit(&w->since_ns, memory_order_relaxed);
}

/* Hands the GPU to the sweep, if the sweep accepts it. */
static void hand_over(struct gk_worker *w, uint64_t took_ns)
{
	if (!w->sweep || !gk_sweep_takes(w->sweep, took_ns))
		return;
	pthread_mutex_lock(&w->lock);
	w->swept = true;
	w->busy = w->asked != 0;
	pthread_cond_broadcast(&w->told);
	pthread_mutex_unlock(&w->lock);
	gk_sweep_wake(w->sweep);
}

static void *run_worker(void *arg)
{
	struct gk_worker *w = arg;
	unsigned tiers;

	while ((tiers = await_work(w))) {
		uint64_t began = gk_mono_ns();

		read_tiers(w, tiers);
		hand_over(w, gk_mono_ns() - began);
	}
	pthread_mutex_lock(&w->lock);
	w->busy = false;
	w->ended = true;
	pthread_cond_broadcast(&w->told);
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

/* Starts the thread if there is none. 0 or a gk_err. The caller holds
 * w->lock. */
static int ensure_thread(struct gk_worker *w)
{
	int r = 0;

	GK_ASSERT(gk_lock_held(&w->lock));
	if (!w->running && !w->stop)
		r = gk_thread_start(&w->thread, run_worker, w);
	w->running |= !r && !w->stop;
	return r;
}

/*
 * Makes the thread read its GPU itself again. If it cannot be started, the
 * sweep goes on. The caller holds w->lock.
 */
static void take_back(struct gk_worker *w)
{
	GK_ASSERT(gk_lock_held(&w->lock));
	if ((w->asked || next_due(w) != UINT64_MAX) && ensure_thread(w))
		return;
	w->swept = false;
	pthread_cond_signal(&w->wake);
}

/* Whether the GPU was never read. The caller holds w->lock. */
static bool is_new(struct gk_worker *w)
{
	GK_ASSERT(gk_lock_held(&w->lock));
	return !w->told_tiers;
}

/*
 * Makes the thread read its GPU itself if another GPU holds up the sweep.
 * Returns whether a reading is due now. The caller holds w->lock.
 */
static bool dodge_hang(struct gk_worker *w)
{
	GK_ASSERT(gk_lock_held(&w->lock));
	if (!w->swept || w->guest)
		return false;
	if (gk_sweep_takes(w->sweep, 0) &&
	    !(is_new(w) && gk_sweep_lags(w->sweep)))
		return false;
	w->busy |= next_due(w) <= gk_mono_ns();
	take_back(w);
	return w->busy;
}

bool gk_worker_check(struct gk_worker *w)
{
	bool taken;

	pthread_mutex_lock(&w->lock);
	taken = dodge_hang(w);
	pthread_mutex_unlock(&w->lock);
	return taken;
}

static unsigned begin_guest(struct gk_worker *w)
{
	unsigned tiers = 0;

	pthread_mutex_lock(&w->lock);
	dodge_hang(w);
	if (w->swept && !w->stop)
		tiers = take_work(w);
	w->guest = tiers != 0;
	w->busy |= w->guest;
	pthread_mutex_unlock(&w->lock);
	return tiers;
}

static void end_guest(struct gk_worker *w, uint64_t took_ns)
{
	pthread_mutex_lock(&w->lock);
	w->guest = false;
	w->busy = w->asked != 0;
	if (!gk_sweep_takes(w->sweep, took_ns))
		take_back(w);
	pthread_cond_broadcast(&w->told);
	pthread_mutex_unlock(&w->lock);
}

uint64_t gk_worker_sweep(struct gk_worker *w)
{
	unsigned tiers = begin_guest(w);
	uint64_t began = gk_mono_ns(), next;

	if (tiers) {
		read_tiers(w, tiers);
		end_guest(w, gk_mono_ns() - began);
	}
	pthread_mutex_lock(&w->lock);
	next = w->swept && !w->stop ? next_due(w) : UINT64_MAX;
	pthread_mutex_unlock(&w->lock);
	return next;
}

static void init_sync(struct gk_worker *w)
{
	pthread_mutex_init(&w->lock, NULL);
	gk_cond_init(&w->wake);
	gk_cond_init(&w->told);
}

int gk_worker_new(const struct gk_nvml *nvml, unsigned index,
		  const struct gk_gpu_options *options,
		  struct gk_worker **ret_worker)
{
	struct gk_worker *w = calloc(1, sizeof *w);
	int r;

	if (!w)
		return GK_ERR_NOMEM;
	r = gk_gpu_init(&w->gpu, nvml, index, options);
	if (r) {
		free(w);
		return r;
	}
	init_sync(w);
	w->news = -1;
	publish_reading(w);
	*ret_worker = w;
	return 0;
}

void gk_worker_share(struct gk_worker *w, struct gk_sweep *sweep)
{
	w->sweep = sweep;
}

void gk_worker_tell(struct gk_worker *w, int fd)
{
	pthread_mutex_lock(&w->lock);
	w->news = fd;
	pthread_mutex_unlock(&w->lock);
}

static void wake_reader(struct gk_worker *w, bool swept)
{
	if (swept)
		gk_sweep_wake(w->sweep);
	else
		pthread_cond_signal(&w->wake);
}

/* Chooses the reader: the sweep first, otherwise the worker's own thread. 0 or
 * a gk_err. The caller holds w->lock. */
static int choose_reader(struct gk_worker *w)
{
	GK_ASSERT(gk_lock_held(&w->lock));
	if (w->sweep && is_new(w) && !w->running && !w->swept)
		w->swept = gk_sweep_takes(w->sweep, 0);
	dodge_hang(w);
	return w->swept ? 0 : ensure_thread(w);
}

int gk_worker_ask(struct gk_worker *w, unsigned tiers)
{
	bool swept;
	int r;

	pthread_mutex_lock(&w->lock);
	w->asked |= tiers;
	w->busy |= tiers != 0;
	r = choose_reader(w);
	if (r) {
		w->busy = false;
		w->asked = 0;
	}
	swept = w->swept;
	pthread_mutex_unlock(&w->lock);
	if (!r)
		wake_reader(w, swept); /* after unlocking */
	return r;
}

int gk_worker_start(struct gk_worker *w)
{
	int r;

	pthread_mutex_lock(&w->lock);
	r = ensure_thread(w);
	pthread_mutex_unlock(&w->lock);
	return r;
}

static bool is_busy(struct gk_worker *w)
{
	bool busy;

	pthread_mutex_lock(&w->lock);
	busy = w->busy;
	pthread_mutex_unlock(&w->lock);
	return busy;
}

bool gk_worker_wait(struct gk_worker *w, uint64_t until_ns)
{
	uint64_t yield_ns = gk_mono_ns() + YIELD_NS;
	bool idle;

	while (is_busy(w) && gk_mono_ns() < yield_ns)
		sched_yield();

	pthread_mutex_lock(&w->lock);
	while (w->busy && gk_mono_ns() < until_ns) {
		uint64_t look_ns = gk_mono_ns() + LOOK_NS;
		struct timespec until =
		    gk_timespec(look_ns < until_ns ? look_ns : until_ns);

		dodge_hang(w);
		pthread_cond_timedwait(&w->told, &w->lock, &until);
	}
	idle = !w->busy;
	pthread_mutex_unlock(&w->lock);
	return idle;
}

void gk_worker_schedule(struct gk_worker *w,
			const uint64_t start_ns[GK_TIER_COUNT],
			const uint64_t period_ns[GK_TIER_COUNT])
{
	bool swept;

	pthread_mutex_lock(&w->lock);
	memcpy(w->due_ns, start_ns, sizeof w->due_ns);
	memcpy(w->period_ns, period_ns, sizeof w->period_ns);
	if (!w->swept && ensure_thread(w))
		w->swept = w->sweep;
	swept = w->swept;
	pthread_mutex_unlock(&w->lock);
	wake_reader(w, swept);
}

int gk_worker_copy(struct gk_worker *w, struct gk_reading *ret_reading)
{
	int r;

	pthread_mutex_lock(&w->lock);
	r = gk_reading_copy(&w->published, ret_reading);
	pthread_mutex_unlock(&w->lock);
	return r;
}

void gk_worker_end(struct gk_worker *w)
{
	pthread_mutex_lock(&w->lock);
	w->stop = true;
	pthread_mutex_unlock(&w->lock);
	pthread_cond_signal(&w->wake);
}

bool gk_worker_stop(struct gk_worker *w, uint64_t until_ns)
{
	struct timespec until = gk_timespec(until_ns);
	bool started, ended;

	gk_worker_end(w);
	pthread_mutex_lock(&w->lock);
	started = w->running;
	while (started && !w->ended &&
	       pthread_cond_timedwait(&w->told, &w->lock, &until) != ETIMEDOUT)
		;
	ended = !started || w->ended;
	pthread_mutex_unlock(&w->lock);
	if (started && ended)
		pthread_join(w->thread, NULL);
	else if (started)
		pthread_detach(w->thread);
	return ended;
}

void gk_worker_free(struct gk_worker *w)
{
	gk_gpu_fini(&w->gpu);
	gk_reading_free(&w->published);
	free(w->past);
	pthread_cond_destroy(&w->wake);
	pthread_cond_destroy(&w->told);
	pthread_mutex_destroy(&w->lock);
	free(w);
}
