/*
 * lock.h - a lock between the threads of one process. Zeros: nobody holds it.
 *
 * Who gives it up says so by a plain store, and looks for those who wait behind
 * the next full barrier: one that it needs anyway saves a tenth of an
 * operation.
 */
#ifndef GKL_LOCK_H
#define GKL_LOCK_H

#include "base/futex.h"

struct gkl_lock {
	_Atomic uint32_t held, waiting;
};

static inline bool gkl_lock_try(struct gkl_lock *lock)
{
	uint32_t free = 0;

	return atomic_compare_exchange_strong_explicit(
	    &lock->held, &free, 1, memory_order_acquire, memory_order_relaxed);
}

__attribute__((noinline, cold)) static void
gkl_lock_slowly(struct gkl_lock *lock)
{
	atomic_fetch_add(&lock->waiting, 1);
	while (!gkl_lock_try(lock))
		gk_futex_wait(GK_FUTEX_PRIVATE, &lock->held, 1, UINT64_MAX);
	atomic_fetch_sub(&lock->waiting, 1);
}

static inline void gkl_lock(struct gkl_lock *lock)
{
	if (!gkl_lock_try(lock))
		gkl_lock_slowly(lock);
}

/* The two halves of giving it up; a full barrier between them. */
static inline void gkl_unlock_begin(struct gkl_lock *lock)
{
	atomic_store_explicit(&lock->held, 0, memory_order_release);
}

static inline void gkl_unlock_end(struct gkl_lock *lock)
{
	if (atomic_load_explicit(&lock->waiting, memory_order_relaxed))
		gk_futex_wake(GK_FUTEX_PRIVATE, &lock->held, 1);
}

static inline void gkl_unlock(struct gkl_lock *lock)
{
	gkl_unlock_begin(lock);
	atomic_fetch_add(&lock->waiting, 0); /* the barrier */
	gkl_unlock_end(lock);
}

#endif
