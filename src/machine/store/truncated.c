/*
 * truncated.c - see truncated.h. All that runs in the handler may: it reads
 * atomic words and makes system calls.
 */
#include "machine/store/truncated.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MAPPINGS_MAX 64

/* A row is taken by `at`, and counts as soon as it has a `damaged`. */
static struct mapping {
	_Atomic uintptr_t at;
	_Atomic size_t size;
	_Atomic(atomic_bool *) damaged;
} mappings[MAPPINGS_MAX];

/*
 * Who handled it before, each time that this handler was set: the last is asked
 * while the next is noted.
 */
#define TIMES_KEPT 8
static struct sigaction before[TIMES_KEPT];
static _Atomic unsigned times;
static atomic_bool is_setting;

/* The thread that asks them, which may come back here. */
static _Atomic pid_t passing;

static _Atomic uintptr_t page;

/* Puts a page of zeros where an address of ours is not backed any more. */
static bool mend(uintptr_t address)
{
	uintptr_t size = atomic_load(&page);

	for (size_t i = 0; i < MAPPINGS_MAX; i++) {
		struct mapping *m = &mappings[i];
		atomic_bool *damaged = atomic_load(&m->damaged);

		if (!damaged ||
		    address - atomic_load(&m->at) >= atomic_load(&m->size))
			continue;
		atomic_store(damaged, true);
		return mmap((void *)(address / size * size), size,
			    PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
			    0) != MAP_FAILED;
	}
	return false;
}

static void end_by(int number, const siginfo_t *info)
{
	struct sigaction none = {.sa_handler = SIG_DFL};

	sigaction(number, &none, NULL);
	if (info->si_code <= 0) /* of kill(): it does not come again */
		raise(number);
}

static bool is_handler(const struct sigaction *a)
{
	return a->sa_flags & SA_SIGINFO ||
	       (a->sa_handler != SIG_DFL && a->sa_handler != SIG_IGN);
}

/* As if this handler were not there. */
static void pass_on(int number, siginfo_t *info, void *context)
{
	const struct sigaction *to =
	    &before[(atomic_load(&times) - 1) % TIMES_KEPT];
	struct sigaction none = {.sa_handler = SIG_DFL};
	pid_t me = (pid_t)syscall(SYS_gettid);

	/* One that was set later may take this one for the default. */
	if (!is_handler(to) || atomic_load(&passing) == me) {
		if (to->sa_handler != SIG_IGN || info->si_code > 0)
			end_by(number, info);
		return;
	}
	if ((unsigned)to->sa_flags & SA_RESETHAND)
		sigaction(number, &none, NULL);
	atomic_store(&passing, me);
	if (to->sa_flags & SA_SIGINFO)
		to->sa_sigaction(number, info, context);
	else
		to->sa_handler(number);
	atomic_store(&passing, 0);
}

static void on_bus(int number, siginfo_t *info, void *context)
{
	int error = errno;

	if (info->si_code != BUS_ADRERR || !mend((uintptr_t)info->si_addr))
		pass_on(number, info, context);
	errno = error;
}

static bool is_set(const struct sigaction *now)
{
	return now->sa_flags & SA_SIGINFO && now->sa_sigaction == on_bus;
}

/* Before the one that is set now, which is kept. */
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

void gkf_truncated_watch(void *at, size_t size, atomic_bool *damaged)
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

void gkf_truncated_forget(void *at)
{
	for (size_t i = 0; i < MAPPINGS_MAX; i++) {
		struct mapping *m = &mappings[i];

		if (atomic_load(&m->at) != (uintptr_t)at)
			continue;
		atomic_store(&m->damaged, NULL);
		atomic_store(&m->at, 0);
	}
}
