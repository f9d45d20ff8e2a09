/* SPDX-License-Identifier: Apache-2.0 */
/* prompt.c - edits one line of text. */
#include "tui/screen/prompt.h"

#include "base/assert.h"
#include "format/width.h"
#include "tui/model/model.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>

#define COLOR_NOTE 1 /* red */

static void tell_change(struct tui *t)
{
	struct tui_prompt *p = &t->prompt;

	*p->note = '\0';
	if (p->kind->changed)
		p->kind->changed(t, p->text);
}

static void set_text(struct tui_prompt *p, const char *text)
{
	gk_str_copy(p->text, sizeof p->text, text);
	p->len = p->cursor = strlen(p->text);
}

void tui_prompt_open(struct tui *t, const struct tui_prompt_kind *kind,
		     const char *label, const char *text)
{
	struct tui_prompt *p = &t->prompt;

	p->kind = kind;
	p->past_at = 0;
	t->message_until_ns = 0; /* a message would cover the prompt */
	gk_str_copy(p->label, sizeof p->label, label);
	set_text(p, text);
	tell_change(t);
}

void tui_prompt_note(struct tui *t, const char *note)
{
	gk_str_copy(t->prompt.note, sizeof t->prompt.note, note);
}

/* ---- characters ---- */

/*
 * Return the start of the character before an offset, and the end of the
 * character at an offset.
 */
static size_t start_before(const struct tui_prompt *p, size_t at)
{
	if (at)
		at--;
	while (at && (p->text[at] & 0xc0) == 0x80)
		at--;
	return at;
}

static size_t end_behind(const struct tui_prompt *p, size_t at)
{
	if (at < p->len)
		at++;
	while (at < p->len && (p->text[at] & 0xc0) == 0x80)
		at++;
	return at;
}

/* Returns the start of the word before the cursor. */
static size_t word_before(const struct tui_prompt *p)
{
	size_t at = p->cursor;

	while (at && p->text[at - 1] == ' ')
		at--;
	while (at && p->text[at - 1] != ' ')
		at--;
	return at;
}

static void cut_text(struct tui *t, size_t from, size_t to)
{
	struct tui_prompt *p = &t->prompt;

	if (from == to)
		return;
	memmove(p->text + from, p->text + to, p->len - to + 1);
	p->len -= to - from;
	p->cursor = from;
	tell_change(t);
}

static void insert_key(struct tui *t, tui_key key)
{
	struct tui_prompt *p = &t->prompt;
	char bytes[MB_LEN_MAX];
	mbstate_t state = {0};
	size_t n;

	if (key < ' ' || key == 0x7f || key >= TUI_KEY_FIRST)
		return;
	n = wcrtomb(bytes, (wchar_t)key, &state);
	if (n == (size_t)-1 || p->len + n >= sizeof p->text)
		return;
	memmove(p->text + p->cursor + n, p->text + p->cursor,
		p->len - p->cursor + 1);
	memcpy(p->text + p->cursor, bytes, n);
	p->len += n;
	p->cursor += n;
	tell_change(t);
}

/* ---- what keys do ---- */

static void go_left(struct tui *t)
{
	t->prompt.cursor = start_before(&t->prompt, t->prompt.cursor);
}

static void go_right(struct tui *t)
{
	t->prompt.cursor = end_behind(&t->prompt, t->prompt.cursor);
}

static void go_start(struct tui *t)
{
	t->prompt.cursor = 0;
}

static void go_end(struct tui *t)
{
	t->prompt.cursor = t->prompt.len;
}

static void cut_before(struct tui *t)
{
	cut_text(t, start_before(&t->prompt, t->prompt.cursor),
		 t->prompt.cursor);
}

static void cut_behind(struct tui *t)
{
	cut_text(t, t->prompt.cursor, end_behind(&t->prompt, t->prompt.cursor));
}

static void cut_word(struct tui *t)
{
	cut_text(t, word_before(&t->prompt), t->prompt.cursor);
}

static void cut_start(struct tui *t)
{
	cut_text(t, 0, t->prompt.cursor);
}

static void cut_end(struct tui *t)
{
	cut_text(t, t->prompt.cursor, t->prompt.len);
}

/* Shows the text entered `back` prompts ago; 0 means the new text. */
static void recall_text(struct tui *t, size_t back)
{
	struct tui_prompt *p = &t->prompt;
	size_t count = p->past[p->kind->past].count;

	if (back > count || back == p->past_at)
		return;
	if (!p->past_at)
		memcpy(p->draft, p->text, p->len + 1);
	p->past_at = back;
	set_text(p,
		 back ? p->past[p->kind->past].texts[count - back] : p->draft);
	tell_change(t);
}

static void recall_older(struct tui *t)
{
	recall_text(t, t->prompt.past_at + 1);
}

