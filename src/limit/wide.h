/*
 * wide.h - words of two machine words that several processes share: changed
 * whole by compare-and-swap, read without a lock.
 *
 * Whoever changes one changes its high half too, to a value that it never had:
 * so a reader that finds the same high half twice has read a whole word, and a
 * swap never takes an older word for the same.
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

/* A full barrier. */
static inline bool gkl_wide_swap(union gkl_wide *at, union gkl_wide from,
				 union gkl_wide to)
{
#ifdef __x86_64__
	/* The thread sanitizer's own is a lock that processes do not share. */
	bool done;

	__asm__ volatile("lock cmpxchg16b %1"
			 : "=@ccz"(done), "+m"(at->both), "+a"(from.low),
			   "+d"(from.high)
			 : "b"(to.low), "c"(to.high)
			 : "memory");
	return done;
#else
	bool done = __sync_bool_compare_and_swap(&at->both, from.both, to.both);

	/* One that fails is none on every machine. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	return done;
#endif
}

#endif
