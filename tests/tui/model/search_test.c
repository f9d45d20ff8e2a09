/* SPDX-License-Identifier: Apache-2.0 */
/*
 * search_test.c - checks searching while typing, in processes and in the
 * environment.
 */
#include "tui/screen.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

static struct screen s;

static int begin(void **state)
{
	(void)state;
	screen_begin(&s, 24, 80);
	fixture_init(&s.f, 2);
	fixture_add_process(&s.f, 0, 11, "python3 train.py");
	fixture_add_process(&s.f, 0, 12, "blender -b");
	fixture_add_process(&s.f, 1, 23, "python3 serve.py");
	fixture_add_process(&s.f, 1, 34, "python2 old.py");
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

static void assert_selected(pid_t pid)
{
	assert_int_equal(s.t.selected.pid, pid);
}

static void the_first_is_selected_while_typing(void **state)
{
	(void)state;
	screen_press(&s, "F3");
	screen_type(&s, "py");
	assert_selected(11);
	screen_type(&s, "thon3 S");
	assert_selected(23);
	screen_press(&s, "Backspace Backspace Backspace");
	assert_selected(11);
	screen_press(&s, "Enter");
	assert_selected(11);
}

static void it_begins_at_the_selection_and_goes_around(void **state)
{
	(void)state;
	screen_press(&s, "End Ctrl-F");
	screen_type(&s, "python");
	assert_selected(34);
	screen_type(&s, "3");
	assert_selected(11);
}

static void escape_goes_back(void **state)
{
	(void)state;
	screen_press(&s, "Home Down F3");
	screen_type(&s, "serve");
	assert_selected(23);
	screen_press(&s, "Esc");
	assert_selected(12);
}

static void what_is_not_found_is_said(void **state)
{
	(void)state;
	screen_press(&s, "Home Down F3");
	screen_type(&s, "pythonx");
	assert_selected(12);
	screen_draw(&s);
	assert_true(screen_find(&s, "pythonx  not found", NULL) >= 0);
}

static void the_next_is_found(void **state)
{
	(void)state;
	screen_press(&s, "Ctrl-N");
	assert_string_equal(s.t.message, "Nothing has been searched for yet");
	screen_press(&s, "F3");
	screen_type(&s, "python");
	screen_press(&s, "Enter");
	assert_selected(11);
	screen_press(&s, "Ctrl-N");
	assert_selected(23);
	screen_press(&s, "Ctrl-N Ctrl-N");
	assert_selected(11);
	screen_press(&s, "F3 Enter");
	assert_selected(23);
}

static void covered_values_are_not_found(void **state)
{
	static struct tui_variable list[] = {{"API_KEY", "sesame", true},
					     {"HOME", "/home/ana", false}};

	(void)state;
	s.t.environ.list = malloc(sizeof list);
	memcpy(s.t.environ.list, list, sizeof list);
	s.t.environ.count = 2;
	s.t.screen = SCREEN_ENVIRON;
	screen_press(&s, "F3");
	screen_type(&s, "home=");
	assert_int_equal(s.t.environ.selected, 1);
	screen_press(&s, "Ctrl-U");
	screen_type(&s, "sesame");
	assert_string_equal(s.t.prompt.note, "not found");
	screen_press(&s, "Esc m F3");
	screen_type(&s, "sesame");
	assert_string_equal(s.t.prompt.note, "");
	assert_int_equal(s.t.environ.selected, 0);
}

static void help_has_nothing_to_search(void **state)
{
	(void)state;
	s.t.screen = SCREEN_HELP;
	tui_do(&s.t, ACTION_NONE);
	s.t.screen = SCREEN_METRICS;
	tui_ask_search(&s.t);
	assert_null(s.t.prompt.kind);
	assert_string_equal(s.t.message, "Nothing to search here");
}

#define T(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    T(the_first_is_selected_while_typing),
	    T(it_begins_at_the_selection_and_goes_around),
	    T(escape_goes_back),
	    T(what_is_not_found_is_said),
	    T(the_next_is_found),
	    T(covered_values_are_not_found),
	    T(help_has_nothing_to_search),
	};

	return cmocka_run_group_tests(tests, fixture_setup, NULL);
}
