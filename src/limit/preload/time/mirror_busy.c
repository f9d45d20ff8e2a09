/*
 * mirror_busy.c - tells HAMi's region what part of each device's time this
 * process had over the last second.
 *
 * Somebody must write 0 there when a program comes to rest, and then it calls
 * nothing of ours: so a thread does it. It starts when time is counted, and
 * ends when there was none for a second.
 */
#include "base/clock.h"
#include "limit/preload/mirror.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>

#define WINDOW_NS GK_NS_PER_S

static struct {
	_Atomic bool watched;
	/* Counted and not yet told. */
	_Atomic uint64_t ns[GKL_DEVICES];
} busy;

void mirror_busy_forget(void)
{
	memset(&busy, 0, sizeof busy);
}

/*
 * A kernel longer than a second is counted at its end: what does not fit into
 * this second is told in the next ones.
 */
static uint64_t take_percent(_Atomic uint64_t *ns, uint64_t window_ns)
{
	uint64_t has = atomic_load(ns),
		 part = has < window_ns ? has : window_ns;

	atomic_fetch_sub(ns, part);
	return (part * 100 + window_ns / 2) / window_ns;
}

/* False: there was nothing to tell. */
static bool tell(uint64_t window_ns)
{
	struct gkl_group *group = limited();
	int slot = mirror_slot();
	bool any = false;

	for (unsigned i = 0; i < GKL_DEVICES; i++) {
		uint64_t percent = take_percent(&busy.ns[i], window_ns);

		any |= percent != 0;
		if (slot >= 0)
			gkl_region_set_busy(group->region, (unsigned)slot, i,
					    percent);
	}
	return any;
}

static void *watch(void *arg)
{
	uint64_t then = gk_mono_ns(), now;
	bool any;

	do {
		gk_sleep_until(then + WINDOW_NS);
		now = gk_mono_ns();
		any = tell(now - then);
		then = now;
	} while (any);
	atomic_store(&busy.watched, false);
	return arg;
}

/* It takes no signals: those are for the program's own threads. */
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
	pthread_sigmask(SIG_SETMASK, &all, &before);
	if (pthread_create(&thread, &attr, watch, NULL))
		atomic_store(&busy.watched, false);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
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
