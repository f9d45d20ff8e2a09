/* SPDX-License-Identifier: Apache-2.0 */
/* round_test.c - checks rounding, and numbers that do not fit. */
#include "unit.h"

#include "base/round.h"

#include <math.h>

static void whole_numbers_stay_in_64_bits(void **state)
{
	(void)state;
	assert_int_equal(gk_to_int64(0), 0);
	assert_int_equal(gk_to_int64(2.5), 3);
	assert_int_equal(gk_to_int64(-2.5), -3);
	assert_int_equal(gk_to_int64(1e18), 1000000000000000000);
	assert_int_equal(gk_to_int64(0x1p63), INT64_MAX);
	assert_int_equal(gk_to_int64(3e38), INT64_MAX);
	assert_int_equal(gk_to_int64((double)INFINITY), INT64_MAX);
	assert_int_equal(gk_to_int64(-0x1p63), -INT64_MAX);
	assert_int_equal(gk_to_int64(-1e300), -INT64_MAX);
	assert_int_equal(gk_to_int64((double)NAN), 0);
}

static void a_share_stays_in_its_steps(void **state)
{
	(void)state;
	assert_int_equal(gk_steps(0, 8), 0);
	assert_int_equal(gk_steps(0.5, 8), 4);
	assert_int_equal(gk_steps(0.95, 8), 8);
	assert_int_equal(gk_steps(1, 8), 8);
	assert_int_equal(gk_steps(1e300, 8), 8);
	assert_int_equal(gk_steps((double)INFINITY, 8), 8);
	assert_int_equal(gk_steps(-1e300, 8), 0);
	assert_int_equal(gk_steps((double)NAN, 8), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(whole_numbers_stay_in_64_bits),
	    cmocka_unit_test(a_share_stays_in_its_steps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
