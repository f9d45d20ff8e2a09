/*
 * openblas.c - opens OpenBLAS, whose names nobody else shall see, and finds
 * functions in it.
 */
#include "fronts/common/openblas.h"

#include "base/log.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>

#define LIBRARY "libopenblas.so.0"

/* Calls hold it as readers, a fork as the writer, who is not kept waiting. */
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

/* In the child the lock's holder is a thread of another number. */
static void renew_lock(void)
{
	calls = (pthread_rwlock_t)CALLS_INITIALIZER;
}

/* Its threads start in here: the program's signals are not theirs. */
static void *open_library(const char *library)
{
	sigset_t all, before;
	void *opened;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	opened = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	/* What is registered last is called first before a fork. */
	if (opened)
		pthread_atfork(hold_calls, openblas_end, renew_lock);
	else
		gk_log(GK_LOG_ERROR,
		       "%s needs " LIBRARY
		       " (Debian: libopenblas0-pthread): %s",
		       library, dlerror());
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
			gk_log(GK_LOG_ERROR, LIBRARY " has no %s",
			       functions[i].symbol);
			return false;
		}
		memcpy((char *)ret_pointers + functions[i].offset, &found,
		       sizeof found);
	}
	return opened;
}
