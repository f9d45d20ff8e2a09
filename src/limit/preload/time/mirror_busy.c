/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mirror_busy.c - writes to HAMi's region this process's part of each device's
 * time over the last second.
 *
 * An idle program makes no calls to us, but 0 must be written when it becomes
 * idle. So a thread writes the figures. It starts when time is counted, and
 * ends after a second without any.
 */
#include "base/assert.h"
#include "base/clock.h"
#include "limit/preload/entry/libc.h"
#include "limit/preload/report/mirror.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#define WINDOW_NS GK_NS_PER_S

static struct {
	_Atomic bool watched;
	/* Time that was counted, but not yet reported. */
	_Atomic uint64_t ns[GKL_DEVICES];
} busy;

void mirror_busy_forget(void)
{
	memset(&busy, 0, sizeof busy);
}

/*
 * Returns the time to report for this second. A kernel longer than a second is
 * counted at its end: the rest is reported in the following seconds.
 */
static uint64_t take_part(_Atomic uint64_t *ns, uint64_t window_ns)
{
	uint64_t has = atomic_load(ns),
		 part = has < window_ns ? has : window_ns;

	atomic_fetch_sub(ns, part);
	return part;
}

/* False: there was nothing to report. */
static bool tell_region(uint64_t window_ns)
{
	struct gkl_group *group = limited();
	int slot = mirror_slot();
	bool any = false;

	GK_ASSERT(window_ns);
	for (unsigned i = 0; i < GKL_DEVICES; i++) {
		uint64_t ns = take_part(&busy.ns[i], window_ns);

		any |= ns != 0;
		if (slot >= 0)
			gkl_region_set_busy(group->region, (unsigned)slot, i,
					    (ns * 100 + window_ns / 2) /
						window_ns);
	}
	if (any)
		gkl_region_set_kernel_time(group->region, time(NULL));
	return any;
}

static bool is_told(void)
{
	for (unsigned i = 0; i < GKL_DEVICES; i++)
		if (atomic_load(&busy.ns[i]))
			return false;
	return true;
}

/*
 * Before the thread ends, it checks again: another thread may have counted time
 * while this one still seemed to run.
 */
static void *watch_busy(void *arg)
{
	uint64_t then = gk_mono_ns(), now;
	bool any;

	do {
		gk_sleep_until(then + WINDOW_NS);
		now = gk_mono_ns();
		any = tell_region(now - then);
		then = now;
		if (!any)
			atomic_store(&busy.watched, false);
	} while (any || (!is_told() && !atomic_exchange(&busy.watched, true)));
	return arg;
}

/*
 * Before glibc 2.34 pthread_create() is in libpthread, which not every limited
 * program loads.
 */
#pragma weak pthread_create

static bool create_thread(pthread_t *thread, const pthread_attr_t *attr)
{
	__typeof__(pthread_create) *create = pthread_create;
	void *library, *found;

	if (!create) {
		library = libc()->dlopen("libpthread.so.0", RTLD_LAZY);
		found =
		    library ? libc()->dlsym(library, "pthread_create") : NULL;
		memcpy(&create, &found, sizeof create);
	}
	return create && !create(thread, attr, watch_busy, NULL);
}

/*
 * Starts the thread. It blocks all signals: they are for the program's own
 * threads.
 */
__attribute__((noinline, cold)) static void start_watch(void)
{
	sigset_t all, before;
	pthread_attr_t attr;
	pthread_t thread;

	if (atomic_exchange(&busy.watched, true))
		return;
	sigfillset(&all);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	sigprocmask(SIG_SETMASK, &all, &before);
	if (!create_thread(&thread, &attr))
		atomic_store(&busy.watched, false);
	sigprocmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
}

void limited_mirror_busy(int device, uint64_t ns)
{
	struct gkl_group *group = limited();

	if (!group || !group->region || mirror_slot() < 0)
		return;
	atomic_fetch_add(&busy.ns[device], ns);
	if (!atomic_load_explicit(&busy.watched, memory_order_relaxed))
		start_watch();
}
