/*
 * lock.h - a lock between the threads of one process: a word that is 0 when
 * nobody holds it.
 */
#ifndef GKL_LOCK_H
#define GKL_LOCK_H

#include "base/futex.h"

enum { GKL_UNLOCKED, GKL_LOCKED, GKL_AWAITED };

static inline void gkl_lock(_Atomic uint32_t *word)
{
	uint32_t seen = GKL_UNLOCKED;

	if (atomic_compare_exchange_strong_explicit(word, &seen, GKL_LOCKED,
						    memory_order_acquire,
						    memory_order_relaxed))
		return;
	while (atomic_exchange_explicit(word, GKL_AWAITED,
					memory_order_acquire) != GKL_UNLOCKED)
		gk_futex_wait(GK_FUTEX_PRIVATE, word, GKL_AWAITED, UINT64_MAX);
}

static inline void gkl_unlock(_Atomic uint32_t *word)
{
	if (atomic_exchange_explicit(word, GKL_UNLOCKED,
				     memory_order_release) == GKL_AWAITED)
		gk_futex_wake(GK_FUTEX_PRIVATE, word, 1);
}

#endif
