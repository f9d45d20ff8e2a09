/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main_test.c - checks the main screen: golden screens, layouts of every size,
 * pages, marks.
 */
#include "format/width.h"
#include "tui/views/main_screen.h"
#include "tui/screen.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

static struct screen s;

static const struct {
	int rows, columns;
} sizes[] = {{10, 40}, {24, 80}, {40, 120}, {60, 200}};

#define SIZES (sizeof sizes / sizeof *sizes)

/* Adds five minutes of the fixture's values, so that graphs have a shape. */
static void remember(void)
{
	uint64_t now = s.f.snap.mono_ns + 300000000000;

	for (int i = 0; i <= 300; i++) {
		s.f.snap.mono_ns = now - (uint64_t)(300 - i) * 1000000000;
		for (size_t d = 0; d < s.f.snap.device_count; d++)
			s.f.devices[d].read_ns[GK_TIER_FAST] +=
			    s.f.devices[d].health == GK_HEALTH_OK ? 1000000000
								  : 0;
		s.f.snap.host.cpu_centipercent = present(i * 33 % 10000);
		s.f.devices[0].m[GK_M_GPU_UTIL] = present(i % 101);
		gk_history_add(s.t.history, &s.f.snap);
	}
}

static void begin(int rows, int columns)
{
	screen_begin(&s, rows, columns);
	remember();
}

static void many(int gpus, int processes, int rows, int columns)
{
	screen_begin(&s, rows, columns);
	fixture_init(&s.f, (size_t)gpus);
	for (int i = 0; i < processes; i++)
		fixture_add_process(&s.f, (unsigned)(i * gpus / processes),
				    1000 + i, "python3 train.py");
	tui_list_update(&s.t);
}

static void golden(const char *what)
{
	char name[64];

	snprintf(name, sizeof name, "main-%s-%dx%d", what, s.t.columns,
		 s.t.rows);
	assert_screen(&s, name);
	screen_end(&s);
}

/* ---- golden screens ---- */

static void as_it_starts(void **state)
{
	(void)state;
	for (size_t i = 0; i < SIZES; i++) {
		begin(sizes[i].rows, sizes[i].columns);
		golden("auto");
	}
}

static void full_and_compact(void **state)
{
	(void)state;
	for (size_t i = 0; i < SIZES; i++) {
		begin(sizes[i].rows, sizes[i].columns);
		screen_press(&s, "f");
		golden("full");
		begin(sizes[i].rows, sizes[i].columns);
		screen_press(&s, "c");
		golden("compact");
	}
}

static void many_gpus_and_processes(void **state)
{
	static const int counts[][2] = {{16, 60}, {8, 32}, {1, 0}, {0, 0}};
	char name[32];

	(void)state;
	for (size_t i = 0; i < SIZES; i++)
		for (size_t k = 0; k < 4; k++) {
			many(counts[k][0], counts[k][1] ? counts[k][1] : 1,
			     sizes[i].rows, sizes[i].columns);
			if (!counts[k][1]) {
				s.f.snap.process_count = 0;
				tui_list_update(&s.t);
			}
			snprintf(name, sizeof name, "%d-gpus", counts[k][0]);
			golden(name);
		}
}

static void a_selected_process(void **state)
{
	(void)state;
	begin(60, 200);
	screen_press(&s, "Down Down Down");
	golden("selected");
	begin(24, 80);
	screen_press(&s, "End");
	golden("selected");
}

static void ascii(void **state)
{
	(void)state;
	begin(40, 120);
	s.t.options.term.ascii = true;
	screen_draw(&s);
	grid_to_ascii(&s.g);
	assert_grid(&s, "main-ascii-120x40");
	screen_end(&s);
}

/* ---- every size ---- */

static bool is_end(wchar_t c)
{
	return c && wcschr(L"│╕╛┤╡╪┼", c);
}

/* A row that begins with a border ends with one at the table's edge. */
static void assert_row_closed(int row)
{
	wchar_t first = grid_at(&s.g, row, 0)->c;
	int last = s.g.columns - 1;
	struct gk_buf text = {0};

	if (!wcschr(L"│╒╘├╞", first) || !first)
		return;
	while (last > 0 && grid_at(&s.g, row, last)->c == L' ')
		last--;
	screen_row(&s, row, &text);
	if (!is_end(grid_at(&s.g, row, last)->c) ||
	    (last != s.g.columns - 1 && last != 78))
		fail_msg("%dx%d, row %d: %s", s.g.columns, s.g.rows, row,
			 text.data);
	gk_buf_free(&text);
}

