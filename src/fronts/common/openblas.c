/* SPDX-License-Identifier: Apache-2.0 */
/*
 * openblas.c - opens OpenBLAS, without exposing its symbols to the program, and
 * finds functions in it.
 */
#include "fronts/common/openblas.h"

#include "base/log.h"
#include "fronts/common/needed.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>

/* A reader-writer lock: calls of OpenBLAS hold it as readers; a fork holds it
 * as the writer, which has priority. */
#define CALLS_INITIALIZER PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP
static pthread_rwlock_t calls = CALLS_INITIALIZER;

void openblas_begin(void)
{
	pthread_rwlock_rdlock(&calls);
}

void openblas_end(void)
{
	pthread_rwlock_unlock(&calls);
}

static void hold_calls(void)
{
	pthread_rwlock_wrlock(&calls);
}

/*
 * Initialises the lock in the child, which cannot unlock it: there, the thread
 * that holds the lock has a new thread id.
 */
static void renew_lock(void)
{
	calls = (pthread_rwlock_t)CALLS_INITIALIZER;
}

/* OpenBLAS starts its threads here; they must not receive the program's
 * signals. */
static void *open_library(const char *library)
{
	sigset_t all, before;
	void *opened;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	opened = needed_open(NEEDED_OPENBLAS);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	/* Registered after OpenBLAS' own fork handlers, so that hold_calls()
	 * runs before them. */
	if (opened)
		pthread_atfork(hold_calls, openblas_end, renew_lock);
	else
		gk_log(GK_LOG_ERROR, "%s needs OpenBLAS: %s", library,
		       dlerror());
	return opened;
}

bool openblas_load(const char *library,
		   const struct openblas_function *functions, size_t count,
		   void *ret_pointers)
{
	void *opened = open_library(library);

	for (size_t i = 0; opened && i < count; i++) {
		void *found = dlsym(opened, functions[i].symbol);

		if (!found) {
			gk_log(GK_LOG_ERROR, "%s: OpenBLAS has no %s", library,
			       functions[i].symbol);
			return false;
		}
		memcpy((char *)ret_pointers + functions[i].offset, &found,
		       sizeof found);
	}
	return opened;
}
