/* SPDX-License-Identifier: Apache-2.0 */
/* dialog.c - draws a box with buttons and handles its keys. */
#include "tui/screen/dialog.h"

#include "base/assert.h"
#include "format/width.h"
#include "tui/model/model.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define BUTTON    10 /* inner width of a framed button */
#define GAP       2  /* blanks between buttons, and on both sides of them */
#define FRAMED    (BUTTON + 2 + GAP)
#define WIDTH_MAX 78 /* maximum inner width of the box */
#define RED       1

void tui_dialog_open(struct tui *t, const struct tui_dialog_kind *kind,
		     struct gk_buf *text, int button)
{
	GK_ASSERT(kind->count > 0);
	GK_ASSERT(button >= 0 && button < kind->count);
	tui_dialog_close(t);
	t->dialog =
	    (struct tui_dialog){.kind = kind, .text = *text, .current = button};
	*text = (struct gk_buf){0};
}

void tui_dialog_close(struct tui *t)
{
	gk_buf_free(&t->dialog.text);
	t->dialog = (struct tui_dialog){0};
}

/* ---- keys and mouse ---- */

static void choose_button(struct tui *t, int button)
{
	const struct tui_dialog_kind *kind = t->dialog.kind;

	tui_dialog_close(t);
	kind->chosen(t, button);
}

static void step_button(struct tui *t, int by)
{
	struct tui_dialog *d = &t->dialog;

	d->current = (d->current + d->kind->count + by) % d->kind->count;
}

static bool is_button_key(const struct tui_button *b, tui_key key)
{
	return key < 0x80 &&
	       tolower((int)key) == tolower((unsigned char)b->label[b->letter]);
}

/* Returns the button that a letter or digit chooses, or -1. */
static int button_of(const struct tui_dialog_kind *kind, tui_key key)
{
	for (int i = 0; i < kind->count; i++)
		if (key == '1' + (tui_key)i ||
		    is_button_key(&kind->buttons[i], key))
			return i;
	return -1;
}

enum answer { NOTHING, MOVE_BACK, MOVE_ON, CURRENT, CANCEL };

static const struct {
	tui_key key;
	enum answer answer;
} keys[] = {
    {TUI_KEY_ENTER, CURRENT},
    {' ', CURRENT},
    {TUI_KEY_ESCAPE, CANCEL},
    {'c' | (tui_key)TUI_CTRL, CANCEL},
    {'q', CANCEL},
    {'Q', CANCEL},
    {'n', CANCEL},
    {'N', CANCEL},
    {TUI_KEY_LEFT, MOVE_BACK},
    {TUI_KEY_TAB | TUI_SHIFT, MOVE_BACK},
    {',', MOVE_BACK},
    {'<', MOVE_BACK},
    {'[', MOVE_BACK},
    {TUI_KEY_RIGHT, MOVE_ON},
    {TUI_KEY_TAB, MOVE_ON},
    {'.', MOVE_ON},
    {'>', MOVE_ON},
    {']', MOVE_ON},
};

static enum answer answer_of(tui_key key)
{
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
		if (keys[i].key == key)
			return keys[i].answer;
	return NOTHING;
}

static void give_answer(struct tui *t, enum answer answer)
{
	if (answer == MOVE_BACK || answer == MOVE_ON)
		step_button(t, answer == MOVE_ON ? 1 : -1);
	else if (answer != NOTHING)
		choose_button(t, answer == CANCEL ? t->dialog.kind->cancel
						  : t->dialog.current);
}

/*
 * Handles a key. A letter chooses its button, unless that button is selected
 * already: the key that opened the dialog may repeat, and its repetition must
 * not answer the dialog.
 */
void tui_dialog_key(struct tui *t, tui_key key)
{
	enum answer answer = answer_of(key);
	int button;

	GK_ASSERT(t->dialog.kind);
	if (answer != NOTHING) {
		give_answer(t, answer);
		return;
	}
	button = button_of(t->dialog.kind, key);
	if (button >= 0 && button != t->dialog.current)
		choose_button(t, button);
}

