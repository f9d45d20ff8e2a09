/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mouse_test.c - checks the mouse on screens: clicks on lines and titles, the
 * wheel.
 */
#include "tui/screen.h"

#include "tui/screen/mouse.h"
#include "tui/screen/mouse_code.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

static struct screen s;

static int begin(void **state)
{
	(void)state;
	screen_begin(&s, 70, 100);
	fixture_init(&s.f, 2);
	for (pid_t pid = 11; pid < 31; pid++)
		fixture_add_process(&s.f, 0, pid, "python3 train.py");
	tui_list_update(&s.t);
	return 0;
}

static int end(void **state)
{
	(void)state;
	tui_environ_free(&s.t.environ);
	screen_end(&s);
	return 0;
}

static void mouse(enum term_mouse_what what, int row, int column)
{
	tui_mouse(&s.t, (struct term_mouse){
			    .what = what, .row = row, .column = column});
}

static void wheel(enum term_mouse_what what, bool ctrl, bool shift)
{
	tui_mouse(&s.t, (struct term_mouse){
			    .what = what, .ctrl = ctrl, .shift = shift});
}

/* ---- what terminals write ---- */

static void check_code(const char *text, enum term_mouse_what what, bool ctrl,
		       bool shift)
{
	struct term_mouse m = {.row = -1};

	assert_true(tui_mouse_code(text, &m));
	assert_int_equal(m.what, what);
	assert_int_equal(m.ctrl, ctrl);
	assert_int_equal(m.shift, shift);
	assert_int_equal(m.column, 9);
	assert_int_equal(m.row, 4);
}

static void codes_are_read(void **state)
{
	static const char *const bad[] = {
	    "",       "M",      "0;1M",    "0;0;1M",    "0;1;0M",
	    "x;1;1M", "0;1;1x", "0;1;1MM", "9999;1;1M", "0;1;999999M"};
	struct term_mouse m = {.row = 7};

	(void)state;
	check_code("0;10;5M", MOUSE_PRESS, false, false);
	check_code("0;10;5m", MOUSE_RELEASE, false, false);
	check_code("1;10;5M", MOUSE_NOTHING, false, false);
	check_code("2;10;5M", MOUSE_PRESS, false, false);
	check_code("32;10;5M", MOUSE_DRAG, false, false);
	check_code("35;10;5M", MOUSE_NOTHING, false, false);
	check_code("64;10;5m", MOUSE_NOTHING, false, false);
	check_code("64;10;5M", MOUSE_WHEEL_UP, false, false);
	check_code("65;10;5M", MOUSE_WHEEL_DOWN, false, false);
	check_code("69;10;5M", MOUSE_WHEEL_DOWN, false, true);
	check_code("80;10;5M", MOUSE_WHEEL_UP, true, false);
	check_code("66;10;5M", MOUSE_NOTHING, false, false);
	check_code("128;10;5M", MOUSE_NOTHING, false, false);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		if (tui_mouse_code(bad[i], &m))
			fail_msg("%s", bad[i]);
	assert_int_equal(m.row, 7);
}

/* ---- what it does ---- */

static void the_wheel_moves_the_selection(void **state)
{
	(void)state;
	wheel(MOUSE_WHEEL_DOWN, false, false);
	assert_int_equal(s.t.selected.pid, 11);
	wheel(MOUSE_WHEEL_DOWN, true, false);
	assert_int_equal(s.t.selected.pid, 16);
	wheel(MOUSE_WHEEL_UP, false, false);
	assert_int_equal(s.t.selected.pid, 15);
	wheel(MOUSE_WHEEL_DOWN, false, true);
	assert_int_equal(s.t.selected.pid, 15);
	assert_int_equal(s.t.scroll_left, 2);
	wheel(MOUSE_WHEEL_UP, false, true);
	assert_int_equal(s.t.scroll_left, 0);
}

