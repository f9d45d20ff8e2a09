/* SPDX-License-Identifier: Apache-2.0 */
/* series_test.c - checks the bins of a line, and samples of them. */
#include "unit.h"

#include "plot/series.h"

#include <math.h>

static struct gk_plot_series series;

static int tear_down(void **state)
{
	(void)state;
	gk_plot_series_free(&series);
	series = (struct gk_plot_series){0};
	return 0;
}

static void add(unsigned shift, int64_t ms, double value)
{
	assert_int_equal(gk_plot_series_add(&series, shift, ms, value), 0);
}

static void a_span_has_its_extremes_and_their_times(void **state)
{
	struct gk_plot_bin bin;
	size_t at = 0;

	(void)state;
	add(10, 100, 5);
	add(10, 200, 9);
	add(10, 300, 2);
	add(10, 1024, 7);
	assert_true(gk_plot_series_next(&series, 10, &at, &bin));
	assert_int_equal(bin.column, 0);
	assert_int_equal(bin.max_ms, 200);
	assert_int_equal(bin.min_ms, 300);
	assert_near(bin.max, 9, 0);
	assert_near(bin.min, 2, 0);
	assert_true(gk_plot_series_next(&series, 10, &at, &bin));
	assert_int_equal(bin.column, 1);
	assert_false(gk_plot_series_next(&series, 10, &at, &bin));
	at = 0;
	assert_true(gk_plot_series_next(&series, 11, &at, &bin));
	assert_int_equal(bin.max_ms, 200);
	assert_int_equal(bin.min_ms, 300);
	assert_false(gk_plot_series_next(&series, 11, &at, &bin));
}

/* In spans of 100 ms. */
static void a_sample_is_the_mean_of_its_span(void **state)
{
	double values[4];

	(void)state;
	add(0, 10, 4);
	add(0, 90, 8);
	add(0, 100, 9); /* a span includes its end */
	add(0, 101, 1);
	add(0, 350, 3);
	gk_plot_series_sample(&series, 0, 100, 0, 4, values);
	assert_near(values[0], 7, 0);
	assert_near(values[1], 1, 0);
	assert_true(isnan(values[2]));
	assert_near(values[3], 3, 0);
	gk_plot_series_sample(&series, 200, 100, 0, 2, values);
	assert_near(values[1], 3, 0);
}

static void a_sample_is_repeated_as_long_as_a_gap(void **state)
{
	double values[4];

	(void)state;
	add(0, 100, 6);
	gk_plot_series_sample(&series, 0, 100, 200, 4, values);
	assert_near(values[0], 6, 0);
	assert_near(values[1], 6, 0);
	assert_near(values[2], 6, 0); /* up to 300: 200 ms later */
	assert_true(isnan(values[3]));
	gk_plot_series_sample(&series, 0, 100, 199, 4, values);
	assert_near(values[1], 6, 0);
	assert_true(isnan(values[2]));
}

/* Of values that share a bin, the later extreme is the last one known. */
static void the_last_value_of_a_bin_is_repeated(void **state)
{
	double values[2];

	(void)state;
	add(6, 10, 2);
	add(6, 20, 8);
	gk_plot_series_sample(&series, 0, 64, 1000, 2, values);
	assert_near(values[0], 5, 0);
	assert_near(values[1], 8, 0);
}

static void before_the_first_value_there_is_none(void **state)
{
	double values[2];

	(void)state;
	gk_plot_series_sample(&series, 0, 100, INT64_MAX / 4, 2, values);
	assert_true(isnan(values[0]));
	add(0, 150, 6);
	gk_plot_series_sample(&series, 0, 100, 1000, 2, values);
	assert_true(isnan(values[0]));
	assert_near(values[1], 6, 0);
}

#define TEST(function) cmocka_unit_test_teardown(function, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(a_span_has_its_extremes_and_their_times),
	    TEST(a_sample_is_the_mean_of_its_span),
	    TEST(a_sample_is_repeated_as_long_as_a_gap),
	    TEST(the_last_value_of_a_bin_is_repeated),
	    TEST(before_the_first_value_there_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
