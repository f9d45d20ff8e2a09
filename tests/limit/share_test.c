/* SPDX-License-Identifier: Apache-2.0 */
/* share_test.c - checks the arithmetic of a group's share of a GPU's time. */
#include "limit/share.h"
#include "unit.h"

#include <string.h>

#define MS 1000000ULL
#define S  (1000 * MS)

static struct gkl_share share, other;

static int begin(void **state)
{
	(void)state;
	memset(&share, 0, sizeof share);
	memset(&other, 0, sizeof other);
	return 0;
}

static void what_was_taken_comes_back_with_time(void **state)
{
	(void)state;
	gkl_share_take(&share, 25, S, 10 * MS);
	assert_int_equal(gkl_share_level(&share, 25, S), -10 * (int64_t)MS);
	assert_int_equal(gkl_share_wait(&share, 25, S, 0), 40 * MS);
	assert_int_equal(gkl_share_wait(&share, 25, S + 30 * MS, 0), 10 * MS);
	assert_int_equal(gkl_share_wait(&share, 25, S + 40 * MS, 0), 0);
	assert_int_equal(gkl_share_wait(&share, 25, S + 40 * MS, 5 * MS),
			 5 * MS);
}

static void a_rest_saves_twenty_ms_of_the_clock(void **state)
{
	(void)state;
	gkl_share_take(&share, 50, S, 0);
	assert_int_equal(gkl_share_level(&share, 50, S + 4 * MS), 2 * MS);
	assert_int_equal(gkl_share_level(&share, 50, 9 * S), 10 * MS);
}

static void what_is_owed_stays_the_same_time_of_the_device(void **state)
{
	(void)state;
	gkl_share_take(&share, 10, S, 5 * MS);
	assert_int_equal(gkl_share_wait(&share, 10, S, 0), 50 * MS);
	assert_int_equal(gkl_share_wait(&share, 50, S, 0), 10 * MS);
	gkl_share_take(&share, 50, S, 0);
	assert_int_equal(gkl_share_level(&share, 50, S), -5 * (int64_t)MS);
}

static void nobody_waits_longer_than_a_minute(void **state)
{
	(void)state;
	gkl_share_take(&share, 1, S, INT64_MAX);
	gkl_share_take(&share, 1, S, INT64_MAX);
	assert_int_equal(gkl_share_wait(&share, 1, S, 0), 60 * S);
}

static void intervals_are_united(void **state)
{
	(void)state;
	assert_int_equal(gkl_share_cover(&share, S, S + 10 * MS), 10 * MS);
	assert_int_equal(gkl_share_cover(&share, S, S + 10 * MS), 0);
	assert_int_equal(gkl_share_cover(&share, S + 5 * MS, S + 12 * MS),
			 2 * MS);
	assert_int_equal(gkl_share_cover(&share, S + 20 * MS, S + 20 * MS), 0);
}

static void those_longer_than_the_ring_are_too(void **state)
{
	uint64_t first = gkl_share_cover(&share, S, 4 * S), second;

	(void)state;
	second = gkl_share_cover(&share, 2 * S, 5 * S);
	assert_int_equal(first, 3 * S);
	assert_int_equal(second, S);
}

static void reports_tell_what_was_shown(void **state)
{
	(void)state;
	assert_int_equal(gkl_share_busy(&share, 3 * S, S), 0);
	gkl_share_show(&share, 2400 * MS, 2800 * MS);
	gkl_share_show(&share, 2400 * MS, 2416 * MS); /* no room for more */
	assert_near(gkl_share_busy(&share, 3 * S, S), 400 * MS, 16 * MS);
	assert_near(gkl_share_busy(&share, 3 * S, 500 * MS), 300 * MS, 16 * MS);
	assert_int_equal(gkl_share_busy(&share, 9 * S, S), 0);
}

static struct gkl_share *const both[] = {&share, &other};

/*
 * A launch of `other` was let in after a wait of 50 ms. A kernel on `share`
 * that takes 1 ms by itself began 20 ms before that and ended 1 ms after it.
 */
static unsigned int meet_once(uint64_t at_ns)
{
	gkl_share_let_in(&other, at_ns - 50 * MS, at_ns);
	return gkl_share_meet(both, 2, 0, at_ns - 20 * MS, at_ns + MS, MS);
}