static void no_border_is_torn(void **state)
{
	static const char *const keys[] = {"a", "f", "c"};
	static const char *const moves[] = {"r", "Down", "End", "]"};

	(void)state;
	for (int columns = 40; columns < 210; columns += columns < 130 ? 1 : 9)
		for (int rows = 10; rows < 70; rows += 7) {
			begin(rows, columns);
			for (size_t k = 0; k < 3; k++)
				for (size_t m = 0; m < 4; m++) {
					screen_press(&s, keys[k]);
					screen_press(&s, moves[m]);
					screen_draw(&s);
					for (int r = 1; r < rows; r++)
						assert_row_closed(r);
				}
			screen_end(&s);
		}
}

/* Wide, combining and foreign characters, scrolled by any number of columns. */
static void any_command_keeps_the_borders(void **state)
{
	static const char *const commands[] = {
	    "漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢"
	    "字",
	    "e\xcc\x81"
	    "e\xcc\x81 \xff\xfe \x1b[31m red \x1b[2J and so on and on",
	    "",
	};

	(void)state;
	for (int columns = 40; columns < 130; columns += 3) {
		screen_begin(&s, 50, columns);
		for (int i = 0; i < 3; i++) {
			s.f.processes[i].command = commands[i];
			s.f.processes[i].user = commands[i];
			s.f.processes[i].state = GK_PROCESS_RUNNING;
		}
		strcpy(s.f.snap.host.hostname,
		       "a-host.with.a.name.that.is.longer.than.a.terminal");
		tui_list_update(&s.t);
		for (int k = 0; k < 60; k++) {
			screen_draw(&s);
			for (int r = 1; r < s.g.rows; r++)
				assert_row_closed(r);
			s.t.scroll_left++;
		}
		screen_end(&s);
	}
}

static void narrow_and_hidden(void **state)
{
	(void)state;
	begin(44, 60);
	screen_press(&s, "f");
	golden("full");
	begin(34, 110);
	s.t.options.devices_hidden = true;
	golden("no-devices");
	begin(34, 110);
	s.t.options.host_hidden = s.t.options.processes_hidden = true;
	golden("devices-only");
}

/* Heights are as planned: the last line is the lower border. */
static void heights_are_true(void **state)
{
	(void)state;
	for (int rows = 16; rows < 90; rows++) {
		int last;

		begin(rows, 120);
		screen_draw(&s);
		s.t.scroll = s.t.line_count;
		screen_draw(&s);
		last = (s.t.line_count < rows ? s.t.line_count : rows) - 1;
		assert_int_equal(grid_at(&s.g, last, 0)->c, L'╘');
		screen_end(&s);
	}
}

/* ---- auto: GPUs shrink first, then the host, then the rules ---- */

static struct main_plan plan_for(int rows)
{
	screen_resize(&s, rows, 120);
	return view_main_plan(&s.t, false);
}

static void panels_shrink_in_turn(void **state)
{
	/* 8 GPUs, 32 processes: full 31 + 12 + 45, GPUs compact 22,
	 * host compact 2, no rules 38. */
	(void)state;
	many(8, 32, 88, 120);
	assert_int_equal(plan_for(88).devices, DEVICES_FULL);
	assert_int_equal(plan_for(87).devices, DEVICES_COMPACT);
	assert_false(plan_for(79).host_compact);
	assert_true(plan_for(78).host_compact);
	assert_false(plan_for(69).processes_compact);
	assert_true(plan_for(68).processes_compact);
	screen_end(&s);
}

/* ---- pages of GPUs ---- */

static void gpus_that_do_not_fit_are_paged(void **state)
{
	(void)state;
	many(16, 60, 24, 80);
	screen_draw(&s);
	assert_int_not_equal(screen_find(&s, " GPU 0-7 of 16 ({ })", NULL), -1);
	screen_press(&s, "}");
	screen_draw(&s);
	assert_int_not_equal(screen_find(&s, " GPU 8-15 of 16 ({ })", NULL),
			     -1);
	screen_press(&s, "}");
	screen_draw(&s);
	assert_int_not_equal(screen_find(&s, " GPU 8-15 of 16 ({ })", NULL),
			     -1);
	screen_press(&s, "{");
	screen_draw(&s);
	assert_int_not_equal(screen_find(&s, " GPU 0-7 of 16 ({ })", NULL), -1);
	screen_press(&s, "End");
	screen_draw(&s);
	screen_press(&s, "[ [ [ [ [");
	screen_draw(&s);
	assert_int_not_equal(screen_find(&s, " GPU 8-15 of 16 ({ })", NULL),
			     -1);
	screen_end(&s);
}

/* MEM and UTL of all GPUs, on every screen and wherever it is scrolled. */
static void averages_never_vanish(void **state)
{
	(void)state;
	for (int columns = 40; columns < 220; columns += 3)
		for (int rows = 10; rows < 60; rows += 10) {
			many(16, 60, rows, columns);
			screen_draw(&s);
			assert_int_equal(screen_find(&s, "56.8%", NULL), 0);
			screen_press(&s, "End");
			screen_draw(&s);
			assert_int_equal(screen_find(&s, "UTL 58.1%", NULL), 0);
			screen_end(&s);
		}
}

