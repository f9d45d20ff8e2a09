/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wide.h - double-width words that several processes share: changed whole by
 * compare-and-swap, read without a lock.
 *
 * Every change also sets the high half to a value that the word never had
 * before. So a reader that sees the same high half twice has read a whole word,
 * and a swap cannot mistake an old value for the current one.
 */
#ifndef GKL_WIDE_H
#define GKL_WIDE_H

#include <stdbool.h>
#include <stdint.h>

union gkl_wide {
	struct {
		uint64_t low, high;
	};
	unsigned __int128 both;
};

static inline uint64_t gkl_high(const union gkl_wide *at)
{
	return __atomic_load_n(&at->high, __ATOMIC_ACQUIRE);
}

static inline uint64_t gkl_low(const union gkl_wide *at)
{
	return __atomic_load_n(&at->low, __ATOMIC_ACQUIRE);
}

static inline union gkl_wide gkl_wide_read(const union gkl_wide *at)
{
	union gkl_wide now;

	do {
		now.high = gkl_high(at);
		now.low = gkl_low(at);
	} while (__atomic_load_n(&at->high, __ATOMIC_RELAXED) != now.high);
	return now;
}

/* Swaps the word if it equals `from`. Is always a full barrier. */
static inline bool gkl_wide_swap(union gkl_wide *at, union gkl_wide from,
				 union gkl_wide to)
{
#ifdef __x86_64__
	/* ThreadSanitizer's version takes a lock private to a process. */
	bool done;

	__asm__ volatile("lock cmpxchg16b %1"
			 : "=@ccz"(done), "+m"(at->both), "+a"(from.low),
			   "+d"(from.high)
			 : "b"(to.low), "c"(to.high)
			 : "memory");
	return done;
#else
	bool done = __sync_bool_compare_and_swap(&at->both, from.both, to.both);

	/* A failed swap is not a barrier on all processors. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	return done;
#endif
}

#endif
