/* SPDX-License-Identifier: Apache-2.0 */
/*
 * series_test.c - checks a value over time: bins, rings that wrap around, and
 * which one is read.
 */
#include "base/clock.h"
#include "core/past/series.h"
#include "unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define S GK_NS_PER_S
#define T 1200000 /* seconds; a multiple of a minute */

/* Its neighbours have other values, and their rings lie between its own. */
#define SERIES 3
#define series all[1]

static uint16_t rings[SERIES * GK_SERIES_ALL];
static struct gk_series all[SERIES];

static void begin(unsigned levels)
{
	memset(rings, 0, sizeof rings);
	gk_series_init(all, SERIES, rings, levels);
}

static int setup(void **state)
{
	(void)state;
	begin(GK_SERIES_LEVELS);
	return 0;
}

static void add(double second, double value)
{
	for (int i = 0; i < SERIES; i++)
		gk_series_add(&all[i], (uint64_t)((T + second) * 1e9),
			      i == 1 ? value : 4711 + i);
}

/* The mean of a step that ends there; both in seconds. */
static float mean(double end, double step)
{
	struct gk_history_span span = {.end_ns = (uint64_t)((T + end) * 1e9),
				       .step_ns = (uint64_t)(step * 1e9),
				       .count = 1};
	float out = 4711;

	gk_series_read(&series, span, &out);
	return out;
}

static void is_mean(double end, double step, double want)
{
	float got = mean(end, step);

	/* Completed bins are stored with a precision of one part in 2048. */
	if (isnan(want) ? !isnan(got)
			: !(fabs((double)got - want) <= 0.02 + want / 2048))
		fail_msg("until %g, of %g: %g, not %g", end, step, (double)got,
			 want);
}

static void nothing_was_added(void **state)
{
	(void)state;
	is_mean(1, 1, (double)NAN);
	add(0.5, (double)NAN);
	is_mean(1, 1, (double)NAN);
	/* There is no ring. */
	gk_series_init(&series, 1, NULL, 0);
	add(0.5, 5);
	is_mean(1, 1, (double)NAN);
}

static void a_bin_is_the_mean_of_what_came_in_its_second(void **state)
{
	(void)state;
	add(0, 1);
	add(0.5, 2);
	add(0.999999999, 6);
	add(1, 10);
	add(1.5, (double)NAN);
	is_mean(0, 1, (double)NAN);
	is_mean(1, 1, 3);
	is_mean(2, 1, 10);
	is_mean(3, 1, (double)NAN);
	/* The mean is over bins, however many values each has. */
	is_mean(2, 2, 6.5);
	is_mean(2, 1.5, 6.5);
	is_mean(1.000000001, 1, 6.5);
	is_mean(100, 100, 6.5);
}

static void steps_go_back_from_the_end(void **state)
{
	struct gk_history_span span = {
	    .end_ns = (T + 4) * S, .step_ns = S, .count = 6};
	float out[6];

	(void)state;
	for (int i = 0; i < 4; i++)
		add(i + 0.5, i + 1);
	gk_series_read(&series, span, out);
	assert_true(isnan(out[0]) && isnan(out[1]));
	for (int i = 0; i < 4; i++)
		assert_near(out[2 + i], i + 1, 1e-6);
	/* There is nothing before time 0. */
	span.end_ns = 2 * S;
	gk_series_read(&series, span, out);
	for (int i = 0; i < 6; i++)
		assert_true(isnan(out[i]));
}

static void the_first_second_counts(void **state)
{
	struct gk_history_span span = {
	    .end_ns = 2 * S, .step_ns = S, .count = 3};
	float out[3];

	(void)state;
	gk_series_add(&series, 0, 5);
	gk_series_add(&series, S + 1, 7);
	gk_series_read(&series, span, out);
	assert_true(isnan(out[0]));
	assert_near(out[1], 5, 1e-6);
	assert_near(out[2], 7, 1e-6);
}

/* Ten minutes by the second: the bin of ten minutes ago is the current one. */
static void the_fine_ring_comes_round(void **state)
{
	(void)state;
	begin(1);
	for (int i = 0; i < 700; i++)
		add(i + 0.5, i);
	is_mean(700, 1, 699);
	is_mean(101, 1, 100);
	is_mean(100, 1, (double)NAN);
	is_mean(700, 600, (100 + 699) / 2.0);
	/* Values requested beyond the ring are left out, not read twice. */
	is_mean(700, 700, (100 + 699) / 2.0);
	is_mean(101, 101, 100);
}

static void a_gap_is_forgotten(void **state)
{
	(void)state;
	begin(1);
	for (int i = 0; i < 600; i++)
		add(i + 0.5, 1);
	add(650.5, 2);
	is_mean(600, 1, 1);
	for (int i = 600; i < 650; i++)
		is_mean(i + 1, 1, (double)NAN);
	is_mean(651, 1, 2);
	is_mean(52, 1, 1);
	is_mean(51, 1, (double)NAN);
}

/* Gaps as long as the ring, a second shorter, and longer. */
static void a_long_gap_leaves_nothing(void **state)
{
	static const int gaps[] = {599, 600, 601, 5000};

	(void)state;
	for (size_t g = 0; g < COUNT(gaps); g++) {
		int end = 600 + gaps[g];

		begin(1);
		for (int i = 0; i <= 600; i++)
			add(i + 0.5, 1);
		add(end + 0.5, 2);
		for (int i = end - 599; i < end; i++)
			is_mean(i + 1, 1, i <= 600 ? 1 : (double)NAN);
		is_mean(end + 1, 1, 2);
	}
}

