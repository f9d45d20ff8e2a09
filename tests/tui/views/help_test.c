/* SPDX-License-Identifier: Apache-2.0 */
/* help_test.c - checks the help screen: every key in force, at any size. */
#include "tui/screen.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include <string.h>

static struct screen s;

static int begin(void **state)
{
	(void)state;
	screen_begin(&s, 24, 80);
	return 0;
}

static int end(void **state)
{
	(void)state;
	screen_end(&s);
	return 0;
}

/* A tall screen, on which nothing is scrolled away. */
static void every_action_is_there_with_its_keys(void **state)
{
	char keys[128];

	(void)state;
	screen_resize(&s, 200, 100);
	screen_press(&s, "h");
	screen_draw(&s);
	for (int a = ACTION_NONE + 1; a < ACTION_COUNT; a++) {
		int row;

		if (tui_keys[a].group == GROUP_HIDDEN)
			continue;
		row = screen_find(&s, tui_keys[a].help, NULL);
		if (row < 0)
			fail_msg("%s is not there", tui_keys[a].action);
		tui_keymap_names(s.t.keymap, (enum tui_action)a, keys,
				 sizeof keys);
		if (screen_find(&s, keys, NULL) < 0)
			fail_msg("%s: no %s", tui_keys[a].action, keys);
	}
}

static void it_has_two_columns_where_there_is_room(void **state)
{
	(void)state;
	screen_resize(&s, 60, 160);
	screen_press(&s, "?");
	screen_draw(&s);
	assert_true(s.t.line_count <= 60);
	assert_true(screen_find(&s, "graphs of a shorter time", NULL) >= 0);
}

/* All of it comes from keys.def: a new key shows up here. */
static void it_looks_so(void **state)
{
	(void)state;
	screen_press(&s, "h");
	assert_screen(&s, "tui/help-80x24");
	screen_press(&s, "PageDown");
	assert_screen(&s, "tui/help-80x24-below");
	screen_press(&s, "Home");
	screen_resize(&s, 40, 120);
	assert_screen(&s, "tui/help-120x40");
	screen_resize(&s, 10, 40);
	assert_screen(&s, "tui/help-40x10");
	screen_resize(&s, 60, 200);
	assert_screen(&s, "tui/help-200x60");
}

static void keys_of_the_config_are_shown(void **state)
{
	int column;

	(void)state;
	assert_true(tui_keymap_set(s.t.keymap, "pause", "F9 Alt-p"));
	s.t.options.boxed.gpu = (struct gk_limits){200, 655};
	screen_resize(&s, 200, 100);
	screen_press(&s, "h");
	screen_draw(&s);
	assert_true(screen_find(&s, "F9 Alt-p", &column) >= 0);
	assert_true(screen_find(&s, "light < 20%  moderate < 65.5%", NULL) >=
		    0);
	assert_true(screen_find(&s, "light < 10%  moderate < 80%", NULL) >= 0);
}

static void it_is_paged_and_any_other_key_leaves(void **state)
{
	(void)state;
	screen_press(&s, "h");
	screen_draw(&s);
	assert_int_equal(screen_find(&s, "gpukit", NULL), 0);
	screen_press(&s, "PageDown");
	screen_draw(&s);
	assert_int_equal(s.t.scroll, 23);
	assert_int_equal(screen_find(&s, "gpukit", NULL), -1);
	screen_press(&s, "Down End");
	screen_draw(&s);
	assert_int_equal(screen_find(&s, "scroll left or right", NULL), 23);
	screen_press(&s, "Home");
	screen_draw(&s);
	assert_int_equal(s.t.scroll, 0);
	screen_press(&s, "p");
	assert_int_equal(s.t.screen, SCREEN_MAIN);
	assert_false(s.t.paused);
	screen_press(&s, "h q");
	assert_int_equal(s.t.screen, SCREEN_MAIN);
	assert_false(s.t.quit);
	screen_press(&s, "h Z");
	assert_int_equal(s.t.screen, SCREEN_MAIN);
}

static bool is_dim(const char *text)
{
	int column, row = screen_find(&s, text, &column);

	assert_true(row >= 0);
	return grid_at(&s.g, row, column)->style.attribute & GRID_DIM;
}

static void read_only_dims_what_is_refused(void **state)
{
	(void)state;
	s.t.options.readonly = true;
	screen_resize(&s, 200, 100);
	screen_press(&s, "h");
	screen_draw(&s);
	assert_true(is_dim("terminate (SIGTERM)"));
	assert_false(is_dim("tag or untag"));
}

#define T(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    T(every_action_is_there_with_its_keys),
	    T(it_has_two_columns_where_there_is_room),
	    T(it_looks_so),
	    T(keys_of_the_config_are_shown),
	    T(it_is_paged_and_any_other_key_leaves),
	    T(read_only_dims_what_is_refused),
	};

	return cmocka_run_group_tests(tests, fixture_setup, NULL);
}
