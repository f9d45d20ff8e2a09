/* share_test.c - the arithmetic of a group's share of a GPU's time. */
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

/* One began 4 ms before the other, and they ended together. */
static void who_is_late_pays_for_who_waited(void **state)
{
	struct gkl_share *both[] = {&share, &other};
	static const unsigned percent[] = {50, 50};

	(void)state;
	gkl_share_take(&share, 50, S + 10 * MS, 0);
	gkl_share_take(&other, 50, S + 10 * MS, 0);
	gkl_share_meet(both, 2, 0, percent, S, S + 10 * MS);
	gkl_share_meet(both, 2, 1, percent, S + 4 * MS, S + 10 * MS);
	assert_int_equal(gkl_share_level(&share, 50, S + 10 * MS), 0);
	assert_int_equal(gkl_share_level(&other, 50, S + 10 * MS),
			 -4 * (int64_t)MS);
}

static void the_order_of_measuring_does_not_matter(void **state)
{
	struct gkl_share *both[] = {&share, &other};
	static const unsigned percent[] = {50, 50};

	(void)state;
	gkl_share_take(&other, 50, S + 10 * MS, 0);
	gkl_share_meet(both, 2, 1, percent, S + 4 * MS, S + 10 * MS);
	gkl_share_meet(both, 2, 0, percent, S, S + 10 * MS);
	assert_int_equal(gkl_share_level(&other, 50, S + 10 * MS),
			 -4 * (int64_t)MS);
}

static void who_ends_at_another_time_waited_for_nobody(void **state)
{
	struct gkl_share *both[] = {&share, &other};
	static const unsigned percent[] = {50, 50};

	(void)state;
	gkl_share_take(&other, 50, S + 10 * MS, 0);
	gkl_share_meet(both, 2, 0, percent, S, S + 10 * MS);
	gkl_share_meet(both, 2, 1, percent, S + 4 * MS, S + 11 * MS);
	assert_int_equal(gkl_share_level(&other, 50, S + 10 * MS), 0);
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
	    TEST(who_is_late_pays_for_who_waited),
	    TEST(the_order_of_measuring_does_not_matter),
	    TEST(who_ends_at_another_time_waited_for_nobody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
