/* SPDX-License-Identifier: Apache-2.0 */
/*
 * prompt_test.c - checks the prompt: editing by characters, its history, whom
 * it notifies.
 */
#include "tui/screen.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

static struct screen s;
static char seen[TUI_PROMPT_MAX], taken[TUI_PROMPT_MAX];
static int changes, cancels;
static bool refuses;

static void on_change(struct tui *t, const char *text)
{
	(void)t;
	changes++;
	strcpy(seen, text);
}

static bool on_enter(struct tui *t, const char *text)
{
	strcpy(taken, text);
	if (refuses)
		tui_prompt_note(t, "no such thing");
	return !refuses;
}

static void on_cancel(struct tui *t)
{
	(void)t;
	cancels++;
}

static const struct tui_prompt_kind kind = {
    .past = PROMPT_SEARCH,
    .changed = on_change,
    .entered = on_enter,
    .cancelled = on_cancel,
};

static int begin(void **state)
{
	(void)state;
	screen_begin(&s, 10, 40);
	changes = cancels = 0;
	refuses = false;
	*seen = *taken = '\0';
	return 0;
}

static int end(void **state)
{
	(void)state;
	screen_end(&s);
	return 0;
}

static void ask(const char *text)
{
	tui_prompt_open(&s.t, &kind, "Find: ", text);
}

static void every_change_is_told(void **state)
{
	(void)state;
	ask("");
	screen_type(&s, "python");
	assert_int_equal(changes, 7);
	assert_string_equal(seen, "python");
	screen_press(&s, "Left Home End");
	assert_int_equal(changes, 7);
	screen_press(&s, "Enter");
	assert_string_equal(taken, "python");
	assert_null(s.t.prompt.kind);
}

static void keys_are_the_prompts_alone(void **state)
{
	(void)state;
	ask("");
	screen_type(&s, "q/ T");
	assert_false(s.t.quit);
	assert_string_equal(seen, "q/ T");
	screen_press(&s, "F5 PageDown Alt-k");
	assert_string_equal(seen, "q/ T");
	screen_press(&s, "Ctrl-C");
	assert_int_equal(cancels, 1);
	screen_press(&s, "q");
	assert_true(s.t.quit);
}

static void characters_are_edited_whole(void **state)
{
	(void)state;
	ask("");
	screen_type(&s, "aé漢z");
	screen_press(&s, "Left Backspace");
	assert_string_equal(seen, "aéz");
	screen_press(&s, "Left Delete");
	assert_string_equal(seen, "az");
	screen_type(&s, "ü");
	assert_string_equal(seen, "aüz");
	screen_press(&s, "Home Delete End Backspace Backspace Backspace");
	assert_string_equal(seen, "");
}

static void words_and_halves_are_cut(void **state)
{
	(void)state;
	ask("one two  three");
	screen_press(&s, "Ctrl-W");
	assert_string_equal(seen, "one two  ");
	screen_press(&s, "Ctrl-W");
	assert_string_equal(seen, "one ");
	screen_press(&s, "Left Left Ctrl-K");
	assert_string_equal(seen, "on");
	screen_press(&s, "Left Ctrl-U");
	assert_string_equal(seen, "n");
}

static void a_long_text_stays_whole(void **state)
{
	(void)state;
	ask("");
	for (int i = 0; i < 300; i++)
		screen_type(&s, "é");
	assert_int_equal(strlen(seen), TUI_PROMPT_MAX - 2);
	screen_draw(&s);
	assert_int_equal(grid_at(&s.g, 9, 39)->style.attribute, GRID_REVERSE);
	assert_int_equal(grid_at(&s.g, 9, 38)->c, L'é');
}

static void enter(const char *text)
{
	ask("");
	screen_type(&s, text);
	screen_press(&s, "Enter");
}

static void what_was_entered_comes_back(void **state)
{
	(void)state;
	enter("one");
	enter("two");
	enter("one");
	ask("");
	screen_type(&s, "new");
	screen_press(&s, "Up");
	assert_string_equal(seen, "one");
	screen_press(&s, "Up Up Up");
	assert_string_equal(seen, "two");
	screen_press(&s, "Down Down Down");
	assert_string_equal(seen, "new");
}

static void the_oldest_gives_way(void **state)
{
	char text[16];

	(void)state;
	for (int i = 0; i < TUI_PROMPT_PAST + 4; i++) {
		snprintf(text, sizeof text, "t%d", i);
		enter(text);
	}
	ask("");
	for (int i = 0; i < 2 * TUI_PROMPT_PAST; i++)
		screen_press(&s, "Up");
	assert_string_equal(seen, "t4");
}

static void a_refused_text_stays(void **state)
{
	(void)state;
	refuses = true;
	ask("");
	screen_type(&s, "gpu:x");
	screen_press(&s, "Enter");
	assert_non_null(s.t.prompt.kind);
	screen_draw(&s);
	assert_int_equal(screen_find(&s, "Find: gpu:x  no such thing", NULL),
			 9);
	screen_press(&s, "Backspace");
	screen_draw(&s);
	assert_int_equal(screen_find(&s, "no such thing", NULL), -1);
	assert_int_equal(screen_find(&s, "Find: gpu:", NULL), 9);
}

#define T(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    T(every_change_is_told),        T(keys_are_the_prompts_alone),
	    T(characters_are_edited_whole), T(words_and_halves_are_cut),
	    T(a_long_text_stays_whole),     T(what_was_entered_comes_back),
	    T(the_oldest_gives_way),        T(a_refused_text_stays),
	};

	return cmocka_run_group_tests(tests, fixture_setup, NULL);
}
