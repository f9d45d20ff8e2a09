/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lanes_device_test.c - checks the screen of one GPU in lanes: its sections,
 * their order and words.
 */
#include "lanes_machines.h"

#include "tui/screen/mouse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

static void show(size_t device)
{
	strcpy(s.t.device.gpu.uuid, s.f.devices[device].uuid);
	tui_open(&s.t, SCREEN_DEVICE);
	screen_draw(&s);
}

static void mixed_lost(int rows, int columns)
{
	mixed(rows, columns);
	remember();
	show(2); /* its last values are shown */
	s.f.snap.mono_ns += 43 * SECOND_NS;
	s.f.snap.wall_ns += 43 * SECOND_NS;
	lose_since(2, 43);
	tui_frame(&s.t);
	screen_draw(&s);
}

static void it_looks_so(void **state)
{
	(void)state;
	one(40, 120);
	remember();
	show(0);
	assert_grid(&s, "lanes/device-one-120x40");
	screen_resize(&s, 24, 80);
	assert_screen(&s, "lanes/device-one-80x24");
	screen_press(&s, "End");
	assert_screen(&s, "lanes/device-one-80x24-end");
	screen_resize(&s, 10, 40);
	screen_press(&s, "Home");
	assert_screen(&s, "lanes/device-one-40x10");
	screen_end(&s);
	mixed_lost(40, 120);
	assert_grid(&s, "lanes/device-lost-120x40");
	screen_end(&s);
	mixed(60, 120);
	show(3);
	assert_grid(&s, "lanes/device-mig-120x60");
	screen_end(&s);
}

/* ---- sections ---- */

static void everything_is_known(size_t device)
{
	for (int m = 0; m < GK_M_COUNT; m++)
		if (s.f.devices[device].m[m].why != GK_PRESENT)
			s.f.devices[device].m[m] = present(1);
}

static void sections_have_their_order(void **state)
{
	static const char *const sections[] = {
	    "Now",         "Power",  "Clocks and throttling",
	    "Temperature", "Errors", "Memory",
	    "Links",       "Media",  "Settings",
	    "Identity"};
	int before = 0;

	(void)state;
	one(250, 60); /* one column */
	everything_is_known(0);
	show(0);
	for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
		int row = before;
		struct gk_buf text = {0};

		do {
			text.len = 0;
			screen_row(&s, ++row, &text);
		} while (row < s.g.rows - 1 &&
			 (text.len < 2 || strcmp(text.data + 1, sections[i])));
		if (row == s.g.rows - 1)
			fail_msg("no %s behind row %d", sections[i], before);
		gk_buf_free(&text);
		before = row;
	}
	screen_end(&s);
}

static void it_has_the_words_of_the_look(void **state)
{
	static const char *const words[] = {
	    "State",
	    "Memory by owner    mia 18.0 · leo 1.0 GiB",
	    "Processes",
	    "Power, instant",
	    "Energy",
	    "Throttle reasons",
	    "Throttled by power",
	    "Throttled by heat",
	    "Thermal margin",
	    "Max operating",
	    "Slowdown temperature",
	    "Shutdown temperature",
	    "Last Xid",
	    "lifetime",
	    "Remapped rows",
	    "Banks without spare rows",
	    "Retired pages",
	    "Recovery action",
	    "BAR1",
	    "PCIe RX",
	    "PCIe TX",
	    "CPUs near",
	    "FBC sessions",
	    "Module ID",
	    "UUID"};

	(void)state;
	one(250, 60);
	remember();
	everything_is_known(0);
	show(0);
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (screen_find(&s, words[i], NULL) < 0)
			fail_msg("no %s", words[i]);
	screen_end(&s);
}

static void what_it_lacks_is_told_in_the_last_line(void **state)
{
	int row;

	(void)state;
	one(120, 120);
	s.f.devices[0].m[GK_M_FAN].why = GK_ABSENT_NOT_SUPPORTED;
	s.f.devices[0].m[GK_M_JPG_UTIL].why = GK_ABSENT_NOT_SUPPORTED;
	show(0);
	row = screen_find(&s, "Not supported", NULL);
	assert_true(row > screen_find(&s, "Module ID", NULL));
	assert_true(screen_find(&s, "Fan", NULL) == row);
	for (; ++row < s.g.rows - 1;) {
		struct gk_buf text = {0};

		screen_row(&s, row, &text);
		assert_true(!text.len || strspn(text.data, " ") == 20);
		gk_buf_free(&text);
	}
	screen_end(&s);
}

