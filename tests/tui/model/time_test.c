/* SPDX-License-Identifier: Apache-2.0 */
/*
 * time_test.c - checks looking back in time: how far, how coarse, and the words
 * for it.
 */
#include "base/clock.h"
#include "tui/screen.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

static struct screen s;

/* 300 seconds are known, in which the CPU rises from 0 to 29.9 %. */
static int begin(void **state)
{
	(void)state;
	screen_begin(&s, 50, 120);
	for (int i = 0; i < 300; i++) {
		s.f.snap.mono_ns = (1000 + (uint64_t)i) * GK_NS_PER_S;
		s.f.snap.host.cpu_centipercent = present(i * 10);
		gk_history_add(s.t.history, &s.f.snap);
	}
	return 0;
}

static int end(void **state)
{
	(void)state;
	screen_end(&s);
	return 0;
}

static float newest(void)
{
	struct gk_history_span span = tui_time_span(&s.t, 1);
	float values[2];

	gk_history_of_host(s.t.history, GK_HH_CPU, span, values);
	return values[1];
}

static void graphs_end_now_a_second_a_dot(void **state)
{
	struct gk_history_span span = tui_time_span(&s.t, 77);

	(void)state;
	assert_int_equal(span.count, 154);
	assert_int_equal(span.step_ns, GK_NS_PER_S);
	/* Includes the second that has begun. */
	assert_int_equal(span.end_ns, 1300 * GK_NS_PER_S);
	assert_true(fabsf(newest() - 29.9F) < 0.05F);
}

static void one_looks_back_and_returns(void **state)
{
	float now = newest();

	(void)state;
	screen_press(&s, "(");
	assert_true(fabsf(newest() - (now - 3)) < 0.2F);
	screen_draw(&s);
	assert_int_not_equal(screen_find(&s, "0:30 ago", NULL), -1);
	screen_press(&s, "( )");
	assert_true(fabsf(newest() - (now - 3)) < 0.2F);
	screen_press(&s, ")");
	assert_int_equal(s.t.time.end_ns, 0);
	screen_press(&s, "( ( 0");
	assert_int_equal(s.t.time.end_ns, 0);
	screen_draw(&s);
	assert_int_equal(screen_find(&s, " ago", NULL), -1);
}

static void now_goes_on_but_the_past_stands(void **state)
{
	uint64_t then;

	(void)state;
	screen_press(&s, "(");
	then = tui_time_span(&s.t, 10).end_ns;
	s.f.snap.mono_ns += 5 * GK_NS_PER_S;
	assert_int_equal(tui_time_span(&s.t, 10).end_ns, then);
	screen_draw(&s);
	assert_int_not_equal(screen_find(&s, "0:35 ago", NULL), -1);
}

static void nobody_looks_further_than_is_known(void **state)
{
	(void)state;
	for (int i = 0; i < 20; i++)
		screen_press(&s, "(");
	assert_true(s.t.time.end_ns > gk_history_begin(s.t.history));
	assert_false(isnan(newest()));
}

static void a_dot_is_longer_and_shorter(void **state)
{
	(void)state;
	screen_press(&s, "- -");
	assert_int_equal(tui_time_step(&s.t), 5 * GK_NS_PER_S);
	screen_draw(&s);
	assert_int_not_equal(screen_find(&s, "5 s a dot", NULL), -1);
	screen_press(&s, "+ + + +");
	assert_int_equal(tui_time_step(&s.t), GK_NS_PER_S);
	for (int i = 0; i < 20; i++)
		screen_press(&s, "-");
	assert_int_equal(tui_time_step(&s.t), 600 * GK_NS_PER_S);
	screen_press(&s, "0");
	assert_int_equal(tui_time_step(&s.t), GK_NS_PER_S);
}

static void who_stands_still_says_so(void **state)
{
	(void)state;
	screen_press(&s, "p");
	screen_draw(&s);
	assert_int_not_equal(screen_find(&s, "PAUSED", NULL), -1);
	screen_press(&s, "p");
	screen_draw(&s);
	assert_int_equal(screen_find(&s, "PAUSED", NULL), -1);
}

static void other_screens_say_it_at_the_end(void **state)
{
	(void)state;
	screen_press(&s, "p ( -");
	screen_press(&s, "d");
	screen_draw(&s);
	assert_int_equal(screen_find(&s, "PAUSED, 0:30 ago, 2 s a dot", NULL),
			 49);
	screen_press(&s, "q p");
}

#define T(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    T(graphs_end_now_a_second_a_dot),
	    T(one_looks_back_and_returns),
	    T(now_goes_on_but_the_past_stands),
	    T(nobody_looks_further_than_is_known),
	    T(a_dot_is_longer_and_shorter),
	    T(who_stands_still_says_so),
	    T(other_screens_say_it_at_the_end),
	};

	return cmocka_run_group_tests(tests, fixture_setup, NULL);
}
