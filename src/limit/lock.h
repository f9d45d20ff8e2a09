/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lock.h - a lock between the threads of one process. All zeros: not held.
 *
 * Unlocking is a plain store, then a full barrier, then a check for waiters. If
 * the caller executes a full barrier anyway, it puts that barrier between the
 * two steps and needs no second one, which saves a tenth of the time of a
 * ledger operation.
 */
#ifndef GKL_LOCK_H
#define GKL_LOCK_H

#include "base/assert.h"
#include "base/futex.h"

struct gkl_lock {
	_Atomic uint32_t held, waiting; /* held: the holder's mark, or 0 */
};

/* The holder's mark. It differs between threads only in builds with asserts. */
static inline uint32_t gkl_lock_mark(void)
{
#ifdef GK_ASSERTS
	return gk_thread();
#else
	return 1;
#endif
}

/* For GK_ASSERT: whether the calling thread holds the lock. */
static inline bool gkl_lock_held(const struct gkl_lock *lock)
{
	return atomic_load_explicit(&lock->held, memory_order_relaxed) ==
	       gkl_lock_mark();
}

static inline bool gkl_lock_try(struct gkl_lock *lock)
{
	uint32_t free = 0;

	return atomic_compare_exchange_strong_explicit(
	    &lock->held, &free, gkl_lock_mark(), memory_order_acquire,
	    memory_order_relaxed);
}

__attribute__((noinline, cold)) static void
gkl_lock_slowly(struct gkl_lock *lock)
{
	uint32_t seen;

	atomic_fetch_add(&lock->waiting, 1);
	while (!gkl_lock_try(lock)) {
		seen = atomic_load_explicit(&lock->held, memory_order_relaxed);
		if (seen)
			gk_futex_wait(GK_FUTEX_PRIVATE, &lock->held, seen,
				      UINT64_MAX);
	}
	atomic_fetch_sub(&lock->waiting, 1);
}

static inline void gkl_lock(struct gkl_lock *lock)
{
	if (!gkl_lock_try(lock))
		gkl_lock_slowly(lock);
}

/*
 * The two steps of unlocking; the caller executes a full barrier between them.
 */
static inline void gkl_unlock_begin(struct gkl_lock *lock)
{
	GK_ASSERT(gkl_lock_held(lock));
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