static void who_waits_for_another_device_goes_with_it(void **state)
{
	(void)state;
	assert_int_equal(gkl_share_partners(both, 0, 1, S), GKL_NO_PARTNERS);
	assert_int_equal(meet_once(S), 2);
	assert_int_equal(gkl_share_partners(both, 0, 1, S + MS), GKL_PARTNERS);
	assert_int_equal(gkl_share_partners(both, 1, 0, S + MS), GKL_PARTNERS);
}

/* Two seconds plus ten times the wait: that is how long they may wait. */
static void partners_are_tried_again_after_a_while(void **state)
{
	const uint64_t until = S + MS + 2 * S + 210 * MS;

	(void)state;
	meet_once(S);
	assert_int_equal(gkl_share_partners(both, 0, 1, until), GKL_PARTNERS);
	assert_int_equal(gkl_share_partners(both, 0, 1, until + MS),
			 GKL_WERE_PARTNERS);
	assert_int_equal(gkl_share_partners(both, 0, 1, until + 501 * MS),
			 GKL_NO_PARTNERS);
}

static void who_ends_long_after_waited_for_something_else(void **state)
{
	(void)state;
	gkl_share_let_in(&other, S - 50 * MS, S);
	assert_int_equal(
	    gkl_share_meet(both, 2, 0, S - 20 * MS, S + 10 * MS, MS), 0);
	assert_int_equal(gkl_share_partners(both, 0, 1, S + 10 * MS),
			 GKL_NO_PARTNERS);
}

/* It was let in at the end, but came when the kernel was half done. */
static void who_came_later_was_not_waited_for(void **state)
{
	(void)state;
	gkl_share_let_in(&other, S - 90 * MS, S - 10 * MS);
	gkl_share_let_in(&other, S - 8 * MS, S);
	assert_int_equal(gkl_share_meet(both, 2, 0, S - 20 * MS, S + MS, MS),
			 0);
}

static void a_kernel_that_is_not_long_waited_for_nobody(void **state)
{
	(void)state;
	gkl_share_let_in(&other, S - 50 * MS, S);
	assert_int_equal(
	    gkl_share_meet(both, 2, 0, S - 20 * MS, S + MS, 21 * MS), 0);
}

/* Two ms less than the kernel waited: that may be chance. */
static void what_may_be_chance_counts_the_third_time(void **state)
{
	(void)state;
	for (unsigned i = 1; i <= 3; i++) {
		uint64_t at = S + i * 100 * MS;

		gkl_share_let_in(&other, at - 50 * MS, at);
		assert_int_equal(
		    gkl_share_meet(both, 2, 0, at - 20 * MS, at + 3 * MS, MS),
		    1);
		assert_int_equal(gkl_share_partners(both, 0, 1, at + 3 * MS),
				 i < 3 ? GKL_NO_PARTNERS : GKL_PARTNERS);
	}
}

static void who_waits_for_something_else_goes_alone_again(void **state)
{
	uint64_t at = S + MS;

	(void)state;
	meet_once(S);
	for (unsigned i = 0; i < 2; i++) {
		at += 100 * MS;
		assert_int_equal(
		    gkl_share_meet(both, 2, 0, at, at + 21 * MS, MS), 0);
	}
	assert_int_equal(gkl_share_partners(both, 0, 1, at), GKL_NO_PARTNERS);
}

static void who_began_together_did_not_wait(void **state)
{
	(void)state;
	meet_once(S);
	for (unsigned i = 1; i < 9; i++) {
		uint64_t at = S + i * 100 * MS;

		gkl_share_let_in(&other, at - MS, at);
		gkl_share_meet(both, 2, 0, at, at + 21 * MS, MS);
		assert_int_equal(gkl_share_partners(both, 0, 1, at),
				 GKL_PARTNERS);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup(name, begin)
	    TEST(what_was_taken_comes_back_with_time),
	    TEST(a_rest_saves_twenty_ms_of_the_clock),
	    TEST(what_is_owed_stays_the_same_time_of_the_device),
	    TEST(nobody_waits_longer_than_a_minute),
	    TEST(intervals_are_united),
	    TEST(those_longer_than_the_ring_are_too),
	    TEST(reports_tell_what_was_shown),
	    TEST(who_waits_for_another_device_goes_with_it),
	    TEST(partners_are_tried_again_after_a_while),
	    TEST(who_ends_long_after_waited_for_something_else),
	    TEST(who_came_later_was_not_waited_for),
	    TEST(a_kernel_that_is_not_long_waited_for_nobody),
	    TEST(what_may_be_chance_counts_the_third_time),
	    TEST(who_waits_for_something_else_goes_alone_again),
	    TEST(who_began_together_did_not_wait),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
