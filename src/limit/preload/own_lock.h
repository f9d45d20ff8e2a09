/* SPDX-License-Identifier: Apache-2.0 */
/*
 * own_lock.h - a lock between the threads of this process. A child of fork()
 * finds it free, even if a thread of the parent held it. The first call of
 * own_lock() in each process returns true: in a child, the data that the lock
 * guards are then a copy of the parent's, and may have to be reset.
 */
#ifndef GKL_PRELOAD_OWN_LOCK_H
#define GKL_PRELOAD_OWN_LOCK_H

#include "limit/lock.h"

#include <sched.h>
#include <stdbool.h>
#include <unistd.h>

struct own_lock {
	struct gkl_lock lock;
	_Atomic int pid; /* process that uses the lock; 0: none yet */
};

/*
 * The value of `pid` while a thread resets the lock for its process. It
 * contains the pid, so that a child forked at that moment does not wait for a
 * thread that it lacks.
 */
static inline int own_lock_renewed_by(int pid)
{
	return -pid;
}

/*
 * Returns true if the lock is used for the first time in this process; the
 * calling thread then holds it.
 */
static inline bool own_lock_renew(struct own_lock *lock)
{
	int self = getpid(), was = atomic_load(&lock->pid);

	while (__builtin_expect(was != self, 0)) {
		if (was == own_lock_renewed_by(self)) {
			sched_yield();
			was = atomic_load(&lock->pid);
		} else if (atomic_compare_exchange_strong(
			       &lock->pid, &was, own_lock_renewed_by(self))) {
			atomic_store(&lock->lock.held, gkl_lock_mark());
			atomic_store(&lock->lock.waiting, 0);
			atomic_store(&lock->pid, self);
			return true;
		}
	}
	return false;
}

/*
 * Takes the lock. Returns true if it is used for the first time in this
 * process.
 */
static inline bool own_lock(struct own_lock *lock)
{
	if (own_lock_renew(lock))
		return true;
	gkl_lock(&lock->lock);
	return false;
}

/*
 * Returns false if another thread holds the lock. *ret_first: what own_lock()
 * would return.
 */
static inline bool own_trylock(struct own_lock *lock, bool *ret_first)
{
	*ret_first = own_lock_renew(lock);
	return *ret_first || gkl_lock_try(&lock->lock);
}

/* For GK_ASSERT: whether the calling thread holds the lock. */
static inline bool own_lock_held(const struct own_lock *lock)
{
	return gkl_lock_held(&lock->lock);
}

static inline void own_unlock(struct own_lock *lock)
{
	gkl_unlock(&lock->lock);
}

#endif