static void long_texts_go_on_below(void **state)
{
	int column, next;

	(void)state;
	one(250, 60);
	set(0, GK_M_THROTTLE, 0x1ef);
	show(0);
	assert_true(screen_find(&s, "idle, set clocks,", &column) > 0);
	assert_int_equal(screen_find(&s, "display clocks", &next) >= 0, true);
	assert_true(next >= column);
	assert_true(screen_find(&s, "overheated", NULL) >
		    screen_find(&s, "idle, set clocks,", NULL));
	screen_end(&s);
}

/* Six owners with names that are long or have wide characters. */
static void all_owners_are_told(void **state)
{
	static const char *const names[] = {"python3",
					    "\xe4\xb8\xad\xe6\x96\x87"};

	(void)state;
	for (int n = 0; n < 2; n++) {
		one(60, 120);
		s.f.snap.process_count = 0;
		for (int i = 0; i < 6; i++) {
			struct gk_process *p =
			    fixture_add_process(&s.f, 0, 100 + i, names[n]);

			p->m[GK_PM_GPU_MEM] = present((int64_t)12 << 30);
			p->name = names[n];
			p->user = "mia";
		}
		s.t.lanes.owners = (struct gk_owners){0};
		show(0);
		assert_true(screen_find(&s, names[n], NULL) > 0);
		assert_true(screen_find(&s, " 12.0 ", NULL) > 0);
		for (int columns = 1; columns < 40; columns++) {
			screen_resize(&s, 20, columns);
			screen_draw(&s);
		}
		screen_end(&s);
	}
}

/* ---- its graphs ---- */

static void no_size_runs_into_the_edge(void **state)
{
	(void)state;
	mixed_lost(24, 80);
	for (int columns = 40; columns <= 240; columns++)
		for (int gpu = 0; gpu < 4; gpu++) {
			screen_resize(&s, columns % 3 * 20 + 10, columns);
			strcpy(s.t.device.gpu.uuid, s.f.devices[gpu].uuid);
			screen_draw(&s);
			for (int row = 2; row < s.g.rows; row++)
				if (!wcschr(L" ─┃│",
					    grid_at(&s.g, row, columns - 1)->c))
					fail_msg("%d columns, row %d", columns,
						 row);
		}
	screen_end(&s);
}

static void graphs_come_in_turn(void **state)
{
	(void)state;
	one(40, 120);
	everything_is_known(0);
	show(0);
	assert_true(screen_find(&s, "POWER W", NULL) > 0);
	screen_press(&s, "g");
	screen_draw(&s);
	assert_true(screen_find(&s, "BANDWIDTH %", NULL) > 0);
	for (int i = 0; i < 4; i++)
		screen_press(&s, "g");
	screen_draw(&s);
	assert_true(screen_find(&s, "POWER W", NULL) > 0);
	screen_end(&s);
}

static void the_mouse_holds_a_trace_here_too(void **state)
{
	int row;

	(void)state;
	one(40, 120);
	remember();
	show(0);
	row = screen_find(&s, "% busy", NULL);
	tui_mouse(&s.t, (struct term_mouse){
			    .what = MOUSE_PRESS, .row = row, .column = 40});
	screen_draw(&s);
	assert_int_equal(screen_find(&s, " % ", NULL), row - 1);
	assert_int_equal(grid_at(&s.g, row, 40)->c, L'┊');
	tui_mouse(&s.t, (struct term_mouse){
			    .what = MOUSE_RELEASE, .row = row, .column = 40});
	screen_draw(&s);
	assert_int_equal(s.t.screen, SCREEN_DEVICE);
	assert_int_equal(screen_find(&s, "┊", NULL), -1);
	s.t.time.end_ns = s.f.snap.mono_ns - 30 * SECOND_NS;
	screen_draw(&s);
	assert_true(screen_find(&s, "┊", NULL) > 0);
	assert_true(screen_find(&s, "0:30 ago", NULL) == s.g.rows - 1);
	screen_end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(it_looks_so),
	    cmocka_unit_test(sections_have_their_order),
	    cmocka_unit_test(it_has_the_words_of_the_look),
	    cmocka_unit_test(what_it_lacks_is_told_in_the_last_line),
	    cmocka_unit_test(long_texts_go_on_below),
	    cmocka_unit_test(all_owners_are_told),
	    cmocka_unit_test(no_size_runs_into_the_edge),
	    cmocka_unit_test(graphs_come_in_turn),
	    cmocka_unit_test(the_mouse_holds_a_trace_here_too),
	};

	return cmocka_run_group_tests(tests, fixture_setup, NULL);
}
