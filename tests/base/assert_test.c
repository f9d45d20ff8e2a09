/* SPDX-License-Identifier: Apache-2.0 */
/*
 * assert_test.c - checks what GK_ASSERT prints and how it ends, and who holds
 * which lock.
 */
#ifndef GK_ASSERTS
#define GK_ASSERTS /* in every build */
#endif
#include "unit.h"

#include "base/assert.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LINE_OF_ASSERT = __LINE__ + 4 };

static int check_positive(int value)
{
	GK_ASSERT(value > 0);
	return value;
}

/* Calls it in a child, whose stderr goes to `text`; returns how it ended. */
static int call_in_child(int value, char *text, size_t size)
{
	int ends[2], status;
	size_t got = 0;
	ssize_t n;
	pid_t child;

	assert_int_equal(pipe(ends), 0);
	child = fork();
	if (!child) {
		setrlimit(RLIMIT_CORE, &(struct rlimit){0});
		signal(SIGABRT, SIG_DFL);
		dup2(ends[1], STDERR_FILENO);
		_exit(check_positive(value));
	}
	close(ends[1]);
	while ((n = read(ends[0], text + got, size - 1 - got)) > 0)
		got += (size_t)n;
	text[got] = '\0';
	close(ends[0]);
	assert_int_equal(waitpid(child, &status, 0), child);
	return status;
}

static void a_true_condition_is_silent(void **state)
{
	char text[512];
	int status = call_in_child(3, text, sizeof text);

	(void)state;
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 3);
	assert_string_equal(text, "");
}

static void a_false_one_says_where_and_aborts(void **state)
{
	char text[512], wanted[512];
	int status = call_in_child(-1, text, sizeof text);

	(void)state;
	snprintf(wanted, sizeof wanted, "%s:%d: assertion failed: value > 0\n",
		 __FILE__, LINE_OF_ASSERT);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGABRT);
	assert_string_equal(text, wanted);
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;

static void *ask_other_thread(void *ret_held)
{
	*(bool *)ret_held = gk_lock_held(&mutex);
	return NULL;
}

static bool other_thread_holds(void)
{
	pthread_t thread;
	bool held;

	assert_int_equal(pthread_create(&thread, NULL, ask_other_thread, &held),
			 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	return held;
}

static void who_holds_a_mutex_knows(void **state)
{
	(void)state;
	assert_false(gk_lock_held(&mutex));
	pthread_mutex_lock(&mutex);
	assert_true(gk_lock_held(&mutex));
	assert_false(other_thread_holds());
	pthread_mutex_unlock(&mutex);
	assert_false(gk_lock_held(&mutex));
}

/* A wait on a condition releases the mutex and takes it again. */
static void a_wait_takes_it_again(void **state)
{
	pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
	struct timespec past = {0};

	(void)state;
	pthread_mutex_lock(&mutex);
	pthread_cond_timedwait(&cond, &mutex, &past);
	assert_true(gk_lock_held(&mutex));
	pthread_mutex_unlock(&mutex);
}

static void who_holds_a_lock_of_readers_knows(void **state)
{
	(void)state;
	assert_false(gk_rwlock_held(&rwlock));
	pthread_rwlock_rdlock(&rwlock);
	assert_true(gk_rwlock_held(&rwlock));
	pthread_rwlock_unlock(&rwlock);
	assert_false(gk_rwlock_held(&rwlock));
	pthread_rwlock_wrlock(&rwlock);
	assert_true(gk_rwlock_held(&rwlock));
	pthread_rwlock_unlock(&rwlock);
	assert_false(gk_rwlock_held(&rwlock));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_true_condition_is_silent),
	    cmocka_unit_test(a_false_one_says_where_and_aborts),
	    cmocka_unit_test(who_holds_a_mutex_knows),
	    cmocka_unit_test(a_wait_takes_it_again),
	    cmocka_unit_test(who_holds_a_lock_of_readers_knows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