static void a_clock_that_goes_back_starts_a_bin(void **state)
{
	(void)state;
	add(5.5, 1);
	add(3.5, 2);
	add(3.6, 4);
	is_mean(4, 1, 3);
	add(5.5, 9);
	is_mean(6, 1, 9);
	is_mean(5, 1, (double)NAN);
}

/* 5000 seconds: the fine ring has the last 600, the one of ten seconds all. */
static void old_times_are_read_of_a_coarser_ring(void **state)
{
	(void)state;
	for (int i = 0; i <= 5000; i++)
		add(i + 0.5, i);
	is_mean(4990, 1, 4989);
	is_mean(4402, 1, 4401);
	is_mean(4401, 1, 4404.5);
	is_mean(4400, 1, 4394.5);
	is_mean(4001, 1, 4004.5);
	is_mean(10, 10, 4.5);
	is_mean(1, 1, 4.5);
	/* The beginning of the request chooses the ring, not its end. */
	is_mean(5000, 599, 4700);
	is_mean(5000, 600, 4699.5);
	is_mean(5000, 601, 4694.5);
}

static void a_day_is_kept_by_the_minute(void **state)
{
	enum { DAY = 86400, NEWEST = DAY + 3600, TENS = NEWEST - 7200 };

	(void)state;
	for (int i = 0; i <= NEWEST; i += 10)
		add(i, i % 3600);
	/* The ring of ten seconds covers two hours. */
	is_mean(TENS + 20, 10, 10);
	is_mean(TENS + 10, 10, 25);
	/* The oldest minute, and the one before it, which is gone. */
	is_mean(3720, 60, 60 + 25);
	is_mean(3660, 60, (double)NAN);
	is_mean(60, 60, (double)NAN);
}

static int whole(double value)
{
	return (int)(value + 0.5);
}

/* From 0 to more than any value, with a precision of one part in 2048. */
static void all_sizes_are_kept(void **state)
{
	static const struct {
		double value, kept;
	} rows[] = {
	    {0, 0},
	    {1e-9, 0},
	    {1.0 / 1024, 1.0 / 1024},
	    {0.3, 0.3},
	    {1, 1},
	    {99.5, 99.5},
	    {354.2, 354.2},
	    {1979, 1979},
	    {4095, 4095},
	    {65537, 65537},
	    {3999999, 3999999},
	    {-3, 0},
	};

	(void)state;
	begin(1);
	for (size_t i = 0; i < COUNT(rows); i++)
		add((double)i + 0.5, rows[i].value);
	add(COUNT(rows) + 0.5, 0);
	for (size_t i = 0; i < COUNT(rows); i++) {
		double got = (double)mean((double)i + 1, 1);
		double kept = rows[i].kept;

		if (kept == (double)whole(kept) && kept <= 4096)
			assert_true(got == kept);
		assert_near(got, kept, kept / 2048);
	}
}

/* A second later a value still rounds to the same whole number. */
static void what_is_kept_rounds_as_before(void **state)
{
	(void)state;
	begin(1);
	for (int milliwatts = 0; milliwatts < 2000000; milliwatts += 7) {
		float value = (float)(milliwatts / 1e3);

		add(0.5, (double)value);
		add(1.5, 0);
		assert_int_equal(whole((double)mean(1, 1)),
				 whole((double)value));
	}
}

#define TEST(name) cmocka_unit_test_setup(name, setup)

static void fill(double second, float value)
{
	struct gk_timed one = {(uint64_t)((T + second) * 1e9), value};

	gk_series_fill(&series, &one, 1);
}

static void what_was_before_is_filled_in(void **state)
{
	struct gk_timed three[3];

	(void)state;
	fill(0, 50); /* no value follows */
	is_mean(1, 1, (double)NAN);
	add(30.5, 10);
	for (int i = 0; i < 3; i++)
		three[i] = (struct gk_timed){
		    (uint64_t)((T + 20 + i * 0.4) * 1e9), 40 + 10 * (float)i};
	gk_series_fill(&series, three, 3); /* 20, 20.4, 20.8 */
	is_mean(21, 1, 50);
	is_mean(20, 1, (double)NAN);
	is_mean(22, 1, (double)NAN);
	/* Added values take precedence, and nothing is filled in twice. */
	fill(30.9, 90);
	is_mean(31, 1, 10);
	fill(20.1, 90);
	is_mean(21, 1, 50);
	fill(40, 90); /* not before the first value */
	is_mean(41, 1, (double)NAN);
	/* The coarser rings have it too. */
	is_mean(30, 10, 50);
	add(30 + 1000, 10);
	is_mean(30, 10, 50);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(nothing_was_added),
	    TEST(a_bin_is_the_mean_of_what_came_in_its_second),
	    TEST(steps_go_back_from_the_end),
	    TEST(the_first_second_counts),
	    TEST(the_fine_ring_comes_round),
	    TEST(a_gap_is_forgotten),
	    TEST(a_long_gap_leaves_nothing),
	    TEST(a_clock_that_goes_back_starts_a_bin),
	    TEST(old_times_are_read_of_a_coarser_ring),
	    TEST(a_day_is_kept_by_the_minute),
	    TEST(all_sizes_are_kept),
	    TEST(what_is_kept_rounds_as_before),
	    TEST(what_was_before_is_filled_in),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
