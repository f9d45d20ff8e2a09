/* SPDX-License-Identifier: Apache-2.0 */
/*
 * assert.h - checks, in Debug builds, what a function requires of its caller
 * (presets debug, asan, tsan and fuzz, where CMake defines GK_ASSERTS). A wrong
 * call prints file, line and condition on stderr and aborts. Other builds
 * compile the condition but never evaluate it; clang's static analyzer, which
 * reads those builds, assumes that the condition holds.
 */
#ifndef GK_BASE_ASSERT_H
#define GK_BASE_ASSERT_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Makes one write() and takes no stdio lock, so it may be called anywhere. */
__attribute__((noreturn, cold, noinline, unused)) static void
gk_assert_failed(const char *file, int line, const char *condition)
{
	dprintf(STDERR_FILENO, "%s:%d: assertion failed: %s\n", file, line,
		condition);
	abort();
}

#if defined(GK_ASSERTS) || defined(__clang_analyzer__)
#define GK_ASSERT(condition)                                                   \
	((condition) ? (void)0                                                 \
		     : gk_assert_failed(__FILE__, __LINE__, #condition))
#else
#define GK_ASSERT(condition) ((void)sizeof((condition) ? 1 : 0))
#endif

/*
 * Returns the caller's thread id as stored by the C library. In the child of a
 * bare clone() it is still the parent's id.
 */
static inline uint32_t gk_thread(void)
{
#ifdef __GLIBC__
	pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
	uint32_t thread;

	pthread_mutex_lock(&own);
	thread = (uint32_t)own.__data.__owner;
	pthread_mutex_unlock(&own);
	return thread;
#else
	return (uint32_t)syscall(SYS_gettid);
#endif
}

/*
 * For GK_ASSERT only: whether the calling thread holds the lock. glibc stores
 * the owner of every kind of mutex. With another C library the result is true.
 */
static inline bool gk_lock_held(const pthread_mutex_t *lock)
{
#ifdef __GLIBC__
	return (uint32_t)__atomic_load_n(&lock->__data.__owner,
					 __ATOMIC_RELAXED) == gk_thread();
#else
	return lock != NULL;
#endif
}

/*
 * Like gk_lock_held(), but for a read-write lock. If it is locked for reading,
 * the result is true, because any reader may be the caller.
 */
static inline bool gk_rwlock_held(const pthread_rwlock_t *lock)
{
#ifdef __GLIBC__
	const int *writer = &lock->__data.__cur_writer;
	const unsigned *readers = &lock->__data.__readers;

	/* In glibc's count of readers, the three lowest bits are flags. */
	return (uint32_t)__atomic_load_n(writer, __ATOMIC_RELAXED) ==
		   gk_thread() ||
	       __atomic_load_n(readers, __ATOMIC_RELAXED) >> 3;
#else
	return lock != NULL;
#endif
}

#endif