void tui_dialog_mouse(struct tui *t, struct term_mouse mouse)
{
	const struct tui_dialog *d = &t->dialog;
	int right = mouse.column - d->column;

	GK_ASSERT(d->kind);
	if (mouse.what == MOUSE_WHEEL_UP)
		step_button(t, -1);
	else if (mouse.what == MOUSE_WHEEL_DOWN)
		step_button(t, 1);
	else if (mouse.what == MOUSE_PRESS && d->step && right >= 0 &&
		 right / d->step < d->kind->count &&
		 right % d->step < d->width && mouse.row >= d->row &&
		 mouse.row < d->row + d->rows)
		choose_button(t, right / d->step);
}

/* ---- drawing ---- */

struct box {
	int row, column;   /* position of the upper left corner */
	int width, height; /* inner size */
	int lines;         /* number of text lines that fit */
	bool framed;       /* whether the buttons have frames */
};

static int count_lines(const struct gk_buf *text, int *ret_width)
{
	const char *at = text->data, *end = at + text->len;
	int count = 0;

	*ret_width = 0;
	for (; at && at < end; count++) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		size_t len = (size_t)((newline ? newline : end) - at);
		int columns = (int)gk_columns(at, len);

		*ret_width = columns > *ret_width ? columns : *ret_width;
		at += len + 1;
	}
	return count;
}

static int smaller(int a, int b)
{
	return a < b ? a : b;
}

static int larger(int a, int b)
{
	return a > b ? a : b;
}

/* Centres the box on the grid. On a small grid the buttons have no frames. */
static struct box arrange_box(const struct tui_dialog *d, const struct grid *g)
{
	int text, lines = count_lines(&d->text, &text);
	int buttons = d->kind->count * FRAMED + GAP;
	struct box b = {.framed =
			    buttons + 2 <= g->columns && lines + 5 <= g->rows};
	int most = smaller(WIDTH_MAX, g->columns - 2);

	b.width = smaller(larger(text + 4, buttons), larger(most, 1));
	b.lines = smaller(lines, larger(g->rows - (b.framed ? 5 : 3), 1));
	b.height = b.lines + (b.framed ? 3 : 1);
	b.row = larger((g->rows - b.height - 2) / 2, 0);
	b.column = larger((g->columns - b.width - 2) / 2, 0);
	return b;
}

static void put_dialog_text(struct grid *g, int row, int column,
			    const char *text, size_t len, unsigned attribute)
{
	grid_line(g, row, column, text, len,
		  (struct grid_style){GRID_COLOR_NONE, (uint16_t)attribute});
}

static void repeat_text(struct gk_buf *out, const char *text, int count)
{
	while (count-- > 0)
		gk_buf_puts(out, text);
}

/* Draws a row of a frame from three parts: left end, filling, right end. */
static void put_row(struct grid *g, int row, int column, int width,
		    const char *const parts[3], unsigned attribute)
{
	struct gk_buf line = {0};

	gk_buf_puts(&line, parts[0]);
	repeat_text(&line, parts[1], width);
	gk_buf_puts(&line, parts[2]);
	put_dialog_text(g, row, column, line.data, line.len, attribute);
	gk_buf_free(&line);
}

static void draw_box_frame(struct grid *g, const struct box *b)
{
	static const char *const top[] = {"╒", "═", "╕"},
				 *const side[] = {"│", " ", "│"},
				 *const bottom[] = {"╘", "═", "╛"};
	int last = b->row + b->height + 1;

	put_row(g, b->row, b->column, b->width, top, 0);
	for (int row = b->row + 1; row < last; row++)
		put_row(g, row, b->column, b->width, side, 0);
	put_row(g, last, b->column, b->width, bottom, 0);
}

