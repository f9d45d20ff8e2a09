/* SPDX-License-Identifier: Apache-2.0 */
/* ask.c - hands questions to threads and waits for the answers. */
#include "core/driver/ask.h"
#include "base/assert.h"

#include "base/apart.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/futex.h"
#include "core/driver/thread.h"

#include <sched.h>
#include <stdlib.h>

/* How long to spin for an answer before sleeping; most GPUs answer sooner. */
#define SPIN_NS (20 * GK_NS_PER_US)

/* How long a thread stays awake for the next question. */
#define AWAKE_NS (50 * GK_NS_PER_US)

/* Number of pauses between two readings of the clock. Reading the clock takes
 * as long as a pause. */
#define PAUSES 16

/* Minimum time between moves to another processor: a move takes longer than
 * waking a thread. */
#define MOVE_NS GK_NS_PER_MS

/* Number of threads in addition to one per GPU. A thread may be stuck in each
 * GPU, and one more may be needed if another program keeps a thread from
 * running. */
#define SPARE 1

/* Not a gk_err: the maximum number of threads has been started. */
#define FULL (-1)

/* States of a GPU's question slot, of which there is one per GPU. WANTED: held,
 * and another caller waits for the slot. */
enum { FREE, HELD, WANTED };

/* Phases of a question. SLEPT: the caller sleeps until the answer comes. LEFT:
 * the caller has given up. */
enum { PUT, SLEPT, ANSWERED, LEFT };

struct ask {
	GK_APART _Atomic uint32_t held;
	_Atomic uint32_t phase;
	atomic_bool open; /* waits for a thread to take it */
	bool woke;        /* a sleeping thread was woken for it */
	int cpu;          /* the caller's processor */
	_Atomic uint64_t since_ns;
	const struct gk_ask_calls *calls;
	void *arg;
	struct asker *asker; /* the thread last notified of it */
};

/* A thread that answers questions. It may be notified of a question that
 * another thread has already taken. */
struct asker {
	GK_APART struct gk_asks *asks;
	_Atomic(struct ask *) ask; /* NULL: none */
	_Atomic uint32_t asleep;
	_Atomic int cpu; /* its processor when last checked */
	int asked_from;  /* the processor of the last caller */
	uint64_t moved_ns;
	pthread_t thread;
};

struct gk_asks {
	size_t count; /* number of GPUs */
	struct ask *ask;
	struct asker *asker; /* capacity: count + SPARE */
	_Atomic size_t running;
	_Atomic size_t latest; /* the thread notified last */
	atomic_bool stop;
	pthread_mutex_t lock; /* held while a thread is started or ended */
	pthread_cond_t told;  /* a thread has ended */
	size_t ended;
};

int gk_asks_new(size_t count, struct gk_asks **ret_asks)
{
	struct gk_asks *a = calloc(1, sizeof *a);

	if (!a)
		return GK_ERR_NOMEM;
	a->ask = gk_apart_calloc(count + 1, sizeof *a->ask);
	a->asker = gk_apart_calloc(count + SPARE, sizeof *a->asker);
	if (!a->ask || !a->asker) {
		free(a->ask);
		free(a->asker);
		free(a);
		return GK_ERR_NOMEM;
	}
	a->count = count;
	pthread_mutex_init(&a->lock, NULL);
	gk_cond_init(&a->told);
	*ret_asks = a;
	return 0;
}

/* ---- the right to ask ---- */

static void sleep_until(_Atomic uint32_t *word, uint32_t seen, uint64_t until)
{
	uint64_t now = gk_mono_ns();

	if (now < until)
		gk_futex_wait(GK_FUTEX_PRIVATE, word, seen, until - now);
}

static void release_ask(struct ask *ask)
{
	atomic_store_explicit(&ask->since_ns, 0, memory_order_relaxed);
	if (atomic_exchange(&ask->held, FREE) == WANTED)
		gk_futex_wake(GK_FUTEX_PRIVATE, &ask->held, 1);
}

