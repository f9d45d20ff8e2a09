/*
 * futex.h - sleeping on a word, and waiting for one without sleeping. Leaves
 * errno as it was.
 */
#ifndef GK_BASE_FUTEX_H
#define GK_BASE_FUTEX_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Whether the word lies in memory that several processes map, or in one's. */
enum gk_futex { GK_FUTEX_SHARED, GK_FUTEX_PRIVATE };

/*
 * Sleeps while the word is `seen`, for timeout_ns at most (UINT64_MAX: without
 * end); maybe shorter. False: it was not woken, but slept too long, met a
 * signal or saw another word.
 */
bool gk_futex_wait(enum gk_futex kind, _Atomic uint32_t *word, uint32_t seen,
		   uint64_t timeout_ns);

/* Wakes up to count sleepers. */
void gk_futex_wake(enum gk_futex kind, _Atomic uint32_t *word, int count);

/* Between two looks at a word: the core's other thread goes on. */
static inline void gk_cpu_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

#endif
