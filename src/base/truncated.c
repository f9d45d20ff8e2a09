/* SPDX-License-Identifier: Apache-2.0 */
/*
 * truncated.c - the SIGBUS handler described in truncated.h, and the table of
 * mappings. The handler is async-signal-safe: it only reads atomic words and
 * makes system calls.
 */
#include "base/truncated.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MAPPINGS_MAX 64

/* A row is in use once `at` is set, and valid once `damaged` is set. */
static struct mapping {
	_Atomic uintptr_t at;
	_Atomic size_t size;
	_Atomic(atomic_bool *) damaged;
} mappings[MAPPINGS_MAX];

/*
 * The previous handlers, one for each time that ours was installed. The last
 * entry stays readable while the next one is written.
 */
#define TIMES_KEPT 8
static struct sigaction before[TIMES_KEPT];
static _Atomic unsigned times;
static atomic_bool is_setting;

static _Atomic uintptr_t page;

/* Maps a page of zeros at an address whose part of the file is lost. */
static bool mend_page(uintptr_t address)
{
	uintptr_t size = atomic_load(&page);

	for (size_t i = 0; i < MAPPINGS_MAX; i++) {
		struct mapping *m = &mappings[i];
		uintptr_t at = atomic_load(&m->at);
		size_t length = atomic_load(&m->size);
		atomic_bool *damaged = atomic_load(&m->damaged);

		if (!damaged || address - at >= length)
			continue;
		/* Another mapping may have reused the row in between. */
		if (atomic_load(&m->at) != at ||
		    atomic_load(&m->damaged) != damaged)
			continue;
		atomic_store(damaged, true);
		return mmap((void *)(address / size * size), size,
			    PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
			    0) != MAP_FAILED;
	}
	return false;
}

static bool is_handler(const struct sigaction *a)
{
	return a->sa_flags & SA_SIGINFO ||
	       (a->sa_handler != SIG_DFL && a->sa_handler != SIG_IGN);
}

static bool is_same(const struct sigaction *a, const struct sigaction *b)
{
	return a->sa_flags & SA_SIGINFO ? b->sa_flags & SA_SIGINFO &&
					      a->sa_sigaction == b->sa_sigaction
					: a->sa_handler == b->sa_handler;
}

/*
 * Restores the previous handler. When our handler returns, the fault repeats
 * and goes to the previous handler, which may leave by siglongjmp(). If the
 * previous handler is installed already, it has called ours without handling
 * the fault, so the default action is restored.
 */
static void pass_fault_on(int number, struct sigaction to)
{
	struct sigaction now;

	if (sigaction(number, NULL, &now) ||
	    (is_handler(&to) && is_same(&to, &now)))
		to = (struct sigaction){.sa_handler = SIG_DFL};
	sigaction(number, &to, NULL);
}

/*
 * A signal sent by kill() does not repeat, so the previous handler is called
 * from here, and ours stays installed.
 */
static void pass_sent_on(int number, struct sigaction to, siginfo_t *info,
			 void *context)
{
	static const struct sigaction none = {.sa_handler = SIG_DFL};
	/* the thread that is inside the previous handler; 0: none */
	static _Atomic pid_t passing;
	pid_t me = (pid_t)syscall(SYS_gettid);

	if (to.sa_handler == SIG_IGN)
		return;
	if (!is_handler(&to) || atomic_load(&passing) == me) {
		sigaction(number, &none, NULL);
		raise(number);
		return;
	}
	if ((unsigned)to.sa_flags & SA_RESETHAND)
		sigaction(number, &none, NULL);
	atomic_store(&passing, me);
	if (to.sa_flags & SA_SIGINFO)
		to.sa_sigaction(number, info, context);
	else
		to.sa_handler(number);
	atomic_store(&passing, 0);
}

/* Behaves as if this handler were not installed. */
static void pass_on(int number, siginfo_t *info, void *context)
{
	struct sigaction to = before[(atomic_load(&times) - 1) % TIMES_KEPT];

	if (info->si_code <= 0)
		pass_sent_on(number, to, info, context);
	else
		pass_fault_on(number, to);
}

static void on_bus(int number, siginfo_t *info, void *context)
{
	int error = errno;

	if (info->si_code != BUS_ADRERR || !mend_page((uintptr_t)info->si_addr))
		pass_on(number, info, context);
	errno = error;
}

static bool is_set(const struct sigaction *now)
{
	return now->sa_flags & SA_SIGINFO && now->sa_sigaction == on_bus;
}

/* Installs our handler and stores the present one. */
static void set_handler(void)
{
	struct sigaction mine = {.sa_sigaction = on_bus}, now;
	unsigned n = atomic_load(&times);

	if (sigaction(SIGBUS, NULL, &now) || is_set(&now))
		return;
	before[n % TIMES_KEPT] = now;
	atomic_store(&page, (uintptr_t)sysconf(_SC_PAGESIZE));
	atomic_store(&times, n + 1);
	mine.sa_mask = now.sa_mask;
	mine.sa_flags = SA_SIGINFO | SA_ONSTACK | (now.sa_flags & SA_RESTART) |
			(int)((unsigned)now.sa_flags & (unsigned)SA_NODEFER);
	sigaction(SIGBUS, &mine, NULL);
}

void gk_truncated_watch(void *at, size_t size, atomic_bool *damaged)
{
	if (!atomic_exchange(&is_setting, true)) {
		set_handler();
		atomic_store(&is_setting, false);
	}
	for (size_t i = 0; i < MAPPINGS_MAX; i++) {
		struct mapping *m = &mappings[i];
		uintptr_t none = 0;

		if (!atomic_compare_exchange_strong(&m->at, &none,
						    (uintptr_t)at))
			continue;
		atomic_store(&m->size, size);
		atomic_store(&m->damaged, damaged);
		return;
	}
}

void gk_truncated_forget(void *at)
{
	for (size_t i = 0; i < MAPPINGS_MAX; i++) {
		struct mapping *m = &mappings[i];

		if (atomic_load(&m->at) != (uintptr_t)at)
			continue;
		atomic_store(&m->damaged, NULL);
		atomic_store(&m->at, 0);
	}
}
