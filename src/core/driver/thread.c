/* SPDX-License-Identifier: Apache-2.0 */
/* thread.c - starts threads that block all signals except those of a crash. */
#include "core/driver/thread.h"
#include "base/array.h"

#include "base/err.h"

#include <limits.h>
#include <signal.h>
#include <time.h>

/* NVML's calls use some kilobytes of stack. */
#define STACK_SIZE (256 * 1024)

/* A signal raised by a crash must be handled in the thread that crashes. */
static const int of_crashes[] = {SIGSEGV, SIGBUS,  SIGFPE,
				 SIGILL,  SIGTRAP, SIGABRT};

int gk_thread_start(pthread_t *ret_thread, void *(*run)(void *), void *arg)
{
	sigset_t all, before;
	pthread_attr_t attr;
	size_t least = (size_t)PTHREAD_STACK_MIN;
	int error;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr,
				  STACK_SIZE > least ? STACK_SIZE : least);
	sigfillset(&all);
	for (size_t i = 0; i < COUNT(of_crashes); i++)
		sigdelset(&all, of_crashes[i]);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(ret_thread, &attr, run, arg);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	return error ? gk_err_from_errno(error) : 0;
}

void gk_cond_init(pthread_cond_t *cond)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(cond, &attr);
	pthread_condattr_destroy(&attr);
}
