/* The locks of a machine, when their words are written over. */
#include "machine/store/emptied.h"
#include "machine/store/locks.h"
#include "unit.h"

#include <errno.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static struct gkf_emptied *emptied;
static struct gkf_locks *locks;

static int open_locks(void **state)
{
	(void)state;
	return gkf_emptied_new(&emptied) ||
	       gkf_locks_new(-1, NULL, 100, 3, &emptied->claims, &locks);
}

static int close_locks(void **state)
{
	(void)state;
	gkf_locks_free(locks);
	gkf_emptied_free(emptied);
	return 0;
}

static void let_go(unsigned i)
{
	atomic_store(gkf_locks_word(locks, i), 0);
}

/* It would be in glibc's list twice, and end the process when given back. */
static void one_that_is_held_is_not_taken_again(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(gkf_locks_take(locks, i, 0), 0);
		let_go(i);
		assert_int_equal(gkf_locks_take(locks, i, 0), EBUSY);
		assert_int_equal(gkf_locks_take(locks, i, 1000), ETIMEDOUT);
	}
	for (unsigned i = 0; i < 3; i++)
		gkf_locks_release(locks, i);
	assert_int_equal(gkf_locks_take(locks, 1, 0), 0);
	gkf_locks_release(locks, 1);
}

static void *take_last(void *ret_error)
{
	*(int *)ret_error = gkf_locks_take(locks, 2, 0);
	return NULL;
}

static void nor_by_another_thread(void **state)
{
	pthread_t other;
	int error = 0;

	(void)state;
	assert_int_equal(gkf_locks_take(locks, 2, 0), 0);
	let_go(2);
	assert_int_equal(pthread_create(&other, NULL, take_last, &error), 0);
	pthread_join(other, NULL);
	assert_int_equal(error, EBUSY);
	gkf_locks_release(locks, 2);
}

/* What the parent's threads have is not the child's. */
static void a_child_claims_nothing(void **state)
{
	int status;
	pid_t pid;

	(void)state;
	assert_int_equal(gkf_locks_take(locks, 0, 0), 0);
	pid = fork();
	if (!pid) {
		let_go(0);
		_exit(gkf_locks_take(locks, 0, 0));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	gkf_locks_release(locks, 0);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, open_locks, close_locks)
	const struct CMUnitTest tests[] = {
	    T(one_that_is_held_is_not_taken_again),
	    T(nor_by_another_thread),
	    T(a_child_claims_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
