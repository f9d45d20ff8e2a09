/* SPDX-License-Identifier: Apache-2.0 */
/* search.c - finds the next line that contains a text. */
#include "tui/model/search.h"

#include "tui/views/view.h"

#include <string.h>

void tui_search_process(const struct gk_process *p, struct gk_buf *out)
{
	gk_buf_printf(out, "%d %s %s", (int)p->pid, p->user, p->command);
}

static bool can_search(struct tui *t)
{
	const struct view *view = view_of(t);

	if (view->select && view->text)
		return true;
	tui_say(t, "Nothing to search here");
	return false;
}

static bool holds_text(const struct tui *t, size_t at, const char *text)
{
	struct gk_buf line = {0};
	bool found;

	view_of(t)->text(t, at, &line);
	found = line.len && strcasestr(line.data, text);
	gk_buf_free(&line);
	return found;
}

/*
 * Returns the first line at or after `from` that contains text, wrapping
 * around; -1 if there is none.
 */
static long find_line_with(const struct tui *t, long from, const char *text)
{
	size_t count = view_of(t)->count(t);

	for (size_t i = 0; i < count; i++) {
		size_t at = ((size_t)(from < 0 ? 0 : from) + i) % count;

		if (holds_text(t, at, text))
			return (long)at;
	}
	return -1;
}

/* ---- the prompt ---- */

static void search_text(struct tui *t, const char *text)
{
	long at =
	    *text ? find_line_with(t, t->search.from, text) : t->search.from;

	if (*text && at < 0) {
		tui_prompt_note(t, "not found");
		at = t->search.from;
	}
	view_of(t)->select(t, at);
}

/* Handles Enter in the prompt. An empty text repeats the last search. */
static bool take_search(struct tui *t, const char *text)
{
	if (*text)
		gk_str_copy(t->search.text, sizeof t->search.text, text);
	else
		tui_search_next(t);
	return true;
}

static void give_up(struct tui *t)
{
	view_of(t)->select(t, t->search.from);
}

static const struct tui_prompt_kind kind = {
    .past = PROMPT_SEARCH,
    .changed = search_text,
    .entered = take_search,
    .cancelled = give_up,
};

void tui_ask_search(struct tui *t)
{
	if (!can_search(t))
		return;
	t->search.from = view_of(t)->selected(t);
	tui_prompt_open(t, &kind, "Search: ", "");
}

void tui_search_next(struct tui *t)
{
	long at;

	if (!can_search(t))
		return;
	if (!*t->search.text) {
		tui_say(t, "Nothing has been searched for yet");
		return;
	}
	at = find_line_with(t, view_of(t)->selected(t) + 1, t->search.text);
	if (at < 0)
		tui_say(t, "Not found: %s", t->search.text);
	else
		view_of(t)->select(t, at);
}
