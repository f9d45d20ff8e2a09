/* SPDX-License-Identifier: Apache-2.0 */
/*
 * futex.h - sleeps until a word changes, and pauses between two reads of a
 * polled word. errno is left unchanged.
 */
#ifndef GK_BASE_FUTEX_H
#define GK_BASE_FUTEX_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Whether the word is in memory that several processes share, or in memory of
 * this process only.
 */
enum gk_futex { GK_FUTEX_SHARED, GK_FUTEX_PRIVATE };

/*
 * Sleeps while the word equals `seen`, for at most timeout_ns (UINT64_MAX: no
 * limit); may return early. Returns false unless woken by gk_futex_wake(): the
 * time is up, a signal came or the word had another value.
 */
bool gk_futex_wait(enum gk_futex kind, _Atomic uint32_t *word, uint32_t seen,
		   uint64_t timeout_ns);

/* Wakes at most `count` sleeping threads. */
void gk_futex_wake(enum gk_futex kind, _Atomic uint32_t *word, int count);

/*
 * Call it between two reads of a polled word: it lets the other hardware thread
 * of the core run.
 */
static inline void gk_cpu_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

#endif
