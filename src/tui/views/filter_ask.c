/* SPDX-License-Identifier: Apache-2.0 */
/* filter_ask.c - runs the prompt for the filter. */
#include "tui/model/model.h"

#include <string.h>

/*
 * Applies the filter while the user types. If a word is invalid, keeps the last
 * valid filter.
 */
static void try_words(struct tui *t, const char *text)
{
	char error[sizeof t->prompt.note];

	if (tui_words_parse(&t->words, text, error, sizeof error))
		tui_list_update(t);
	else
		tui_prompt_note(t, error);
}

static bool take_words(struct tui *t, const char *text)
{
	try_words(t, text);
	if (strcmp(t->words.text, text) != 0)
		return false;
	tui_frame(t);
	return true;
}

void tui_filter_by(struct tui *t, const char *text)
{
	try_words(t, text);
	tui_frame(t);
}

static void restore_words(struct tui *t)
{
	tui_filter_by(t, t->words_before);
}

static const struct tui_prompt_kind kind = {
    .past = PROMPT_FILTER,
    .changed = try_words,
    .entered = take_words,
    .cancelled = restore_words,
};

void tui_ask_filter(struct tui *t)
{
	gk_str_copy(t->words_before, sizeof t->words_before, t->words.text);
	tui_prompt_open(t, &kind, "Filter: ", t->words.text);
}
