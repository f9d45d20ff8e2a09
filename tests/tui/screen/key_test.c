/* SPDX-License-Identifier: Apache-2.0 */
/*
 * key_test.c - checks keys: their names, the table, sequences, other keys for
 * actions.
 */
#include "format/fixture.h"

#include "tui/screen/key.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include <string.h>

static tui_key key(const char *name)
{
	return tui_key_parse(name, strlen(name));
}

static void names_and_keys_agree(void **state)
{
	static const char *const names[] = {
	    "a",   "^",     "Ctrl-A", "Alt-K",     "Shift-Tab", "F5",
	    "F12", "Space", "PageUp", "Alt-Right", "\\",        "é",
	};
	char text[TUI_KEY_NAME_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		assert_string_equal(tui_key_name(text, key(names[i])),
				    names[i]);
	assert_int_equal(key("Ctrl-A"), key("Ctrl-a"));
	assert_int_not_equal(key("Alt-K"), key("Alt-k"));
	assert_int_equal(key("Nonsense"), TUI_KEY_NONE);
	assert_int_equal(key(""), TUI_KEY_NONE);
}

/*
 * Checks that every key of every row is valid, and does one thing on each
 * screen.
 */
static void check_table(bool vi)
{
	struct tui_keymap *map = tui_keymap_new(vi);

	assert_non_null(map);
	for (int a = ACTION_NONE + 1; a < ACTION_COUNT; a++) {
		const struct tui_key_info *info = &tui_keys[a];
		const char *text = vi && info->vi ? info->vi : info->keys;

		assert_non_null(info->help);
		while (*text) {
			size_t len = strcspn(text, " ");
			const char *plus =
			    len > 2 ? memchr(text + 1, '+', len - 2) : NULL;
			tui_key pending = TUI_KEY_NONE;
			tui_key first = tui_key_parse(
			    text, plus ? (size_t)(plus - text) : len);

			for (unsigned screen = 1; screen & ON_ALL;
			     screen <<= 1) {
				enum tui_action got;

				if (!(info->screens & screen))
					continue;
				pending = TUI_KEY_NONE;
				got = tui_keymap_take(map, screen, first,
						      &pending);
				if (plus) {
					assert_int_equal(got, ACTION_NONE);
					got = tui_keymap_take(
					    map, screen,
					    tui_key_parse(
						plus + 1,
						len - (size_t)(plus - text) -
						    1),
					    &pending);
				}
				if (got != (enum tui_action)a)
					fail_msg("%s on screen %u does %s",
						 text, screen,
						 tui_keys[got].action);
			}
			text += len;
			text += strspn(text, " ");
		}
	}
	tui_keymap_free(map);
}

static void no_key_does_two_things(void **state)
{
	(void)state;
	check_table(false);
	check_table(true);
}

static void a_sequence_may_break_off(void **state)
{
	struct tui_keymap *map = tui_keymap_new(false);
	tui_key pending = TUI_KEY_NONE;

	(void)state;
	assert_int_equal(tui_keymap_take(map, ON_MAIN, 'o', &pending),
			 ACTION_NONE);
	assert_int_equal(tui_keymap_take(map, ON_MAIN, 'q', &pending),
			 ACTION_QUIT);
	assert_int_equal(pending, TUI_KEY_NONE);
	assert_int_equal(tui_keymap_take(map, ON_MAIN, 'o', &pending),
			 ACTION_NONE);
	assert_int_equal(tui_keymap_take(map, ON_MAIN, 'S', &pending),
			 ACTION_SORT_SM_R);
	tui_keymap_free(map);
}

static void an_action_takes_other_keys(void **state)
{
	struct tui_keymap *map = tui_keymap_new(false);
	tui_key pending = TUI_KEY_NONE;
	char text[64];

	(void)state;
	assert_true(tui_keymap_set(map, "select-next", "F6 Ctrl-K"));
	assert_int_equal(tui_keymap_take(map, ON_MAIN, key("Ctrl-K"), &pending),
			 ACTION_SELECT_NEXT);
	assert_int_equal(tui_keymap_take(map, ON_MAIN, TUI_KEY_DOWN, &pending),
			 ACTION_NONE);
	tui_keymap_names(map, ACTION_SELECT_NEXT, text, sizeof text);
	assert_string_equal(text, "F6 Ctrl-K");
	tui_keymap_names(map, ACTION_SORT_SM, text, sizeof text);
	assert_string_equal(text, "os");
	assert_false(tui_keymap_set(map, "select-next", "F6 Nonsense"));
	assert_false(tui_keymap_set(map, "no-action", "F6"));
	assert_int_equal(tui_keymap_take(map, ON_MAIN, key("F6"), &pending),
			 ACTION_SELECT_NEXT);
	assert_true(tui_keymap_set(map, "quit", ""));
	assert_int_equal(tui_keymap_take(map, ON_MAIN, 'q', &pending),
			 ACTION_NONE);
	tui_keymap_free(map);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(names_and_keys_agree),
	    cmocka_unit_test(no_key_does_two_things),
	    cmocka_unit_test(a_sequence_may_break_off),
	    cmocka_unit_test(an_action_takes_other_keys),
	};

	return cmocka_run_group_tests(tests, fixture_setup, NULL);
}
