/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metrics_test.c - checks the screen of a process: its row, its graphs, and
 * what stays after its end.
 */
#include "base/units.h"
#include "base/clock.h"
#include "tui/screen.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include <string.h>

static struct screen s;
static struct gk_process *p;

/* 120 seconds: CPU rises to 312.5 %, memory in steps, SM as a sawtooth. */
static void live(int seconds)
{
	for (int i = 0; i < seconds; i++) {
		s.f.snap.mono_ns += GK_NS_PER_S;
		p->m[GK_PM_CPU] = present(31250 * (i + 1) / seconds);
		p->m[GK_PM_GPU_MEM] = present((1 + i / 30) * 10000 * MIB);
		p->m[GK_PM_RSS] = present(8192 * MIB);
		p->m[GK_PM_SM_UTIL] = present(i % 20 * 5);
		gk_history_add(s.t.history, &s.f.snap);
	}
}

static int begin(void **state)
{
	(void)state;
	screen_begin(&s, 24, 80);
	p = &s.f.processes[0];
	p->m[GK_PM_ENC_UTIL] = present(11);
	p->m[GK_PM_DEC_UTIL] = present(22);
	live(120);
	tui_select(&s.t, 0);
	assert_int_equal(tui_process(&s.t)->pid, 15699);
	return 0;
}

static int end(void **state)
{
	(void)state;
	screen_end(&s);
	return 0;
}

static void its_row_and_graphs_are_drawn(void **state)
{
	(void)state;
	screen_press(&s, "Enter");
	assert_int_equal(s.t.screen, SCREEN_METRICS);
	assert_screen(&s, "tui/metrics-80x24");
	screen_resize(&s, 40, 120);
	assert_screen(&s, "tui/metrics-120x40");
	screen_resize(&s, 10, 40);
	assert_screen(&s, "tui/metrics-40x10");
}

/* The time before the screen opened is there at once. */
static void the_past_is_there_when_it_opens(void **state)
{
	(void)state;
	screen_resize(&s, 40, 120);
	screen_press(&s, "Enter");
	screen_draw(&s);
	assert_int_not_equal(screen_find(&s, "MAX CPU: 312.5%", NULL), -1);
	assert_int_not_equal(
	    screen_find(&s, "MAX GPU-MEM: 39.06GiB (48.8%) / 80.00GiB", NULL),
	    -1);
	assert_int_not_equal(
	    screen_find(&s, "MAX HOST-MEM: 8192MiB (12.5%) / 64.00GiB", NULL),
	    -1);
	assert_int_not_equal(screen_find(&s, "MAX GPU-SM: 95.0%", NULL), -1);
}

static void the_decoder_is_not_the_encoder(void **state)
{
	struct gk_buf row = {0};

	(void)state;
	screen_resize(&s, 24, 100);
	screen_press(&s, "Enter");
	screen_draw(&s);
	screen_row(&s, 4, &row);
	assert_non_null(strstr(row.data, "  11   22 "));
	gk_buf_free(&row);
}

static void the_scale_follows_the_values(void **state)
{
	(void)state;
	screen_resize(&s, 40, 120);
	screen_press(&s, "Enter");
	screen_draw(&s);
	assert_int_not_equal(screen_find(&s, "├╴100% ", NULL), -1);
	/* After minutes of little load the scale shrinks with what is shown. */
	for (int i = 0; i < 200; i++) {
		s.f.snap.mono_ns += GK_NS_PER_S;
		p->m[GK_PM_CPU] = present(100);
		gk_history_add(s.t.history, &s.f.snap);
	}
	screen_draw(&s);
	assert_int_equal(screen_find(&s, "├╴100% ", NULL), -1);
	assert_int_not_equal(screen_find(&s, "├╴8% ", NULL), -1);
	/* The high values come back when the user looks back. */
	screen_press(&s, "- -");
	screen_draw(&s);
	assert_int_not_equal(screen_find(&s, "├╴100% ", NULL), -1);
}

static void looking_back_shows_what_was(void **state)
{
	(void)state;
	screen_press(&s, "Enter ( (");
	screen_draw(&s);
	/* Half of the way back: between 150 and 165 %. */
	assert_int_not_equal(screen_find(&s, " CPU: 15", NULL), -1);
}

static void what_has_ended_keeps_its_graphs(void **state)
{
	(void)state;
	screen_press(&s, "Enter");
	memmove(p, p + 1, (s.f.snap.process_count - 1) * sizeof *s.f.processes);
	s.f.snap.process_count--;
	tui_list_update(&s.t);
	screen_draw(&s);
	assert_int_not_equal(screen_find(&s, "Process, ended:", NULL), -1);
	assert_int_not_equal(screen_find(&s, "MAX CPU: 312.5%", NULL), -1);
	assert_null(tui_process(&s.t));
}

static void without_a_selection_there_is_no_screen(void **state)
{
	(void)state;
	tui_select(&s.t, -1);
	screen_press(&s, "Enter");
	assert_int_equal(s.t.screen, SCREEN_MAIN);
	assert_string_equal(s.t.message, "Select a process first.");
	s.t.selected.pid = 1;
	screen_press(&s, "Enter");
	assert_int_equal(s.t.screen, SCREEN_MAIN);
	assert_string_equal(s.t.message, "Process 1 is on no GPU.");
}

static void every_way_leads_back(void **state)
{
	static const char *const keys[] = {"Enter", "Esc", "q", "Q"};

	(void)state;
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
		screen_press(&s, "Enter");
		assert_int_equal(s.t.screen, SCREEN_METRICS);
		screen_press(&s, keys[i]);
		assert_int_equal(s.t.screen, SCREEN_MAIN);
		assert_int_equal(tui_process(&s.t)->pid, 15699);
	}
}

#define T(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    T(its_row_and_graphs_are_drawn),
	    T(the_past_is_there_when_it_opens),
	    T(the_decoder_is_not_the_encoder),
	    T(the_scale_follows_the_values),
	    T(looking_back_shows_what_was),
	    T(what_has_ended_keeps_its_graphs),
	    T(without_a_selection_there_is_no_screen),
	    T(every_way_leads_back),
	};

	return cmocka_run_group_tests(tests, fixture_setup, NULL);
}
