/* SPDX-License-Identifier: Apache-2.0 */
/* own_lock_test.c - checks a lock that a forked child finds free. */
#include "limit/preload/own_lock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/*
 * The exit status of a child that takes the lock; 0: it was told that the lock
 * is new.
 */
static int take_in_child(struct own_lock *lock)
{
	pid_t child = fork();
	int status;

	if (!child) {
		alarm(10);
		_exit(own_lock(lock) ? 0 : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	return status;
}

static void who_comes_first_is_told(void **state)
{
	struct own_lock lock = {0};

	(void)state;
	assert_true(own_lock(&lock));
	own_unlock(&lock);
	assert_false(own_lock(&lock));
	own_unlock(&lock);
}

static void a_child_finds_it_free(void **state)
{
	struct own_lock lock = {0};

	(void)state;
	own_lock(&lock);
	assert_int_equal(take_in_child(&lock), 0);
	own_unlock(&lock);
	assert_int_equal(take_in_child(&lock), 0);
}

/* The thread that makes the lock the parent's does not exist in the child. */
static void a_child_of_that_moment_finds_it_free(void **state)
{
	struct own_lock lock = {.pid = own_lock_renewed_by(getpid())};

	(void)state;
	assert_int_equal(take_in_child(&lock), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(who_comes_first_is_told),
	    cmocka_unit_test(a_child_finds_it_free),
	    cmocka_unit_test(a_child_of_that_moment_finds_it_free),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