/*
 * Draws the text. If not all lines fit, the last one says how many are missing.
 */
static void draw_text(const struct tui_dialog *d, struct grid *g,
		      const struct box *b)
{
	const char *at = d->text.data;
	int width, lines = count_lines(&d->text, &width);
	size_t room = (size_t)larger(b->width - 2, 0);

	for (int i = 0; i < b->lines; i++) {
		bool cut = i == b->lines - 1 && lines > b->lines;
		size_t len = strcspn(at, "\n");
		const char *text = at;
		int column = b->column + 2;
		char rest[32];

		if (cut) {
			snprintf(rest, sizeof rest, "... and %d more",
				 lines - i);
			text = rest;
		}
		at += len + (at[len] == '\n');
		len = gk_fit(text, cut ? strlen(rest) : len, room);
		if (!i && !cut)
			column = b->column + 1 +
				 (b->width - (int)gk_columns(text, len)) / 2;
		put_dialog_text(g, b->row + 1 + i, column, text, len,
				i ? 0 : GRID_BOLD);
	}
}

static void put_label(struct grid *g, int row, int column,
		      const struct tui_button *b, unsigned attribute)
{
	int len = (int)strlen(b->label);

	put_dialog_text(g, row, column, b->label, (size_t)len, attribute);
	if (b->red)
		grid_tint(g, row, column + b->red, len - b->red, RED);
	grid_mark(g, row, column + b->letter, 1, GRID_UNDERLINE, 0);
}

static void draw_framed(const struct tui_dialog *d, struct grid *g, int i,
			int column)
{
	static const char *const top[] = {"┌", "─", "┐"},
				 *const side[] = {"│", " ", "│"},
				 *const bottom[] = {"└", "─", "┘"};
	const struct tui_button *b = &d->kind->buttons[i];
	int at = column + 1 + (BUTTON - (int)strlen(b->label)) / 2;
	unsigned current = i == d->current ? GRID_BOLD | GRID_REVERSE : 0;

	put_row(g, d->row, column, BUTTON, top, current & GRID_BOLD);
	put_row(g, d->row + 1, column, BUTTON, side, current & GRID_BOLD);
	put_row(g, d->row + 2, column, BUTTON, bottom, current & GRID_BOLD);
	grid_mark(g, d->row + 1, column + 1, BUTTON, current, 0);
	put_label(g, d->row + 1, at, b, current);
}

static void draw_plain(const struct tui_dialog *d, struct grid *g, int i,
		       int column)
{
	const struct tui_button *b = &d->kind->buttons[i];
	unsigned current = i == d->current ? GRID_BOLD | GRID_REVERSE : 0;

	put_label(g, d->row, column, b, current);
}

static int longest_label(const struct tui_dialog_kind *kind)
{
	int longest = 0;

	for (int i = 0; i < kind->count; i++)
		longest = larger(longest, (int)strlen(kind->buttons[i].label));
	return longest;
}

static void draw_buttons(struct tui_dialog *d, struct grid *g,
			 const struct box *b)
{
	int count = d->kind->count;

	d->width = b->framed ? BUTTON + 2 : longest_label(d->kind);
	d->step = b->framed ? FRAMED : d->width + 1;
	d->rows = b->framed ? 3 : 1;
	d->row = b->row + 1 + b->lines;
	d->column = b->column + 1 +
		    (b->width - (count * d->step - (d->step - d->width))) / 2;
	for (int i = 0; i < count; i++)
		(b->framed ? draw_framed : draw_plain)(d, g, i,
						       d->column + i * d->step);
}

void tui_dialog_draw(struct tui *t, struct grid *g)
{
	struct box b;

	GK_ASSERT(t->dialog.kind);
	b = arrange_box(&t->dialog, g);
	grid_dim(g);
	draw_box_frame(g, &b);
	draw_text(&t->dialog, g, &b);
	draw_buttons(&t->dialog, g, &b);
}