/* ---- selection ---- */

static bool is_selected(int row)
{
	return grid_at(&s.g, row, 1)->style.attribute & GRID_REVERSE;
}

static int selected_row(void)
{
	int row = 0;

	while (row < s.g.rows && !is_selected(row))
		row++;
	return row;
}

static void the_selected_row_is_always_seen(void **state)
{
	(void)state;
	for (size_t i = 0; i < SIZES; i++) {
		many(16, 60, sizes[i].rows, sizes[i].columns);
		for (int k = 0; k < 130; k++) {
			screen_press(&s, k < 62 ? "Down" : "Up");
			screen_draw(&s);
			if (tui_selected(&s.t) < 0)
				continue;
			assert_true(selected_row() < s.g.rows);
			assert_int_equal(view_main_at(&s.t, selected_row()),
					 tui_selected(&s.t));
		}
		screen_end(&s);
	}
}

static void rows_are_found_again(void **state)
{
	int row;

	(void)state;
	begin(60, 120);
	screen_draw(&s);
	row = screen_find(&s, "mig-job", NULL);
	assert_int_equal(view_main_at(&s.t, row), 4);
	assert_int_equal(view_main_at(&s.t, row - 1), -1); /* a rule */
	assert_int_equal(view_main_at(&s.t, row + 1), -1);
	assert_int_equal(view_main_at(&s.t, 0), -1);
	screen_end(&s);
}

static void marks_of_rows(void **state)
{
	int row, other;

	(void)state;
	screen_begin(&s, 60, 120);
	fixture_add_process(&s.f, 1, 15699, "/usr/bin/python3 train.py");
	s.f.processes[4].uid = 2000;
	tui_list_update(&s.t);
	screen_press(&s, "Home Space Up");
	screen_draw(&s);
	row = selected_row();
	assert_int_equal(grid_at(&s.g, row, 5)->style.color, 3); /* tagged */
	screen_press(&s, "Space");
	screen_draw(&s);
	row = selected_row();
	assert_int_equal(grid_at(&s.g, row, 5)->style.color, 6);
	screen_press(&s, "Esc Home");
	screen_draw(&s);
	other = screen_find(&s, "=", NULL);
	assert_true(other > selected_row());
	assert_true(grid_at(&s.g, other, 1)->style.attribute & GRID_BLINK);
	row = screen_find(&s, "mig-job", NULL);
	assert_true(grid_at(&s.g, row, 20)->style.attribute & GRID_DIM);
	screen_end(&s);
}

static void the_gpu_of_the_selected_is_bold(void **state)
{
	int row;

	(void)state;
	begin(60, 120);
	screen_press(&s, "Home");
	screen_draw(&s);
	row = screen_find(&s, "00000000:01:00.0", NULL);
	assert_true(grid_at(&s.g, row, 5)->style.attribute & GRID_BOLD);
	assert_false(grid_at(&s.g, row, 0)->style.attribute & GRID_BOLD);
	row = screen_find(&s, "00000000:02:00.0", NULL);
	assert_true(grid_at(&s.g, row, 5)->style.attribute & GRID_DIM);
	screen_end(&s);
}

/* ---- order ---- */

static pid_t pid_at(size_t i)
{
	return s.f.processes[s.t.list[i]].pid;
}

/* By SM, then by user: within a user the order by SM stays. */
static void ties_keep_the_order_before(void **state)
{
	static const int64_t sm[] = {10, 30, 20, 40};

	(void)state;
	many(2, 4, 60, 120);
	for (int i = 0; i < 4; i++) {
		s.f.processes[i].m[GK_PM_SM_UTIL] = present(sm[i]);
		s.f.processes[i].user = i % 2 ? "bob" : "ann";
	}
	screen_press(&s, "o s o u");
	assert_int_equal(pid_at(0), 1002);
	assert_int_equal(pid_at(1), 1000);
	assert_int_equal(pid_at(2), 1003);
	assert_int_equal(pid_at(3), 1001);
	screen_press(&s, "o n");
	assert_int_equal(pid_at(0), 1000);
	s.f.processes[3].state = GK_PROCESS_GONE;
	screen_press(&s, "o s"); /* the one with the most SM has ended */
	assert_int_equal(pid_at(3), 1003);
	screen_press(&s, "/");
	assert_int_equal(pid_at(3), 1003);
	screen_end(&s);
}

static void a_click_on_titles_that_stay_is_no_row(void **state)
{
	(void)state;
	many(16, 60, 24, 80);
	screen_press(&s, "End");
	screen_draw(&s);
	assert_true(s.t.scroll > 30);
	assert_int_equal(view_main_at(&s.t, 0), -1);
	assert_int_equal(view_main_at(&s.t, 1), -1);
	assert_int_not_equal(view_main_at(&s.t, 2), -1);
	screen_end(&s);
}

