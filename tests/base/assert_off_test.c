/* SPDX-License-Identifier: Apache-2.0 */
/*
 * assert_off_test.c - checks that GK_ASSERT in builds without asserts evaluates
 * nothing.
 */
#undef GK_ASSERTS
#include "unit.h"

#include "base/assert.h"

static int asked;

static bool ask(bool answer)
{
	asked++;
	return answer;
}

static void nothing_is_evaluated(void **state)
{
	int only_asserted = 0;

	(void)state;
	GK_ASSERT(only_asserted == 1);
	GK_ASSERT(ask(false));
	assert_int_equal(asked, 0);
	assert_true(ask(true));
	assert_int_equal(asked, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(nothing_is_evaluated),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
