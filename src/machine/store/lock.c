/* lock.c - the writers' lock: robust, so that the dead never hold it. */
#include "machine/store/lock.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"
#include "machine/file/file.h"
#include "machine/store/view.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PATIENCE_NS GK_NS_PER_S

int gkf_lock_init(pthread_mutex_t *lock)
{
	pthread_mutexattr_t attr;
	int error = pthread_mutexattr_init(&attr);

	if (error)
		return gk_err_from_errno(error);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	error = pthread_mutex_init(lock, &attr);
	pthread_mutexattr_destroy(&attr);
	return error ? gk_err_from_errno(error) : 0;
}

int gkf_lock_kind(int *ret_kind)
{
	pthread_mutex_t lock;
	int r = gkf_lock_init(&lock);

	if (r)
		return r;
	*ret_kind = lock.__data.__kind;
	pthread_mutex_destroy(&lock);
	return 0;
}

/*
 * Every change under the lock is committed by one store, so what a dead
 * holder left is whole and needs no repair.
 */
static int owned(pthread_mutex_t *lock, int error)
{
	if (error == EOWNERDEAD) {
		gk_log(GK_LOG_INFO,
		       "a process died while changing the machine");
		error = pthread_mutex_consistent(lock);
	}
	return error;
}

/* glibc ends a process that takes a mutex which somebody has overwritten. */
static bool is_sound(const struct gkf_machine *m)
{
	return m->file->lock.__data.__kind == m->lock_kind;
}

/*
 * The wall clock may jump, which costs a wait its exact length; sanitizers do
 * not know pthread_mutex_clocklock(). 0 or an errno.
 */
static int lock_within(struct gkf_machine *m, uint64_t ns)
{
	pthread_mutex_t *lock = &m->file->lock;
	struct timespec until;

	if (!is_sound(m))
		return EINVAL;
	if (!ns)
		return owned(lock, pthread_mutex_trylock(lock));
	until = gk_timespec(gk_wall_ns() + ns);
	return owned(lock, pthread_mutex_timedlock(lock, &until));
}

int gkf_lock(struct gkf_machine *m)
{
	int error = gkf_applying(m) ? 0 : lock_within(m, PATIENCE_NS);

	if (error == EINVAL)
		return GK_ERR_CORRUPT;
	return error ? gk_err_from_errno(error) : 0;
}

/* A thread that reads while it holds the lock does not wait for itself. */
static bool may_hold(const struct gkf_machine *m)
{
	return m->file->lock.__data.__owner == (int)syscall(SYS_gettid);
}

bool gkf_trylock(struct gkf_machine *m, uint64_t patience_ns)
{
	if (gkf_applying(m))
		return true;
	return !lock_within(m, patience_ns && may_hold(m) ? 0 : patience_ns);
}

bool gkf_is_applier(const struct gkf_machine *m)
{
	return atomic_load(&m->applier) == (pid_t)syscall(SYS_gettid);
}

void gkf_apply_at(struct gkf_machine *m, uint64_t machine_ns)
{
	atomic_store(&m->applier, (pid_t)syscall(SYS_gettid));
	atomic_store(&m->applied_ns, machine_ns + 1);
}

void gkf_apply_end(struct gkf_machine *m)
{
	atomic_store(&m->applied_ns, 0);
}

void gkf_unlock(struct gkf_machine *m)
{
	if (!gkf_applying(m))
		pthread_mutex_unlock(&m->file->lock);
}
