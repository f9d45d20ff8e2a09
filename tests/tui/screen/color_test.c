/* SPDX-License-Identifier: Apache-2.0 */
/* color_test.c - checks colours of a palette of 256 on terminals with fewer. */
#include "format/gradient.h"
#include "tui/screen/color.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { RED = 1, GREEN = 2, YELLOW = 3, BLUE = 4, MAGENTA = 5, CYAN = 6 };

static void colors_that_are_there_stay(void **state)
{
	(void)state;
	for (unsigned c = 0; c < 256; c++)
		assert_int_equal(tui_color_among(c, 256), c);
	for (unsigned c = 0; c < 16; c++)
		assert_int_equal(tui_color_among(c, 16), c);
}

static void bright_ones_become_their_dark_ones(void **state)
{
	(void)state;
	for (unsigned c = 9; c < 16; c++)
		assert_int_equal(tui_color_among(c, 8), c - 8);
	assert_int_equal(tui_color_among(8, 8), -1);
}

/* Named as in xterm's table. */
static void the_hue_stays(void **state)
{
	static const struct {
		unsigned from;
		int to;
	} rows[] = {
	    {196, RED}, {46, GREEN},    {226, YELLOW}, {21, BLUE},
	    {51, CYAN}, {201, MAGENTA}, {214, YELLOW}, {160, RED},
	    {231, 7},   {250, 7},       {16, -1},      {232, -1},
	    {124, RED}, {28, GREEN},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		for (int colors = 8; colors <= 16; colors += 8)
			assert_int_equal(tui_color_among(rows[i].from, colors),
					 rows[i].to);
}

/* Green, then yellow, then red and beyond; each once, in this order. */
static void the_gradient_keeps_its_order(void **state)
{
	static const int order[] = {GREEN, YELLOW, RED, MAGENTA};
	size_t at = 0;

	(void)state;
	for (int i = 0; i <= 100; i++) {
		int color = tui_color_among(gk_gradient(i / 100.0), 8);

		while (at < 4 && order[at] != color)
			at++;
		assert_true(at < 4);
		assert_true(i != 0 || at == 0);
	}
	assert_true(at >= 2);
}

static void parts_are_those_of_the_table(void **state)
{
	(void)state;
	assert_int_equal(tui_color_rgb(16), 0);
	assert_int_equal(tui_color_rgb(196), 0xff0000);
	assert_int_equal(tui_color_rgb(67), 0x5f87af);
	assert_int_equal(tui_color_rgb(255), 0xeeeeee);
	assert_int_equal(tui_color_rgb(12), 0x0000ff);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(colors_that_are_there_stay),
	    cmocka_unit_test(bright_ones_become_their_dark_ones),
	    cmocka_unit_test(the_hue_stays),
	    cmocka_unit_test(the_gradient_keeps_its_order),
	    cmocka_unit_test(parts_are_those_of_the_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
