/* SPDX-License-Identifier: Apache-2.0 */
/* work_test.c - checks what is learned about how long work takes. */
#include "limit/work.h"

#include "unit.h"

#define US 1000ULL
#define MS (1000 * US)
#define S  (1000 * MS)

enum { KEY = 77 };

static struct gkl_work_table table;

static int begin(void **state)
{
	(void)state;
	table = (struct gkl_work_table){0};
	return 0;
}

static void learn(unsigned times, uint64_t ns, uint64_t at)
{
	while (times--)
		gkl_work_learn(&table, KEY, ns, at);
}

static struct gkl_work_time find(void)
{
	struct gkl_work_time time = {0};

	assert_true(gkl_work_find(&table, KEY, &time));
	return time;
}

static void work_that_stays_as_long_does_not_swing(void **state)
{
	(void)state;
	learn(64, MS, S);
	assert_int_equal(find().most_ns, 0);
	assert_near((double)find().usual_ns, (double)MS, 100);
	learn(1, 40 * MS, S); /* once: that may be chance */
	assert_int_equal(find().most_ns, 0);
}

static void work_that_grows_often_swings(void **state)
{
	(void)state;
	learn(64, 10 * US, S);
	learn(2, MS, S);
	assert_int_equal(find().most_ns, 0);
	learn(16, 10 * US, S);
	learn(1, MS, S + 190 * MS);
	assert_int_equal(find().most_ns, MS);
	learn(64, 10 * US, S + 190 * MS);
	assert_int_equal(find().most_ns, MS);
	assert_in_range(find().usual_ns, 9 * US, 11 * US);
}

static void it_swings_for_ten_seconds_more(void **state)
{
	(void)state;
	work_that_grows_often_swings(state);
	learn(1, 10 * US, 11 * S + 189 * MS);
	assert_int_equal(find().most_ns, MS);
	learn(1, 10 * US, 11 * S + 191 * MS);
	assert_int_equal(find().most_ns, 0);
}

static void short_work_does_not_swing(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 8; i++) {
		learn(64, 5 * US, S);
		learn(1, 90 * US, S);
	}
	assert_int_equal(find().most_ns, 0);
}

static void other_work_at_its_place_begins_anew(void **state)
{
	struct gkl_work_time time;

	(void)state;
	work_that_grows_often_swings(state);
	gkl_work_learn(&table, KEY + 2, 3 * US, 2 * S); /* the same place */
	assert_false(gkl_work_find(&table, KEY, &time));
	learn(2, MS, 2 * S);
	assert_int_equal(find().most_ns, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup(name, begin)
	    TEST(work_that_stays_as_long_does_not_swing),
	    TEST(work_that_grows_often_swings),
	    TEST(it_swings_for_ten_seconds_more),
	    TEST(short_work_does_not_swing),
	    TEST(other_work_at_its_place_begins_anew),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