static void a_title_sorts(void **state)
{
	int row, column;

	(void)state;
	screen_draw(&s);
	row = screen_find(&s, "GPU-MEM", &column);
	mouse(MOUSE_PRESS, row, column + 6);
	assert_int_equal(s.t.order.first.column, GK_COLUMN_GPU_MEM);
	assert_false(s.t.order.first.reversed);
	screen_draw(&s);
	mouse(MOUSE_PRESS, row, column);
	assert_int_equal(s.t.order.first.column, GK_COLUMN_GPU_MEM);
	assert_true(s.t.order.first.reversed);
	screen_find(&s, "%SM", &column);
	mouse(MOUSE_PRESS, row, column);
	assert_int_equal(s.t.order.first.column, GK_COLUMN_SM);
	assert_false(s.t.order.first.reversed);
	screen_draw(&s);
	assert_true(screen_find(&s, "SM▼", NULL) == row);
	mouse(MOUSE_PRESS, row, column + 2); /* the arrow */
	assert_false(s.t.order.first.reversed);
	mouse(MOUSE_PRESS, row, column); /* its '%' is hidden now */
	assert_true(s.t.order.first.reversed);
	screen_find(&s, "COMMAND", &column);
	mouse(MOUSE_PRESS, row, column);
	assert_int_equal(s.t.order.first.column, GK_COLUMN_COMMAND);
	assert_int_equal(s.t.order.second.column, GK_COLUMN_SM);
	mouse(MOUSE_PRESS, 500, 500);
}

/* The same words elsewhere are not titles. */
static void other_words_do_not_sort(void **state)
{
	int row, column;

	(void)state;
	s.t.order.first.column = GK_COLUMN_PID;
	screen_draw(&s);
	row = screen_find(&s, "GPU", &column);
	assert_true(row < screen_find(&s, "%SM", NULL));
	mouse(MOUSE_PRESS, row, column);
	assert_int_equal(s.t.order.first.column, GK_COLUMN_PID);
}

static void a_click_selects_a_process(void **state)
{
	int row;

	(void)state;
	screen_draw(&s);
	row = screen_find(&s, " 13 C", NULL);
	assert_true(row > 0);
	mouse(MOUSE_PRESS, row, 70);
	assert_int_equal(s.t.selected.pid, 13);
	mouse(MOUSE_PRESS, row + 2, 70);
	assert_int_equal(s.t.selected.pid, 15);
	mouse(MOUSE_PRESS, 3, 10);
	assert_int_equal(s.t.selected.pid, 0);
}

static void a_click_selects_a_line(void **state)
{
	static struct tui_variable list[] = {
	    {"A", "1", false}, {"B", "2", false}, {"C", "3", false}};

	(void)state;
	s.t.environ.list = malloc(sizeof list);
	memcpy(s.t.environ.list, list, sizeof list);
	s.t.environ.count = 3;
	s.t.screen = SCREEN_ENVIRON;
	screen_draw(&s);
	mouse(MOUSE_PRESS, screen_find(&s, "C=3", NULL), 40);
	assert_int_equal(s.t.environ.selected, 2);
	mouse(MOUSE_PRESS, 40, 0);
	mouse(MOUSE_PRESS, 0, 0);
	assert_int_equal(s.t.environ.selected, 2);
}

static void a_dialog_takes_the_mouse(void **state)
{
	(void)state;
	screen_press(&s, "Home T");
	assert_non_null(s.t.dialog.kind);
	wheel(MOUSE_WHEEL_DOWN, false, false);
	assert_int_equal(s.t.selected.pid, 11);
	assert_int_equal(s.t.dialog.current, 1);
}

#define T(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(codes_are_read),
	    T(the_wheel_moves_the_selection),
	    T(a_title_sorts),
	    T(other_words_do_not_sort),
	    T(a_click_selects_a_line),
	    T(a_click_selects_a_process),
	    T(a_dialog_takes_the_mouse),
	};

	return cmocka_run_group_tests(tests, fixture_setup, NULL);
}
