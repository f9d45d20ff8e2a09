/*
 * openblas.c - opens OpenBLAS for this library alone (RTLD_LOCAL) and finds
 * its functions.
 */
#include "fronts/cublas/openblas.h"

#include "base/log.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>

#define LIBRARY "libopenblas.so.0"

static const struct {
	const char *symbol;
	size_t offset;
} functions[] = {
#define CBLAS(name, parameters)                                                \
	{"cblas_" #name, offsetof(struct openblas, name)},
#define LAPACK(name, parameters) {#name "_", offsetof(struct openblas, name)},
#include "fronts/cublas/openblas.def"
#undef LAPACK
#undef CBLAS
};

static struct openblas blas;
static bool works;

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

/* Its threads start while it is opened: the program's signals are not theirs.
 */
static void *open_quietly(void)
{
	sigset_t all, before;
	void *library;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return library;
}

static void open_library(void)
{
	void *library = open_quietly();

	/* What is registered last is called first before a fork. */
	if (library)
		pthread_atfork(hold_calls, openblas_end, renew_lock);
	if (!library) {
		gk_log(GK_LOG_ERROR,
		       "cuBLAS needs " LIBRARY
		       " (Debian: libopenblas0-pthread): %s",
		       dlerror());
		return;
	}
	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
		void *found = dlsym(library, functions[i].symbol);

		if (!found) {
			gk_log(GK_LOG_ERROR, LIBRARY " has no %s",
			       functions[i].symbol);
			return;
		}
		memcpy((char *)&blas + functions[i].offset, &found,
		       sizeof found);
	}
	works = true;
}

const struct openblas *openblas(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, open_library);
	return works ? &blas : NULL;
}
