/* lock.c - the writers' lock: robust, so that the dead never hold it. */
#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"
#include "fake/private.h"

#include <errno.h>

#define PATIENCE_NS GK_NS_PER_S

/*
 * Every change under the lock is committed by one store, so what a dead
 * holder left is whole and needs no repair.
 */
static int owned(pthread_mutex_t *lock, int error)
{
	if (error == EOWNERDEAD) {
		gk_log(GK_LOG_INFO, "a process died while changing the machine");
		error = pthread_mutex_consistent(lock);
	}
	return error;
}

int gkf_lock(struct gkf_machine *m)
{
	pthread_mutex_t *lock = &m->file->lock;
	struct timespec until = gk_timespec(gk_mono_ns() + PATIENCE_NS);
	int error;

	error = owned(lock, pthread_mutex_clocklock(lock, CLOCK_MONOTONIC,
						    &until));
	return error ? gk_err_from_errno(error) : 0;
}

bool gkf_trylock(struct gkf_machine *m)
{
	pthread_mutex_t *lock = &m->file->lock;

	return !owned(lock, pthread_mutex_trylock(lock));
}

void gkf_unlock(struct gkf_machine *m)
{
	pthread_mutex_unlock(&m->file->lock);
}
