/* SPDX-License-Identifier: Apache-2.0 */
/* mouse.c - handles clicks and the mouse wheel. */
#include "tui/screen/mouse.h"

#include "tui/lanes/lanes.h"
#include "tui/lanes/point.h"
#include "tui/screen/layer.h"
#include "tui/views/view.h"

#include <string.h>
#include <wchar.h>

#define FAST 5 /* lines per step of the wheel while Ctrl is held */

static void turn_wheel(struct tui *t, struct term_mouse mouse)
{
	bool up = mouse.what == MOUSE_WHEEL_UP;
	int times = mouse.ctrl ? FAST : 1;

	if (mouse.shift) {
		tui_do(t, up ? ACTION_SCROLL_LEFT : ACTION_SCROLL_RIGHT);
		return;
	}
	while (times--)
		tui_do(t, up ? ACTION_SELECT_PREVIOUS : ACTION_SELECT_NEXT);
}

/* ---- titles of columns ---- */

/*
 * Whether a character separates titles: a blank, an arrow or part of a frame.
 */
static bool is_between(wchar_t c)
{
	return !c || wcschr(L" ▲▼△▽^│|", c);
}

static bool has_word(const struct grid *g, int row, const char *word)
{
	int len = (int)strlen(word), i;

	for (int c = 0; c + len <= g->columns; c++) {
		for (i = 0; i < len; i++)
			if (grid_at(g, row, c + i)->c != (wchar_t)word[i])
				break;
		if (i == len)
			return true;
	}
	return false;
}

/* Writes the word at a position of the screen; "" if there is none. */
static void word_at(const struct grid *g, int row, int column, char *dst,
		    size_t cap)
{
	size_t len = 0;

	while (column > 0 && !is_between(grid_at(g, row, column)->c) &&
	       !is_between(grid_at(g, row, column - 1)->c))
		column--;
	for (; column < g->columns && len + 1 < cap; column++) {
		wchar_t c = grid_at(g, row, column)->c;

		if (is_between(c) || c > 0x7f)
			break;
		dst[len++] = (char)c;
	}
	dst[len] = '\0';
}

/*
 * Whether a word is the title, even if an arrow has replaced the title's '%'.
 */
static bool is_title(const char *word, const char *title)
{
	return !strcmp(word, title) ||
	       (*title == '%' && !strcmp(word, title + 1));
}

/*
 * Sorts by the column title at a position of the screen. Returns false if there
 * is none. Recognises the row of titles by the words PID and COMMAND.
 */
static bool sort_by_title(struct tui *t, const struct grid *g, int row,
			  int column)
{
	char word[32];

	if (t->screen != SCREEN_MAIN || !has_word(g, row, "PID") ||
	    !has_word(g, row, "COMMAND"))
		return false;
	word_at(g, row, column, word, sizeof word);
	for (int c = 0; *word && c < GK_COLUMN_COUNT; c++) {
		if (!is_title(word, gk_column_infos[c].title))
			continue;
		tui_order_click(t, (enum gk_column)c);
		return true;
	}
	return false;
}

/* ---- clicks ---- */

static bool is_lanes(const struct tui *t)
{
	return t->screen == SCREEN_HOSTS || t->screen == SCREEN_ALERTS ||
	       ((t->screen == SCREEN_MAIN || t->screen == SCREEN_DEVICE) &&
		t->options.look == LOOK_LANES);
}

/* Triggers the action of a key if the name of that key was clicked. */
static void press_key(struct tui *t, enum tui_action key)
{
	if (key != ACTION_NONE)
		tui_do(t, key);
}

static void click_at(struct tui *t, int row, int column)
{
	const struct view *view = view_of(t);
	const struct grid *g = t->drawn;
	long at = view->at ? view->at(t, row) : -1;
	enum tui_action key;

	if (at < 0 && is_lanes(t) && lanes_click(t, row, column, &key)) {
		press_key(t, key);
		return;
	}
	if (at < 0 && g && row >= 0 && row < g->rows && column >= 0 &&
	    column < g->columns && sort_by_title(t, g, row, column))
		return;
	if (view->select && view->at)
		view->select(t, at);
	if (at >= 0 && t->screen == SCREEN_HOSTS)
		tui_do(t, ACTION_HOST);
}

void tui_mouse(struct tui *t, struct term_mouse mouse)
{
	enum tui_action key;

	if (tui_layer_mouse(t, mouse))
		return;
	t->pending = TUI_KEY_NONE;
	if (!is_lanes(t)) {
		t->lanes.point = (struct lanes_point){0};
	} else if (lanes_point_mouse(t, mouse, &key)) {
		press_key(t, key);
		return;
	}
	switch (mouse.what) {
	case MOUSE_WHEEL_UP:
	case MOUSE_WHEEL_DOWN:
		turn_wheel(t, mouse);
		break;
	case MOUSE_PRESS:
	case MOUSE_DOUBLE:
		click_at(t, mouse.row, mouse.column);
		break;
	case MOUSE_NOTHING:
	case MOUSE_DRAG:
	case MOUSE_RELEASE:
		break;
	}
}
