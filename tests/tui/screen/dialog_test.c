/* SPDX-License-Identifier: Apache-2.0 */
/* dialog_test.c - checks the dialog: its look, its keys, the mouse. */
#include "tui/screen.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include <string.h>

#define NOT_YET (-1)

static struct screen s;
static int answer;

static void on_choice(struct tui *t, int button)
{
	(void)t;
	answer = button;
}

static const struct tui_button buttons[] = {
    {"SIGTERM", 3, 3}, {"SIGKILL", 3, 3}, {"SIGINT", 3, 3}, {"Cancel", 0, 0}};

static const struct tui_dialog_kind kind = {
    .buttons = buttons, .count = 4, .cancel = 3, .chosen = on_choice};

static int begin(void **state)
{
	(void)state;
	screen_begin(&s, 24, 80);
	answer = NOT_YET;
	return 0;
}

static int end(void **state)
{
	(void)state;
	screen_end(&s);
	return 0;
}

static void ask(const char *text, int button)
{
	struct gk_buf lines = {0};

	gk_buf_puts(&lines, text);
	answer = NOT_YET;
	tui_dialog_open(&s.t, &kind, &lines, button);
}

/* Draws it over a screen of dots. */
static void draw_over_dots(void)
{
	for (int row = 0; row < s.g.rows; row++)
		for (int column = 0; column < s.g.columns; column++)
			grid_at(&s.g, row, column)->c = L'.';
	tui_dialog_draw(&s.t, &s.g);
}

#define QUESTION "Send a signal to process 15699 (root)?\n"

static void it_lies_in_the_middle(void **state)
{
	(void)state;
	ask(QUESTION, 1);
	draw_over_dots();
	assert_grid(&s, "tui/dialog");
	assert_true(grid_at(&s.g, 0, 0)->style.attribute & GRID_DIM);
}

static void it_fits_a_small_terminal(void **state)
{
	(void)state;
	screen_resize(&s, 10, 40);
	ask("Send a signal to these processes?\none\ntwo\nthree\nfour\n"
	    "five\nsix\nseven\neight\nnine\nten\n",
	    0);
	draw_over_dots();
	assert_grid(&s, "tui/dialog_small");
}

/* The count of what does not fit stays within the box too. */
static void it_fits_the_smallest_terminals(void **state)
{
	(void)state;
	for (int rows = 1; rows < 9; rows++)
		for (int columns = 1; columns < 60; columns += 3) {
			screen_resize(&s, rows, columns);
			ask("Send a signal to a process with a long name?\n"
			    "one with a name that is longer than the box is\n"
			    "two\nthree\nfour\nfive\nsix\nseven\n",
			    0);
			draw_over_dots();
			assert_int_equal(s.t.dialog.current, 0);
		}
	screen_resize(&s, 4, 12);
	ask(QUESTION "2 a process\n", 0);
	draw_over_dots();
	assert_int_equal(grid_at(&s.g, 1, 11)->c, L'│');
}

static void check(const char *keys, int expected)
{
	ask(QUESTION, 0);
	screen_press(&s, keys);
	if (answer != expected)
		fail_msg("%s answers %d", keys, answer);
	assert_true(!s.t.dialog.kind == (expected != NOT_YET));
}

static void keys_answer(void **state)
{
	(void)state;
	check("Enter", 0);
	check("Space", 0);
	check("k", 1);
	check("I", 2);
	check("3", 2);
	check("c", 3);
	check("q", 3);
	check("n", 3);
	check("Esc", 3);
	check("Right Enter", 1);
	check("Left Enter", 3);
	check("Tab Tab Enter", 2);
	check("Shift-Tab ] Enter", 0);
	check("x F5 Down", NOT_YET);
}

static void signals_are_red(void **state)
{
	int row, column;

	(void)state;
	ask(QUESTION, 0);
	screen_draw(&s);
	row = screen_find(&s, "SIGKILL", &column);
	assert_int_not_equal(grid_at(&s.g, row, column)->style.color, 1);
	for (int i = 3; i < 7; i++)
		assert_int_equal(grid_at(&s.g, row, column + i)->style.color,
				 1);
	row = screen_find(&s, "Cancel", &column);
	assert_int_not_equal(grid_at(&s.g, row, column)->style.color, 1);
}

/* The key that opened it may repeat. */
static void the_current_letter_does_not_answer(void **state)
{
	(void)state;
	check("T t 1", NOT_YET);
}

static void press_mouse(enum term_mouse_what what, int row, int column)
{
	tui_dialog_mouse(&s.t, (struct term_mouse){
				   .what = what, .row = row, .column = column});
}

static void the_mouse_answers(void **state)
{
	int row, column;

	(void)state;
	ask(QUESTION, 0);
	screen_draw(&s);
	row = screen_find(&s, "SIGINT", &column);
	press_mouse(MOUSE_PRESS, row + 3, column);
	press_mouse(MOUSE_PRESS, row, 1);
	assert_int_equal(answer, NOT_YET);
	press_mouse(MOUSE_PRESS, row, column);
	assert_int_equal(answer, 2);
	ask(QUESTION, 0);
	press_mouse(MOUSE_WHEEL_DOWN, 0, 0);
	press_mouse(MOUSE_WHEEL_DOWN, 0, 0);
	press_mouse(MOUSE_WHEEL_UP, 0, 0);
	screen_press(&s, "Enter");
	assert_int_equal(answer, 1);
}

#define T(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    T(it_lies_in_the_middle),
	    T(it_fits_a_small_terminal),
	    T(it_fits_the_smallest_terminals),
	    T(keys_answer),
	    T(the_current_letter_does_not_answer),
	    T(signals_are_red),
	    T(the_mouse_answers),
	};

	return cmocka_run_group_tests(tests, fixture_setup, NULL);
}