static void recall_newer(struct tui *t)
{
	if (t->prompt.past_at)
		recall_text(t, t->prompt.past_at - 1);
}

/*
 * Adds a text to the history or, if it is there already, moves it to the end.
 * If the history is full, drops its oldest text.
 */
static void remember_text(struct tui_prompt *p, enum tui_prompt_past past,
			  const char *text)
{
	char(*texts)[TUI_PROMPT_MAX] = p->past[past].texts;
	size_t *count = &p->past[past].count, i = 0;

	if (past == PROMPT_FORGETS || !*text)
		return;
	while (i < *count && strcmp(texts[i], text))
		i++;
	if (i == *count && i == TUI_PROMPT_PAST)
		i = 0;
	if (i < *count) {
		memmove(texts[i], texts[i + 1],
			(*count - i - 1) * sizeof *texts);
		--*count;
	}
	strcpy(texts[(*count)++], text);
}

/* Closes the prompt before calling entered(), which may open another prompt. */
static void enter_text(struct tui *t)
{
	struct tui_prompt *p = &t->prompt;
	const struct tui_prompt_kind *kind = p->kind;
	char text[TUI_PROMPT_MAX];

	memcpy(text, p->text, p->len + 1);
	p->kind = NULL;
	if (!kind->entered || kind->entered(t, text))
		remember_text(p, kind->past, text);
	else if (!p->kind)
		p->kind = kind;
}

static void cancel_prompt(struct tui *t)
{
	const struct tui_prompt_kind *kind = t->prompt.kind;

	t->prompt.kind = NULL;
	if (kind->cancelled)
		kind->cancelled(t);
}

static const struct {
	tui_key key;
	void (*press)(struct tui *t);
} keys[] = {
    {TUI_KEY_ENTER, enter_text},
    {TUI_KEY_ESCAPE, cancel_prompt},
    {'c' | (tui_key)TUI_CTRL, cancel_prompt},
    {'g' | (tui_key)TUI_CTRL, cancel_prompt},
    {TUI_KEY_LEFT, go_left},
    {'b' | (tui_key)TUI_CTRL, go_left},
    {TUI_KEY_RIGHT, go_right},
    {'f' | (tui_key)TUI_CTRL, go_right},
    {TUI_KEY_HOME, go_start},
    {'a' | (tui_key)TUI_CTRL, go_start},
    {TUI_KEY_END, go_end},
    {'e' | (tui_key)TUI_CTRL, go_end},
    {TUI_KEY_BACKSPACE, cut_before},
    {TUI_KEY_DELETE, cut_behind},
    {'d' | (tui_key)TUI_CTRL, cut_behind},
    {'w' | (tui_key)TUI_CTRL, cut_word},
    {'u' | (tui_key)TUI_CTRL, cut_start},
    {'k' | (tui_key)TUI_CTRL, cut_end},
    {TUI_KEY_UP, recall_older},
    {'p' | (tui_key)TUI_CTRL, recall_older},
    {TUI_KEY_DOWN, recall_newer},
    {'n' | (tui_key)TUI_CTRL, recall_newer},
};

void tui_prompt_key(struct tui *t, tui_key key)
{
	GK_ASSERT(t->prompt.kind);
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
		if (keys[i].key == key) {
			keys[i].press(t);
			return;
		}
	insert_key(t, key);
}

/* ---- drawing ---- */

/*
 * Returns how many bytes at the start of the text to skip so that the cursor is
 * visible.
 */
static size_t hidden_bytes(const struct tui_prompt *p, size_t columns)
{
	size_t from = 0;

	while (from < p->cursor &&
	       gk_columns(p->text + from, p->cursor - from) + 1 > columns)
		from = end_behind(p, from);
	return from;
}

void tui_prompt_draw(const struct tui *t, struct grid *g)
{
	const struct tui_prompt *p = &t->prompt;
	struct grid_style note = {COLOR_NOTE, GRID_BOLD};
	struct grid_style label = {GRID_COLOR_NONE, GRID_BOLD};
	int row = g->rows - 1, column, end;
	size_t left, from;

	GK_ASSERT(p->kind);
	grid_blank(g, row, 0, 1, g->columns);
	column = grid_line(g, row, 0, p->label, strlen(p->label), label);
	left = column < g->columns ? (size_t)(g->columns - column) : 1;
	from = hidden_bytes(p, left);
	end = grid_line(g, row, column, p->text + from, p->len - from,
			GRID_PLAIN);
	column += (int)gk_columns(p->text + from, p->cursor - from);
	grid_mark(g, row, column, 1, GRID_REVERSE, 0);
	if (*p->note)
		grid_line(g, row, end + 2, p->note, strlen(p->note), note);
}