/* Waits until another caller releases the slot. Leaves it WANTED, because still
 * more callers may wait. */
static bool take_wanted(struct ask *ask, uint64_t timeout_ns)
{
	uint64_t end = gk_mono_ns() + timeout_ns;

	while (atomic_exchange(&ask->held, WANTED) != FREE) {
		uint64_t since = atomic_load(&ask->since_ns), until = end;

		if (since && since + timeout_ns < until)
			until = since + timeout_ns;
		if (gk_mono_ns() >= until)
			return false;
		sleep_until(&ask->held, WANTED, until);
	}
	return true;
}

bool gk_ask_begin(struct gk_asks *a, size_t gpu, uint64_t timeout_ns)
{
	struct ask *ask = &a->ask[gpu];
	uint32_t was = FREE;

	GK_ASSERT(gpu < a->count);
	return atomic_compare_exchange_strong(&ask->held, &was, HELD) ||
	       take_wanted(ask, timeout_ns);
}

void gk_ask_end(struct gk_asks *a, size_t gpu)
{
	GK_ASSERT(gpu < a->count && atomic_load(&a->ask[gpu].held) != FREE);
	release_ask(&a->ask[gpu]);
}

uint64_t gk_ask_since(const struct gk_asks *a, size_t gpu)
{
	GK_ASSERT(gpu < a->count);
	return atomic_load_explicit(&a->ask[gpu].since_ns,
				    memory_order_relaxed);
}

/* ---- the threads ---- */

static bool has_work(struct asker *asker)
{
	return atomic_load(&asker->ask) || atomic_load(&asker->asks->stop);
}

/* Moves the thread off the caller's processor, then allows all processors
 * again. */
static void move_away(struct asker *asker, uint64_t now)
{
	cpu_set_t may, others;

	if (now - asker->moved_ns < MOVE_NS ||
	    sched_getaffinity(0, sizeof may, &may))
		return;
	asker->moved_ns = now;
	others = may;
	CPU_CLR((size_t)asker->asked_from, &others);
	if (!sched_setaffinity(0, sizeof others, &others))
		sched_setaffinity(0, sizeof may, &may);
}

/* Whether this thread runs on a different processor from the caller. On the
 * same processor, spinning would delay the caller's next question. */
static bool is_apart(struct asker *asker)
{
	int cpu = sched_getcpu();

	if (cpu != atomic_load_explicit(&asker->cpu, memory_order_relaxed))
		atomic_store_explicit(&asker->cpu, cpu, memory_order_relaxed);
	return cpu != asker->asked_from;
}

static void spin_for_work(struct asker *asker)
{
	uint64_t now = gk_mono_ns(), end = now + AWAKE_NS;

	if (!is_apart(asker))
		move_away(asker, now);
	while (!has_work(asker) && is_apart(asker) && gk_mono_ns() < end)
		for (int i = 0; i < PAUSES && !has_work(asker); i++)
			gk_cpu_pause();
}

/* Waits for a question; NULL: the thread must end. */
static struct ask *await_ask(struct asker *asker)
{
	spin_for_work(asker);
	while (!has_work(asker)) {
		atomic_store(&asker->asleep, 1);
		if (!has_work(asker))
			gk_futex_wait(GK_FUTEX_PRIVATE, &asker->asleep, 1,
				      UINT64_MAX);
		atomic_store(&asker->asleep, 0);
	}
	return atomic_load(&asker->ask);
}

static bool take_ask(struct ask *ask)
{
	return atomic_load(&ask->open) && atomic_exchange(&ask->open, false);
}

/* Runs a question. The thread becomes free before the answer is announced,
 * because the caller may ask the next question at once. */
