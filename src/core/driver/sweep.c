/* SPDX-License-Identifier: Apache-2.0 */
/* sweep.c - runs the thread that reads several GPUs in turn. */
#include "core/driver/sweep.h"

#include "base/clock.h"
#include "base/err.h"
#include "core/driver/thread.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

/* If one GPU's reading takes longer than this, the other GPUs are held up. */
#define PATIENCE_NS (5 * GK_NS_PER_MS)

struct gk_sweep {
	struct gk_worker *const *workers;
	size_t count;
	gk_sweep_read *read;
	_Atomic uint64_t round_ns; /* when the current round began, or 0 */
	_Atomic uint64_t begun_ns; /* when the current reading began, or 0 */
	pthread_t thread;
	/* The lock guards all members below. */
	pthread_mutex_t lock;
	/* wakes the thread when `woken` or `stop` is set */
	pthread_cond_t wake;
	pthread_cond_t told; /* wakes callers when `ended` is set */
	bool running, woken, stop, ended;
};

int gk_sweep_new(struct gk_worker *const *workers, size_t count,
		 gk_sweep_read *read, struct gk_sweep **ret_sweep)
{
	struct gk_sweep *s = calloc(1, sizeof *s);

	if (!s)
		return GK_ERR_NOMEM;
	s->workers = workers;
	s->count = count;
	s->read = read;
	pthread_mutex_init(&s->lock, NULL);
	gk_cond_init(&s->wake);
	gk_cond_init(&s->told);
	*ret_sweep = s;
	return 0;
}

static bool must_stop(struct gk_sweep *s)
{
	bool stop;

	pthread_mutex_lock(&s->lock);
	stop = s->stop;
	pthread_mutex_unlock(&s->lock);
	return stop;
}

/* Reads all values that are due. Returns when the next ones will be due. */
static uint64_t sweep_all(struct gk_sweep *s)
{
	uint64_t next = UINT64_MAX;

	atomic_store(&s->round_ns, gk_mono_ns());
	for (size_t i = 0; i < s->count && !must_stop(s); i++) {
		uint64_t due;

		atomic_store(&s->begun_ns, gk_mono_ns());
		due = s->read(s->workers[i]);
		atomic_store(&s->begun_ns, 0);
		if (due < next)
			next = due;
	}
	atomic_store(&s->round_ns, 0);
	return next;
}

/* Waits for work or the end. Returns whether there may be work. */
static bool await_work(struct gk_sweep *s, uint64_t next_ns)
{
	struct timespec until = gk_timespec(next_ns);
	bool stop;
	int r = 0;

	pthread_mutex_lock(&s->lock);
	while (!s->woken && !s->stop && r != ETIMEDOUT)
		r = next_ns == UINT64_MAX
			? pthread_cond_wait(&s->wake, &s->lock)
			: pthread_cond_timedwait(&s->wake, &s->lock, &until);
	s->woken = false;
	stop = s->stop;
	pthread_mutex_unlock(&s->lock);
	return !stop;
}

static void *run_sweep(void *arg)
{
	struct gk_sweep *s = arg;
	uint64_t next = UINT64_MAX;

	while (await_work(s, next))
		next = sweep_all(s);
	pthread_mutex_lock(&s->lock);
	s->ended = true;
	pthread_cond_broadcast(&s->told);
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

static bool is_running(struct gk_sweep *s)
{
	bool running;

	pthread_mutex_lock(&s->lock);
	if (!s->running && !s->stop)
		s->running = !gk_thread_start(&s->thread, run_sweep, s);
	running = s->running && !s->stop;
	pthread_mutex_unlock(&s->lock);
	return running;
}

bool gk_sweep_takes(struct gk_sweep *s, uint64_t took_ns)
{
	uint64_t begun = atomic_load(&s->begun_ns);

	return took_ns <= GK_SWEEP_QUICK_NS / s->count &&
	       (!begun || gk_mono_ns() - begun < PATIENCE_NS) && is_running(s);
}

bool gk_sweep_lags(const struct gk_sweep *s)
{
	uint64_t round = atomic_load(&s->round_ns);

	return round && gk_mono_ns() - round > GK_SWEEP_QUICK_NS;
}

void gk_sweep_wake(struct gk_sweep *s)
{
	pthread_mutex_lock(&s->lock);
	if (!s->woken)
		pthread_cond_signal(&s->wake);
	s->woken = true;
	pthread_mutex_unlock(&s->lock);
}

bool gk_sweep_stop(struct gk_sweep *s, uint64_t until_ns)
{
	struct timespec until = gk_timespec(until_ns);
	bool ended;

	pthread_mutex_lock(&s->lock);
	s->stop = true;
	pthread_cond_signal(&s->wake);
	while (s->running && !s->ended &&
	       pthread_cond_timedwait(&s->told, &s->lock, &until) != ETIMEDOUT)
		;
	ended = !s->running || s->ended;
	pthread_mutex_unlock(&s->lock);
	if (!ended) {
		pthread_detach(s->thread);
		return false;
	}
	if (s->running)
		pthread_join(s->thread, NULL);
	return true;
}

void gk_sweep_free(struct gk_sweep *s)
{
	if (!s)
		return;
	pthread_cond_destroy(&s->wake);
	pthread_cond_destroy(&s->told);
	pthread_mutex_destroy(&s->lock);
	free(s);
}
