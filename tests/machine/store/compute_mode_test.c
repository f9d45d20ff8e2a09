/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compute_mode_test.c - checks which processes a device's compute mode refuses.
 */
#include "base/err.h"
#include "machine/file/numbers.h"
#include "machine/file/value.h"
#include "machine/fixture.h"
#include "machine/model/model.h"
#include "machine/store/process/ledger.h"
#include "machine/store/process/processes.h"

static int setup(void **state)
{
	struct fixture *fx = calloc(1, sizeof(*fx));

	fixture_open(fx, 2);
	*state = fx;
	return 0;
}

static int teardown(void **state)
{
	fixture_close(*state);
	free(*state);
	return 0;
}

static void set_mode(struct fixture *fx, int64_t mode)
{
	assert_int_equal(gkf_value_set(fx->m, 0, GKF_V_COMPUTE_MODE, mode), 0);
}

/* The result of attaching this process. */
static int come(struct fixture *fx, unsigned device, unsigned types)
{
	unsigned slot;

	return gkf_attach(fx->m, device, types, NULL, &slot);
}

static void prohibited_keeps_all_computing_out(void **state)
{
	struct fixture *fx = *state;

	set_mode(fx, GKF_PROHIBITED);
	assert_int_equal(come(fx, 0, GKF_COMPUTE), GK_ERR_PERMISSION);
	assert_int_equal(come(fx, 0, GKF_GRAPHICS), 0);
	assert_int_equal(come(fx, 1, GKF_COMPUTE), 0);
	set_mode(fx, 0);
	assert_int_equal(come(fx, 0, GKF_COMPUTE), 0);
}

static void exclusive_is_for_one_process(void **state)
{
	struct fixture *fx = *state;
	struct resident r;

	set_mode(fx, GKF_EXCLUSIVE);
	r = fixture_resident(fx, 0, GKF_COMPUTE, 0, NULL);
	assert_int_equal(come(fx, 0, GKF_COMPUTE), GK_ERR_IN_USE);
	assert_int_equal(come(fx, 0, GKF_GRAPHICS), 0);
	fixture_end(&r);
	gkf_reap(fx->m, true);
	/* Twice: a process may have more than one context. */
	assert_int_equal(come(fx, 0, GKF_COMPUTE), 0);
	assert_int_equal(come(fx, 0, GKF_COMPUTE), 0);
}

static void a_mode_does_not_send_anybody_away(void **state)
{
	struct fixture *fx = *state;
	unsigned processes = 0;

	assert_int_equal(come(fx, 0, GKF_COMPUTE), 0);
	set_mode(fx, GKF_PROHIBITED);
	assert_int_equal(
	    gkf_processes(fx->m, 0, GKF_COMPUTE, NULL, 0, &processes), 0);
	assert_int_equal(processes, 1);
}

int main(void)
{
#define ROW(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
	const struct CMUnitTest tests[] = {
	    ROW(prohibited_keeps_all_computing_out),
	    ROW(exclusive_is_for_one_process),
	    ROW(a_mode_does_not_send_anybody_away),
	};
#undef ROW

	return cmocka_run_group_tests(tests, NULL, NULL);
}
