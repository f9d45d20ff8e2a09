/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lanes_point_test.c - checks the marked moment in all traces of lanes, the
 * mouse that holds one, and clicks.
 */
#include "lanes_machines.h"

#include "tui/screen/mouse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <wchar.h>

static void mouse(enum term_mouse_what what, int row, int column)
{
	tui_mouse(&s.t, (struct term_mouse){
			    .what = what, .row = row, .column = column});
	screen_draw(&s);
}

/* ---- the moment that is looked at ---- */

/* The column of a character in a row, which must be in only one. */
static int only_column(int row, wchar_t sign)
{
	int found = -1;

	for (int c = 0; c < s.g.columns; c++) {
		if (grid_at(&s.g, row, c)->c != sign)
			continue;
		assert_int_equal(found, -1);
		found = c;
	}
	assert_true(found >= 0);
	return found;
}

static size_t count_of(wchar_t sign)
{
	size_t count = 0;

	for (int row = 0; row < s.g.rows; row++)
		for (int c = 0; c < s.g.columns; c++)
			count += grid_at(&s.g, row, c)->c == sign;
	return count;
}

/* Goes back this many seconds, as the header does with kept frames. */
static void look_back(unsigned seconds)
{
	s.t.time.end_ns = s.f.snap.mono_ns - seconds * SECOND_NS;
	screen_draw(&s);
}

static size_t traces(void)
{
	size_t rows = 0;

	for (int i = 0; i < s.t.lanes.hit_count; i++)
		if (s.t.lanes.hits[i].kind == HIT_TRACE)
			rows += (size_t)s.t.lanes.hits[i].rows;
	return rows;
}

static void all_traces_mark_the_moment(void **state)
{
	static void (*const machines[])(int rows, int columns) = {eight, one,
								  two};
	static const int sizes[][2] = {{60, 200}, {24, 80}, {40, 120}};

	(void)state;
	for (size_t i = 0; i < 9; i++) {
		const int *size = sizes[i % 3];
		size_t axes = 0;

		machines[i / 3](size[0], size[1]);
		remember();
		screen_draw(&s);
		assert_int_equal(count_of(L'┊'), 0);
		look_back(30);
		assert_true(traces() > 0);
		for (int k = 0; k < s.t.lanes.hit_count; k++) {
			const struct lanes_hit *hit = &s.t.lanes.hits[k];

			for (int r = 0; hit->kind == HIT_TRACE && r < hit->rows;
			     r++) {
				bool marked = false;

				for (int c = 0; c < hit->columns; c++)
					marked |= grid_at(&s.g, hit->row + r,
							  hit->column + c)
						      ->c == L'┊';
				assert_true(marked);
			}
		}
		axes = count_of(L'┊') - traces();
		assert_true(axes <= 3); /* of time, below the traces */
		screen_end(&s);
	}
}

/* For seconds at two dots a cell, before the newest one. */
static void the_mark_is_where_the_moment_is(void **state)
{
	const struct lanes_hit *trace;
	int row;

	(void)state;
	two(24, 80);
	remember();
	look_back(10);
	row = screen_find(&s, "% busy", NULL);
	trace = &s.t.lanes.hits[0];
	for (int i = 0; trace->kind != HIT_TRACE || trace->row != row; i++)
		trace = &s.t.lanes.hits[i];
	assert_int_equal(only_column(row, L'┊'),
			 trace->column + trace->columns - 1 - 5);
	/* Later values take at most a quarter of the trace. */
	look_back(120);
	assert_int_equal(only_column(row, L'┊'),
			 trace->column +
			     (trace->columns * 2 - 1 - trace->columns * 2 / 4) /
				 2);
	s.t.options.term.ascii = true;
	screen_draw(&s);
	grid_to_ascii(&s.g);
	assert_int_equal(only_column(row, L'|'),
			 trace->column +
			     (trace->columns * 2 - 1 - trace->columns * 2 / 4) /
				 2);
	screen_end(&s);
}

/* ---- the mouse ---- */

static const struct lanes_hit *trace_of(int device, int series)
{
	for (int i = 0; i < s.t.lanes.hit_count; i++) {
		const struct lanes_hit *hit = &s.t.lanes.hits[i];

		if (hit->kind == HIT_TRACE && hit->id == device &&
		    hit->series == series)
			return hit;
	}
	fail_msg("no trace");
	return NULL;
}

/* The history's value in the newer second of a column, and its time. */
static void expect(char *dst, size_t cap, const struct lanes_hit *trace,
		   int column, const char *unit)
{
	unsigned ago = (unsigned)((trace->columns - 1 - column) * trace->dots);
	struct gk_history_span span = {.end_ns = s.f.snap.mono_ns -
						 ago * SECOND_NS + SECOND_NS,
				       .step_ns = SECOND_NS,
				       .count = 1};
	time_t then = (time_t)(s.f.snap.wall_ns / SECOND_NS - ago);
	char clock[16];
	struct tm tm;
	float value;

	span.end_ns -= span.end_ns % SECOND_NS;
	gk_history_of_device(s.t.history, s.f.devices[trace->id].uuid,
			     (enum gk_history_device)trace->series, span,
			     &value);
	localtime_r(&then, &tm);
	strftime(clock, sizeof clock, "%H:%M:%S", &tm);
	snprintf(dst, cap, " %s · %.0f %s ", clock, (double)value, unit);
}