static void answer_ask(struct asker *asker, struct ask *ask)
{
	uint32_t phase;

	asker->asked_from = ask->cpu;
	ask->calls->run(ask->arg);
	atomic_store_explicit(&asker->ask, NULL, memory_order_release);
	phase = atomic_exchange(&ask->phase, ANSWERED);
	if (phase == SLEPT)
		gk_futex_wake(GK_FUTEX_PRIVATE, &ask->phase, 1);
	if (phase != LEFT)
		return;
	if (ask->calls->drop)
		ask->calls->drop(ask->arg);
	release_ask(ask);
}

static void *run_asker(void *arg)
{
	struct asker *asker = arg;
	struct gk_asks *a = asker->asks;
	struct ask *ask;

	while ((ask = await_ask(asker)))
		if (take_ask(ask))
			answer_ask(asker, ask);
		else
			atomic_store(&asker->ask, NULL);
	pthread_mutex_lock(&a->lock);
	a->ended++;
	pthread_cond_broadcast(&a->told);
	pthread_mutex_unlock(&a->lock);
	return NULL;
}

/* Wakes a thread. Returns whether it was asleep. Reads the flag first, because
 * a read is cheaper than an exchange. */
static bool wake_asker(struct asker *asker)
{
	bool asleep =
	    atomic_load(&asker->asleep) && atomic_exchange(&asker->asleep, 0);

	if (asleep)
		gk_futex_wake(GK_FUTEX_PRIVATE, &asker->asleep, 1);
	return asleep;
}

static bool tell_asker(struct asker *asker, struct ask *ask)
{
	struct ask *none = NULL;

	if (atomic_load_explicit(&asker->ask, memory_order_relaxed) ||
	    !atomic_compare_exchange_strong(&asker->ask, &none, ask))
		return false;
	ask->asker = asker;
	ask->woke = wake_asker(asker);
	return true;
}

/* Hands a question to a free thread. Tries the thread used last first, because
 * it may be awake. */
static bool hand_over(struct gk_asks *a, struct ask *ask)
{
	size_t running = atomic_load(&a->running);
	size_t latest = atomic_load_explicit(&a->latest, memory_order_relaxed);

	if (latest < running && tell_asker(&a->asker[latest], ask))
		return true;
	for (size_t i = 0; i < running; i++) {
		if (!tell_asker(&a->asker[i], ask))
			continue;
		atomic_store_explicit(&a->latest, i, memory_order_relaxed);
		return true;
	}
	return false;
}

/* Starts the next thread. The caller holds a->lock. */
static int start_next(struct gk_asks *a, struct ask *ask)
{
	size_t running = atomic_load(&a->running);
	struct asker *asker = &a->asker[running];
	int r;

	GK_ASSERT(gk_lock_held(&a->lock));
	if (running == a->count + SPARE)
		return FULL;
	asker->asks = a;
	atomic_store(&asker->ask, ask);
	r = gk_thread_start(&asker->thread, run_asker, asker);
	if (r)
		return r;
	ask->asker = asker;
	ask->woke = true;
	atomic_store(&a->running, running + 1);
	return 0;
}

static int start_asker(struct gk_asks *a, struct ask *ask)
{
	int r = 0;

	pthread_mutex_lock(&a->lock);
	if (!hand_over(a, ask))
		r = start_next(a, ask);
	pthread_mutex_unlock(&a->lock);
	return r;
}

/* Finds or starts a thread. If all threads have been started, waits until one
 * is free. That wait is short: at most one thread per GPU is stuck, so at least
 * one is not. That thread has only been notified of a question that another
 * thread took, and will soon be free. */
static int find_asker(struct gk_asks *a, struct ask *ask)
{
	int r = FULL;

	while (r == FULL && !hand_over(a, ask)) {
		r = start_asker(a, ask);
		if (r == FULL)
			sched_yield();
	}
	return r == FULL ? 0 : r;
}

