/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grid_test.c - checks the grid: text, colours, wide characters, edges, ASCII.
 */
#include "format/fixture.h"

#include "tui/screen/grid.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include <string.h>

static struct grid g;

static int begin(void **state)
{
	(void)state;
	return !grid_resize(&g, 3, 10);
}

static int end(void **state)
{
	(void)state;
	grid_free(&g);
	return 0;
}

static int line(int row, int column, const char *text)
{
	return grid_line(&g, row, column, text, strlen(text), GRID_PLAIN);
}

static void assert_row(int row, const wchar_t *expected)
{
	for (int c = 0; c < g.columns; c++)
		assert_int_equal(grid_at(&g, row, c)->c, expected[c]);
}

static void text_is_cut_at_the_edges(void **state)
{
	(void)state;
	assert_int_equal(line(0, -2, "abcdefghijklmnop"), 10);
	assert_row(0, L"cdefghijkl");
	assert_int_equal(line(1, 8, "xyz"), 10);
	assert_row(1, L"        xy");
	line(-1, 0, "nowhere");
	line(3, 0, "nowhere");
}

static void wide_characters_take_two(void **state)
{
	(void)state;
	assert_int_equal(line(0, 0, "a漢b"), 4);
	assert_int_equal(grid_at(&g, 0, 1)->c, L'漢');
	assert_int_equal(grid_at(&g, 0, 2)->c, 0);
	assert_int_equal(grid_at(&g, 0, 3)->c, L'b');
	line(1, 9, "漢"); /* half of it fits: neither half is drawn */
	assert_row(1, L"          ");
	line(2, -1, "漢x");
	assert_row(2, L" x        ");
}

static void colours_are_styles(void **state)
{
	(void)state;
	line(0, 0, "a\033[1;31mb\033[0mc\033[38;5;120md\033[7me");
	assert_int_equal(grid_at(&g, 0, 0)->style.color, GRID_COLOR_NONE);
	assert_int_equal(grid_at(&g, 0, 1)->style.color, 1);
	assert_int_equal(grid_at(&g, 0, 1)->style.attribute, GRID_BOLD);
	assert_int_equal(grid_at(&g, 0, 2)->style.color, GRID_COLOR_NONE);
	assert_int_equal(grid_at(&g, 0, 3)->style.color, 120);
	assert_int_equal(grid_at(&g, 0, 4)->style.attribute, GRID_REVERSE);
}

static void foreign_bytes_are_questions(void **state)
{
	(void)state;
	line(0, 0, "a\xff\x01z");
	assert_row(0, L"a??z      ");
	line(1, 0, "\033[999999999999;x");
	assert_int_equal(grid_at(&g, 1, 0)->c, L'?');
	line(2, 0, "\xe6\xbc"); /* a character cut in two */
	assert_row(2, L"??        ");
}

static void drawings_have_ascii(void **state)
{
	(void)state;
	line(0, 0, "╒═│├▎█░⣿▲é");
	grid_to_ascii(&g);
	assert_row(0, L"+=|||||=^?");
}

static void marks_stay_inside(void **state)
{
	(void)state;
	grid_mark(&g, 0, -5, 100, GRID_BOLD, 0);
	grid_mark(&g, 7, 0, 5, GRID_BOLD, 0);
	grid_tint(&g, 1, 8, 100, 3);
	grid_blank(&g, -2, -2, 100, 100);
	grid_dim(&g);
	assert_int_equal(grid_at(&g, 0, 9)->style.attribute, GRID_DIM);
}

#define T(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    T(text_is_cut_at_the_edges), T(wide_characters_take_two),
	    T(colours_are_styles),       T(foreign_bytes_are_questions),
	    T(drawings_have_ascii),      T(marks_stay_inside),
	};

	return cmocka_run_group_tests(tests, fixture_setup, NULL);
}
