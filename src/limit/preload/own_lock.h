/*
 * own_lock.h - a lock between the threads of this process. A child of fork()
 * finds it free, whoever held it, and is told so once: what the lock guards is
 * its parent's.
 */
#ifndef GKL_PRELOAD_OWN_LOCK_H
#define GKL_PRELOAD_OWN_LOCK_H

#include "limit/lock.h"

#include <sched.h>
#include <stdbool.h>
#include <unistd.h>

struct own_lock {
	struct gkl_lock lock;
	_Atomic int pid; /* of those who use it; 0: nobody yet */
};

/*
 * While some thread of a process makes the lock its process's. With the pid: a
 * child that is forked at that moment has not got that thread.
 */
static inline int own_lock_renewed_by(int pid)
{
	return -pid;
}

/* True: this process is a new one. */
static inline bool own_lock_renew(struct own_lock *lock)
{
	int self = getpid(), was = atomic_load(&lock->pid);

	while (__builtin_expect(was != self, 0)) {
		if (was == own_lock_renewed_by(self)) {
			sched_yield();
			was = atomic_load(&lock->pid);
		} else if (atomic_compare_exchange_strong(
			       &lock->pid, &was, own_lock_renewed_by(self))) {
			atomic_store(&lock->lock.held, 1);
			atomic_store(&lock->lock.waiting, 0);
			atomic_store(&lock->pid, self);
			return true;
		}
	}
	return false;
}

/* Takes it; true: for the first time in this process. */
static inline bool own_lock(struct own_lock *lock)
{
	if (own_lock_renew(lock))
		return true;
	gkl_lock(&lock->lock);
	return false;
}

/* False: somebody has it. */
static inline bool own_trylock(struct own_lock *lock, bool *ret_first)
{
	*ret_first = own_lock_renew(lock);
	return *ret_first || gkl_lock_try(&lock->lock);
}

static inline void own_unlock(struct own_lock *lock)
{
	gkl_unlock(&lock->lock);
}

#endif
