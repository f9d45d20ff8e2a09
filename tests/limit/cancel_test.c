/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cancel_test.c - checks that a cancelled thread ends after a call to the
 * ledger, never within one.
 */
#include "limit/fixture.h"

#include <pthread.h>

static struct fixture fx;

static void *take_when_cancelled(void *bytes)
{
	uint64_t *wanted = bytes;

	pthread_cancel(pthread_self());
	*wanted = gkl_ledger_reserve(fx.ledger, 0, GKL_DATA, *wanted, GIB);
	pthread_testcancel();
	return NULL;
}

static void try_to_take(uint64_t bytes, bool wanted)
{
	pthread_t thread;
	void *result;

	assert_int_equal(
	    pthread_create(&thread, NULL, take_when_cancelled, &bytes), 0);
	assert_int_equal(pthread_join(thread, &result), 0);
	assert_ptr_equal(result, PTHREAD_CANCELED);
	assert_int_equal(bytes, wanted);
}

static void the_cancelled_have_their_answer_and_leave_no_lock(void **state)
{
	(void)state;
	fixture_open(&fx);
	alarm(60);
	try_to_take(GIB / 2, true);
	try_to_take(GIB, false);
	assert_true(gkl_ledger_reserve(fx.ledger, 0, GKL_DATA, GIB / 2, GIB));
	fixture_close(&fx);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_cancelled_have_their_answer_and_leave_no_lock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
