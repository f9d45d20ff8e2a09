/* SPDX-License-Identifier: Apache-2.0 */
/* keeper.c - owns the thread that keeps descriptors; see keeper.h. */
#include "device/keeper.h"
#include "base/assert.h"
#include "base/calls.h"
#include "base/futex.h"
#include "base/log.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#define STACK (256u << 10)
#define LOOKS 1000

enum keeper_state { NOT_STARTED, STARTING, WORKS, FAILED };

static struct {
	pthread_mutex_t lock; /* held by the thread that makes a request */
	_Atomic uint32_t state;
	_Atomic pid_t process, thread;
	_Atomic uint32_t asked, done;
	void (*what)(void *data);
	void *data;
} keeper = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void publish_word(_Atomic uint32_t *word, uint32_t value)
{
	atomic_store(word, value);
	gk_futex_wake(GK_FUTEX_PRIVATE, word, 1);
}

/* Spins a little before it sleeps, because requests are short. */
static void look_for_change(_Atomic uint32_t *word, uint32_t seen)
{
	for (int i = 0; i < LOOKS && atomic_load(word) == seen; i++)
		gk_cpu_pause();
}

static void await_change(_Atomic uint32_t *word, uint32_t seen)
{
	while (atomic_load(word) == seen)
		gk_futex_wait(GK_FUTEX_PRIVATE, word, seen, UINT64_MAX);
}

/*
 * Runs the keeper thread: gets an empty descriptor table, without copying the
 * old one, and carries out requests.
 */
static void *run_keeper(void *unused)
{
	(void)unused;
	if (!gk_descriptors_close(0, true)) {
		publish_word(&keeper.state, FAILED);
		return NULL;
	}
	atomic_store(&keeper.thread, syscall(SYS_gettid));
	publish_word(&keeper.state, WORKS);
	for (uint32_t served = 0;; served++) {
		await_change(&keeper.asked, served);
		keeper.what(keeper.data);
		publish_word(&keeper.done, served + 1);
	}
	return NULL;
}

/* The caller holds keeper.lock. */
static void start_keeper(void)
{
	sigset_t all, old;
	pthread_attr_t attr;
	pthread_t thread;
	int error;

	GK_ASSERT(gk_lock_held(&keeper.lock));
	/*
	 * Blocks all signals except SIGBUS, which base/truncated.h handles if a
	 * machine file is truncated.
	 */
	sigfillset(&all);
	sigdelset(&all, SIGBUS);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	atomic_store(&keeper.state, STARTING);
	error = pthread_create(&thread, &attr, run_keeper, NULL);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
	if (error)
		atomic_store(&keeper.state, FAILED);
}

static void begin_anew(void)
{
	pthread_mutex_init(&keeper.lock, NULL);
	atomic_store(&keeper.state, NOT_STARTED);
	atomic_store(&keeper.thread, 0);
	atomic_store(&keeper.asked, 0);
	atomic_store(&keeper.done, 0);
}

/* The child of a fork() has no keeper thread and starts its own. */
static void leave_to_parent(void)
{
	pid_t self = getpid(), before = atomic_load(&keeper.process);

	if (before != self &&
	    atomic_compare_exchange_strong(&keeper.process, &before, self) &&
	    before)
		begin_anew();
}

void keeper_start(void)
{
	leave_to_parent();
	pthread_mutex_lock(&keeper.lock);
	if (atomic_load(&keeper.state) == NOT_STARTED)
		start_keeper();
	pthread_mutex_unlock(&keeper.lock);
}

/* The caller holds keeper.lock. */
static void ask_keeper(void (*what)(void *data), void *data)
{
	uint32_t done = atomic_load(&keeper.done);

	GK_ASSERT(gk_lock_held(&keeper.lock));
	keeper.what = what;
	keeper.data = data;
	publish_word(&keeper.asked, done + 1);
	look_for_change(&keeper.done, done);
	await_change(&keeper.done, done);
}

bool keeper_do(void (*what)(void *data), void *data)
{
	bool works;

	GK_ASSERT(what != NULL);
	keeper_start();
	pthread_mutex_lock(&keeper.lock);
	look_for_change(&keeper.state, STARTING);
	await_change(&keeper.state, STARTING);
	works = atomic_load(&keeper.state) == WORKS;
	if (works)
		ask_keeper(what, data);
	pthread_mutex_unlock(&keeper.lock);
	if (!works)
		gk_log(GK_LOG_INFO, "memory cannot be shared with other "
				    "processes: no thread can have its "
				    "own descriptors");
	return works;
}

pid_t keeper_thread(void)
{
	return atomic_load(&keeper.thread);
}
