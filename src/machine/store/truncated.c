/*
 * truncated.c - see truncated.h. All that runs in the handler may: it reads
 * atomic words and makes system calls.
 */
#include "machine/store/truncated.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#define MAPPINGS_MAX 64

/* A row is taken by `at`, and counts as soon as it has a `damaged`. */
static struct mapping {
	_Atomic uintptr_t at;
	_Atomic size_t size;
	_Atomic(atomic_bool *) damaged;
} mappings[MAPPINGS_MAX];

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct sigaction before;
static uintptr_t page;

/* Puts a page of zeros where an address of ours is not backed any more. */
static bool mend(uintptr_t address)
{
	for (size_t i = 0; i < MAPPINGS_MAX; i++) {
		struct mapping *m = &mappings[i];
		atomic_bool *damaged = atomic_load(&m->damaged);

		if (!damaged ||
		    address - atomic_load(&m->at) >= atomic_load(&m->size))
			continue;
		atomic_store(damaged, true);
		return mmap((void *)(address / page * page), page,
			    PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
			    0) != MAP_FAILED;
	}
	return false;
}

/* As if this handler were not there. */
static void pass_on(int number, siginfo_t *info, void *context)
{
	struct sigaction none = {.sa_handler = SIG_DFL};
	bool is_handled =
	    (before.sa_flags & SA_SIGINFO) ||
	    (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN);

	if (!is_handled && before.sa_handler == SIG_IGN && info->si_code <= 0)
		return;
	if (!is_handled || (unsigned)before.sa_flags & SA_RESETHAND)
		sigaction(number, &none, NULL);
	if (before.sa_flags & SA_SIGINFO)
		before.sa_sigaction(number, info, context);
	else if (is_handled)
		before.sa_handler(number);
	else if (info->si_code <= 0) /* of kill(): it does not come again */
		raise(number);
}

static void on_bus(int number, siginfo_t *info, void *context)
{
	int error = errno;

	if (info->si_code != BUS_ADRERR || !mend((uintptr_t)info->si_addr))
		pass_on(number, info, context);
	errno = error;
}

static void install(void)
{
	struct sigaction mine = {.sa_sigaction = on_bus};

	page = (uintptr_t)sysconf(_SC_PAGESIZE);
	if (sigaction(SIGBUS, NULL, &before))
		return;
	mine.sa_mask = before.sa_mask;
	mine.sa_flags = SA_SIGINFO | SA_ONSTACK |
			(before.sa_flags & SA_RESTART) |
			(int)((unsigned)before.sa_flags & (unsigned)SA_NODEFER);
	sigaction(SIGBUS, &mine, NULL);
}

void gkf_truncated_watch(void *at, size_t size, atomic_bool *damaged)
{
	pthread_once(&once, install);
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