static void held(int device, enum gk_history_device series, int column,
		 const char *unit)
{
	struct lanes_hit trace = *trace_of(device, (int)series);
	char wanted[64];

	column = column < 0 ? trace.columns + column : column;
	mouse(MOUSE_PRESS, trace.row, trace.column + column);
	expect(wanted, sizeof wanted, &trace, column, unit);
	assert_int_equal(screen_find(&s, wanted, NULL), trace.row - 1);
	assert_int_equal(grid_at(&s.g, trace.row, trace.column + column)->c,
			 L'┊');
	mouse(MOUSE_DRAG, trace.row, trace.column + column - 3);
	expect(wanted, sizeof wanted, &trace, column - 3, unit);
	assert_int_equal(screen_find(&s, wanted, NULL), trace.row - 1);
	/* All the other traces show the same moment. */
	assert_true(count_of(L'┊') > traces() / 2);
	mouse(MOUSE_RELEASE, trace.row, trace.column);
	assert_int_equal(count_of(L'┊'), 0);
	assert_int_equal(screen_find(&s, wanted, NULL), -1);
	assert_int_equal(s.t.screen, SCREEN_MAIN);
}

static void a_trace_that_is_held_tells_its_value(void **state)
{
	(void)state;
	one(40, 120);
	remember();
	screen_draw(&s);
	held(0, GK_HD_GPU_UTIL, -1, "%");
	held(0, GK_HD_GPU_UTIL, 20, "%");
	held(0, GK_HD_POWER, 20, "W");
	held(0, GK_HD_TEMP, -1, "°C");
	screen_end(&s);
	eight(24, 80);
	remember();
	screen_draw(&s);
	held(0, GK_HD_GPU_UTIL, -1, "%");
	held(7, GK_HD_GPU_UTIL, 5, "%");
	screen_end(&s);
}

/* Beside the trace, and before anything is known. */
static void a_hold_that_slips_off(void **state)
{
	struct lanes_hit trace;

	(void)state;
	two(24, 80);
	s.f.snap.mono_ns += 1000 * SECOND_NS;
	screen_draw(&s);
	trace = *trace_of(1, GK_HD_GPU_UTIL);
	mouse(MOUSE_PRESS, trace.row, trace.column);
	assert_int_equal(screen_find(&s, "· — ", NULL), trace.row - 1);
	mouse(MOUSE_DRAG, 0, 79);

	assert_int_equal(only_column(trace.row, L'┊'),
			 trace.column + trace.columns - 1);
	mouse(MOUSE_DRAG, 23, 0);
	assert_int_equal(only_column(trace.row, L'┊'), trace.column);
	s.f.snap.device_count = 1; /* removed while it is held */
	screen_draw(&s);
	mouse(MOUSE_RELEASE, 23, 0);
	assert_int_equal(count_of(L'┊'), 0);
	s.f.snap.device_count = 2;
	screen_end(&s);
}

static void is_held(bool held)
{
	screen_draw(&s);
	assert_int_equal(count_of(L'┊') > 0, held);
}

/* Where something else is shown nothing is held, nor later. */
static void a_hold_ends_with_what_is_shown(void **state)
{
	struct lanes_hit trace;

	(void)state;
	one(40, 120);
	remember();
	screen_draw(&s);
	trace = *trace_of(0, GK_HD_GPU_UTIL);
	mouse(MOUSE_PRESS, trace.row, trace.column + 9);
	is_held(true);
	screen_resize(&s, 20, 70);
	is_held(false);
	screen_resize(&s, 40, 120);
	is_held(false);
	mouse(MOUSE_PRESS, trace.row, trace.column + 9);
	is_held(true);
	screen_press(&s, "t");
	screen_draw(&s);
	mouse(MOUSE_RELEASE, trace.row, trace.column + 9);
	screen_press(&s, "t");
	is_held(false);
	mouse(MOUSE_PRESS, trace.row, trace.column + 9);
	strcpy(s.f.devices[0].uuid, "GPU-of-another-host");
	is_held(false);
	screen_end(&s);
}

static void click(int row, int column)
{
	mouse(MOUSE_PRESS, row, column);
	mouse(MOUSE_RELEASE, row, column);
}

static void a_click_does_what_it_is_on(void **state)
{
	int row, column;

	(void)state;
	eight(24, 80);
	screen_draw(&s);
	row = screen_find(&s, "GPU MEM", &column);
	click(row, column + 1);
	assert_int_equal(s.t.order.first.column, GK_COLUMN_GPU_MEM);
	row = screen_find(&s, "t tree", &column);
	click(row, column);
	assert_int_equal(s.t.screen, SCREEN_TREE);
	screen_press(&s, "q");
	screen_draw(&s);
	click(3 + 4, 20); /* a sparkline */
	assert_int_equal(s.t.screen, SCREEN_DEVICE);
	assert_string_equal(s.t.device.gpu.uuid, s.f.devices[4].uuid);
	screen_press(&s, "q");
	screen_draw(&s);
	click(3 + 2, 50);
	assert_int_equal(s.t.screen, SCREEN_DEVICE);
	assert_string_equal(s.t.device.gpu.uuid, s.f.devices[2].uuid);
	screen_end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(all_traces_mark_the_moment),
	    cmocka_unit_test(the_mark_is_where_the_moment_is),
	    cmocka_unit_test(a_trace_that_is_held_tells_its_value),
	    cmocka_unit_test(a_hold_that_slips_off),
	    cmocka_unit_test(a_hold_ends_with_what_is_shown),
	    cmocka_unit_test(a_click_does_what_it_is_on),
	};

	return cmocka_run_group_tests(tests, fixture_setup, NULL);
}