int gk_ask_put(struct gk_asks *a, size_t gpu, const struct gk_ask_calls *calls,
	       void *arg)
{
	struct ask *ask = &a->ask[gpu];
	int r;

	GK_ASSERT(gpu < a->count && atomic_load(&a->ask[gpu].held) != FREE);
	ask->calls = calls;
	ask->arg = arg;
	ask->cpu = sched_getcpu();
	atomic_store_explicit(&ask->phase, PUT, memory_order_relaxed);
	atomic_store_explicit(&ask->since_ns, gk_mono_ns(),
			      memory_order_relaxed);
	atomic_store_explicit(&ask->open, true, memory_order_release);
	r = find_asker(a, ask);
	if (!r || !take_ask(ask))
		return 0;
	release_ask(ask);
	return r;
}

/* ---- waiting ---- */

static bool is_answered(struct ask *ask)
{
	return atomic_load_explicit(&ask->phase, memory_order_acquire) ==
	       ANSWERED;
}

/* Whether the thread is on another processor. If not, it can run only once the
 * caller sleeps. */
static bool is_elsewhere(struct ask *ask)
{
	return atomic_load_explicit(&ask->asker->cpu, memory_order_relaxed) !=
	       sched_getcpu();
}

static bool spin_for_answer(struct ask *ask, uint64_t until_ns)
{
	uint64_t end = atomic_load(&ask->since_ns) + SPIN_NS;

	if (until_ns < end)
		end = until_ns;
	while (!is_answered(ask) && is_elsewhere(ask) && gk_mono_ns() < end)
		for (int i = 0; i < PAUSES && !is_answered(ask); i++)
			gk_cpu_pause();
	return is_answered(ask);
}

/* Whether an awake thread has still not taken the question, because other
 * programs use its processor. A newly woken thread would then get a processor
 * sooner. */
static bool is_overlooked(struct ask *ask)
{
	return !ask->woke && atomic_load(&ask->open);
}

bool gk_ask_wait(struct gk_asks *a, size_t gpu, uint64_t until_ns)
{
	struct ask *ask = &a->ask[gpu];
	uint32_t put = PUT;

	GK_ASSERT(gpu < a->count);
	if (spin_for_answer(ask, until_ns))
		return true;
	if (is_overlooked(ask) && !hand_over(a, ask))
		start_asker(a, ask);
	atomic_compare_exchange_strong(&ask->phase, &put, SLEPT);
	while (!is_answered(ask) && gk_mono_ns() < until_ns)
		sleep_until(&ask->phase, SLEPT, until_ns);
	return is_answered(ask);
}

void gk_ask_leave(struct gk_asks *a, size_t gpu)
{
	struct ask *ask = &a->ask[gpu];

	GK_ASSERT(gpu < a->count);
	if (atomic_exchange(&ask->phase, LEFT) != ANSWERED)
		return;
	if (ask->calls->drop)
		ask->calls->drop(ask->arg);
	release_ask(ask);
}

/* ---- the end ---- */

bool gk_asks_stop(struct gk_asks *a, uint64_t until_ns)
{
	struct timespec until = gk_timespec(until_ns);
	bool all;

	if (!a)
		return true;
	atomic_store(&a->stop, true);
	pthread_mutex_lock(&a->lock);
	for (size_t i = 0; i < a->running; i++)
		wake_asker(&a->asker[i]);
	while (a->ended < a->running && gk_mono_ns() < until_ns)
		pthread_cond_timedwait(&a->told, &a->lock, &until);
	all = a->ended == a->running;
	pthread_mutex_unlock(&a->lock);
	for (size_t i = 0; i < a->running; i++)
		if (all)
			pthread_join(a->asker[i].thread, NULL);
		else
			pthread_detach(a->asker[i].thread);
	return all;
}

void gk_asks_free(struct gk_asks *a)
{
	if (!a)
		return;
	pthread_cond_destroy(&a->told);
	pthread_mutex_destroy(&a->lock);
	free(a->ask);
	free(a->asker);
	free(a);
}
