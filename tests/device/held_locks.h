/* SPDX-License-Identifier: Apache-2.0 */
/*
 * held_locks.h - the locks of a program with one thread: a lock that is taken
 * twice, released twice or never released fails its test.
 */
#ifndef TESTS_HELD_LOCKS_H
#define TESTS_HELD_LOCKS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdbool.h>

enum { HELD_MAX = 8 };
static const void *held_locks[HELD_MAX];

static inline const void **place_of_lock(const void *lock)
{
	for (unsigned i = 0; i < HELD_MAX; i++)
		if (held_locks[i] == lock)
			return &held_locks[i];
	return NULL;
}

static inline int take_lock(const void *lock)
{
	const void **free = place_of_lock(NULL);

	if (place_of_lock(lock) || !free)
		fail_msg("a lock is taken that is held");
	*free = lock;
	return 0;
}

static inline int give_lock(const void *lock)
{
	const void **place = place_of_lock(lock);

	if (!place)
		fail_msg("a lock is given back that is not held");
	*place = NULL;
	return 0;
}

/* Checks that all are free, and frees them for the next test. */
static inline void no_lock_is_held(void)
{
	bool none = true;

	for (unsigned i = 0; i < HELD_MAX; i++) {
		none &= !held_locks[i];
		held_locks[i] = NULL;
	}
	assert_true(none);
}

int pthread_mutex_lock(pthread_mutex_t *lock)
{
	return take_lock(lock);
}

int pthread_mutex_unlock(pthread_mutex_t *lock)
{
	return give_lock(lock);
}

int pthread_rwlock_rdlock(pthread_rwlock_t *lock)
{
	return take_lock(lock);
}

int pthread_rwlock_wrlock(pthread_rwlock_t *lock)
{
	return take_lock(lock);
}

int pthread_rwlock_unlock(pthread_rwlock_t *lock)
{
	return give_lock(lock);
}

#endif
