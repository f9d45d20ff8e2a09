/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pace_test.c - checks the progress of kernels as kept in words: bouts, and who
 * is overdue.
 */
#include "limit/pace.h"

#include "unit.h"

#include <string.h>

#define MS 1000000ULL
#define S  (1000 * MS)

static struct gkl_share share[3];
static struct gkl_share *const all[] = {&share[0], &share[1], &share[2]};

static int begin(void **state)
{
	(void)state;
	memset(share, 0, sizeof share);
	return 0;
}

static void work_is_overdue_until_it_is_over(void **state)
{
	(void)state;
	assert_false(gkl_pace_is_overdue(&share[0], S, 0));
	gkl_pace_begin(&share[0], S, 2 * MS);
	assert_false(gkl_pace_is_overdue(&share[0], S + 3 * MS, MS));
	assert_true(gkl_pace_is_overdue(&share[0], S + 3 * MS + 1, MS));
	gkl_pace_end(&share[0], S);
	assert_false(gkl_pace_is_overdue(&share[0], S + 4 * MS, MS));
}

static void launches_follow_each_other(void **state)
{
	(void)state;
	gkl_pace_begin(&share[0], S, 2 * MS);
	gkl_pace_begin(&share[0], S + MS, 2 * MS);
	gkl_pace_end(&share[0], S); /* the first: the second is under way */
	assert_false(gkl_pace_is_overdue(&share[0], S + 4 * MS, 0));
	assert_true(gkl_pace_is_overdue(&share[0], S + 4 * MS + 1, 0));
}

static void who_died_is_not_waited_for_for_ever(void **state)
{
	(void)state;
	gkl_pace_begin(&share[0], S, MS);
	assert_true(gkl_pace_is_overdue(&share[0], 10 * S, MS));
	assert_false(gkl_pace_is_overdue(&share[0], 12 * S, MS));
}

static void who_has_launched_less_is_behind(void **state)
{
	(void)state;
	gkl_pace_open(all, 3, 0, S, S);
	for (unsigned i = 0; i < 3; i++)
		gkl_pace_step(all, 3, 0);
	gkl_pace_step(all, 3,
		      1); /* it joins, though the bout was not opened for it */
	assert_int_equal(gkl_pace_behind(all, 3, 1), 0);
	gkl_pace_begin(&share[0], S, MS);
	assert_int_equal(gkl_pace_behind(all, 3, 0), 0);
	assert_int_equal(gkl_pace_behind(all, 3, 1), 2);
	assert_int_equal(gkl_pace_behind(all, 3, 2), 3);
	gkl_pace_end(&share[0], S);
	assert_int_equal(gkl_pace_behind(all, 3, 2), 0);
}

static void a_new_bout_begins_at_nothing(void **state)
{
	(void)state;
	gkl_pace_open(all, 3, 0, S, S);
	gkl_pace_step(all, 3, 0);
	gkl_pace_step(all, 3, 0);
	/* This one has waited longer: it is let in with the first. */
	gkl_pace_open(all, 3, 1, S - MS, S + MS / 2);
	gkl_pace_step(all, 3, 1);
	gkl_pace_begin(&share[0], S, MS);
	assert_int_equal(gkl_pace_behind(all, 3, 1), 1);
	gkl_pace_open(all, 3, 1, 2 * S, 2 * S);
	gkl_pace_step(all, 3, 1);
	gkl_pace_begin(&share[1], 2 * S, MS);
	assert_int_equal(gkl_pace_behind(all, 3, 1), 0);
	assert_int_equal(gkl_pace_behind(all, 3, 0), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup(name, begin)
	    TEST(work_is_overdue_until_it_is_over),
	    TEST(launches_follow_each_other),
	    TEST(who_died_is_not_waited_for_for_ever),
	    TEST(who_has_launched_less_is_behind),
	    TEST(a_new_bout_begins_at_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
