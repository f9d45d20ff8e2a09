/* SPDX-License-Identifier: Apache-2.0 */
/*
 * futex_test.c - checks sleeping on a word and waking: who wakes, and that
 * errno is kept.
 */
#include "unit.h"

#include "base/clock.h"
#include "base/futex.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static void another_word_is_not_slept_on(void **state)
{
	_Atomic uint32_t word = 5;

	(void)state;
	errno = 77;
	assert_false(gk_futex_wait(GK_FUTEX_PRIVATE, &word, 4, UINT64_MAX));
	assert_false(gk_futex_wait(GK_FUTEX_SHARED, &word, 6, UINT64_MAX));
	assert_int_equal(errno, 77);
}

static void a_sleep_ends_with_its_time(void **state)
{
	_Atomic uint32_t word = 5;
	uint64_t begin = gk_mono_ns(), ns;

	(void)state;
	errno = 77;
	assert_false(
	    gk_futex_wait(GK_FUTEX_PRIVATE, &word, 5, 20 * GK_NS_PER_MS));
	ns = gk_mono_ns() - begin;
	assert_in_range(ns, 20 * GK_NS_PER_MS, 20 * GK_NS_PER_S);
	assert_int_equal(errno, 77);
}

static void a_word_that_is_none_changes_no_errno(void **state)
{
	(void)state;
	errno = 77;
	gk_futex_wake(GK_FUTEX_PRIVATE, (_Atomic uint32_t *)1, 1);
	assert_int_equal(errno, 77);
}

enum { SLEEPERS = 3 };
static _Atomic uint32_t slept_on;
static _Atomic unsigned woken;

static void *sleep_on_it(void *data)
{
	const enum gk_futex *kind = data;

	assert_true(gk_futex_wait(*kind, &slept_on, 0, UINT64_MAX));
	atomic_fetch_add(&woken, 1);
	return NULL;
}

/* Wakes until so_many have woken: a thread may not sleep yet. */
static void wake_until(enum gk_futex kind, int count, unsigned so_many)
{
	while (atomic_load(&woken) < so_many) {
		gk_futex_wake(kind, &slept_on, count);
		usleep(100);
	}
}

static void sleepers_are_woken(enum gk_futex kind, int count)
{
	pthread_t thread[SLEEPERS];

	atomic_store(&woken, 0);
	for (unsigned i = 0; i < SLEEPERS; i++)
		pthread_create(&thread[i], NULL, sleep_on_it, &kind);
	wake_until(kind, count, SLEEPERS);
	for (unsigned i = 0; i < SLEEPERS; i++)
		pthread_join(thread[i], NULL);
}

static void threads_are_woken_by_both_kinds(void **state)
{
	(void)state;
	sleepers_are_woken(GK_FUTEX_PRIVATE, 1);
	sleepers_are_woken(GK_FUTEX_PRIVATE, INT_MAX);
	sleepers_are_woken(GK_FUTEX_SHARED, INT_MAX);
}

/* The word is in shared memory. */
static void another_process_is_woken(void **state)
{
	_Atomic uint32_t *word = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
				      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status = -1;
	pid_t pid = fork();

	(void)state;
	if (!pid)
		_exit(gk_futex_wait(GK_FUTEX_SHARED, word, 0, 20 * GK_NS_PER_S)
			  ? 17
			  : 1);
	while (!waitpid(pid, &status, WNOHANG)) {
		gk_futex_wake(GK_FUTEX_SHARED, word, 1);
		usleep(100);
	}
	assert_int_equal(status, 17 << 8);
	munmap((void *)(uintptr_t)word, 4096);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(another_word_is_not_slept_on),
	    cmocka_unit_test(a_sleep_ends_with_its_time),
	    cmocka_unit_test(a_word_that_is_none_changes_no_errno),
	    cmocka_unit_test(threads_are_woken_by_both_kinds),
	    cmocka_unit_test(another_process_is_woken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