/* ---- columns ---- */

static void the_order_is_marked(void **state)
{
	int row, column;

	(void)state;
	begin(60, 120);
	screen_press(&s, "o s");
	screen_draw(&s);
	/* No title touches the arrow. */
	row = screen_find(&s, "GPU-MEM SM▼ %GMBW", &column);
	assert_int_not_equal(row, -1);
	column += (int)strlen("GPU-MEM ");
	assert_true(grid_at(&s.g, row, column)->style.attribute &
		    GRID_UNDERLINE);
	screen_press(&s, "o U");
	screen_draw(&s);
	assert_int_not_equal(screen_find(&s, "USER▼", NULL), -1);
	screen_press(&s, "/");
	screen_draw(&s);
	assert_int_not_equal(screen_find(&s, "USER▲", NULL), -1);
	screen_end(&s);
}

static void the_host_part_scrolls(void **state)
{
	(void)state;
	begin(60, 80);
	screen_press(&s, "Right Right Right");
	screen_draw(&s);
	assert_int_equal(screen_find(&s, "%CPU", NULL), -1);
	assert_int_not_equal(screen_find(&s, "%GMBW", NULL), -1);
	screen_press(&s, "$");
	screen_draw(&s);
	assert_int_not_equal(screen_find(&s, "--name \"x\" │", NULL), -1);
	screen_press(&s, "Left");
	screen_draw(&s);
	assert_int_equal(screen_find(&s, "--name \"x\" │", NULL), -1);
	screen_press(&s, "^");
	screen_draw(&s);
	assert_int_not_equal(screen_find(&s, "%CPU", NULL), -1);
	screen_end(&s);
}

static void columns_are_chosen(void **state)
{
	const char *bad;

	(void)state;
	begin(60, 120);
	assert_true(gk_columns_parse("command, pid, encoder, gpu, rss",
				     &s.t.options.columns, &bad));
	golden("columns");
}

static void names_of_columns(void **state)
{
	struct gk_columns columns = {0};
	const char *bad = NULL;

	(void)state;
	assert_true(gk_columns_parse("pid,gpu command cpu", &columns, &bad));
	assert_int_equal(columns.count, 4);
	assert_int_equal(columns.id[0], GK_COLUMN_PID);
	assert_int_equal(columns.id[2], GK_COLUMN_CPU);
	assert_int_equal(columns.id[3], GK_COLUMN_COMMAND);
	assert_false(gk_columns_parse("pid, what", &columns, &bad));
	assert_string_equal(bad, "what");
	assert_false(gk_columns_parse("pid,pid", &columns, &bad));
	assert_false(gk_columns_parse(" ", &columns, &bad));
	assert_int_equal(columns.count, 4);
}

/* ---- what is wrong ---- */

static void a_lost_gpu_says_since_when(void **state)
{
	(void)state;
	for (size_t i = 0; i < SIZES; i++) {
		begin(sizes[i].rows, sizes[i].columns);
		s.t.options.mode = MODE_COMPACT;
		screen_draw(&s);
		while (screen_find(&s, "lost 300s", NULL) < 0) {
			int page = s.t.main.page;

			screen_press(&s, "}");
			screen_draw(&s);
			if (s.t.main.page == page)
				fail_msg("%d columns", sizes[i].columns);
		}
		screen_end(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(as_it_starts),
	    cmocka_unit_test(full_and_compact),
	    cmocka_unit_test(many_gpus_and_processes),
	    cmocka_unit_test(a_selected_process),
	    cmocka_unit_test(ascii),
	    cmocka_unit_test(no_border_is_torn),
	    cmocka_unit_test(any_command_keeps_the_borders),
	    cmocka_unit_test(narrow_and_hidden),
	    cmocka_unit_test(heights_are_true),
	    cmocka_unit_test(panels_shrink_in_turn),
	    cmocka_unit_test(gpus_that_do_not_fit_are_paged),
	    cmocka_unit_test(averages_never_vanish),
	    cmocka_unit_test(the_selected_row_is_always_seen),
	    cmocka_unit_test(rows_are_found_again),
	    cmocka_unit_test(marks_of_rows),
	    cmocka_unit_test(the_gpu_of_the_selected_is_bold),
	    cmocka_unit_test(ties_keep_the_order_before),
	    cmocka_unit_test(a_click_on_titles_that_stay_is_no_row),
	    cmocka_unit_test(the_order_is_marked),
	    cmocka_unit_test(the_host_part_scrolls),
	    cmocka_unit_test(columns_are_chosen),
	    cmocka_unit_test(names_of_columns),
	    cmocka_unit_test(a_lost_gpu_says_since_when),
	};

	return cmocka_run_group_tests(tests, fixture_setup, NULL);
}
