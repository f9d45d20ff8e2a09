/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view.c - owns the table of screens and draws the top one. If a screen has no
 * row in the table, its key prints a message that it does not exist.
 */
#include "tui/lanes/part.h"
#include "tui/views/view.h"

#include <string.h>

/* ---- the main screen's list ---- */

static size_t main_count(const struct tui *t)
{
	return t->list_count;
}

static void main_text(const struct tui *t, size_t at, struct gk_buf *out)
{
	tui_search_process(&t->snap->processes[t->list[at]], out);
}

static const struct gk_process *main_process(const struct tui *t)
{
	long at = tui_selected(t);

	return at < 0 ? NULL : &t->snap->processes[t->list[at]];
}

const struct view tui_views[SCREEN_COUNT] = {
    [SCREEN_MAIN] = {.title = "main",
		     .draw = view_main,
		     .act = view_main_act,
		     .at = view_main_at,
		     .count = main_count,
		     .selected = tui_selected,
		     .select = tui_select,
		     .text = main_text,
		     .process = main_process,
		     .scrolls_whole = true},
    [SCREEN_TREE] = {.title = "tree",
		     .draw = view_tree,
		     .open = view_tree_open,
		     .close = view_tree_close,
		     .frame = view_tree_frame,
		     .act = view_tree_act,
		     .count = view_tree_count,
		     .selected = view_tree_selected,
		     .select = view_tree_select,
		     .at = view_tree_at,
		     .text = view_tree_text,
		     .process = view_tree_process,
		     .step = 5},
    [SCREEN_METRICS] = {.title = "process",
			.draw = view_metrics,
			.open = view_metrics_open,
			.process = view_metrics_process},
    [SCREEN_ENVIRON] = {.title = "environment",
			.draw = view_environ,
			.open = view_environ_open,
			.close = view_environ_close,
			.act = view_environ_act,
			.count = view_environ_count,
			.selected = view_environ_selected,
			.select = view_environ_select,
			.at = view_environ_at,
			.text = view_environ_text,
			.process = view_environ_process,
			.step = 5},
    [SCREEN_HELP] = {.title = "help", .draw = view_help, .act = view_help_act},
    [SCREEN_DEVICE] = {.title = "device",
		       .draw = view_device,
		       .open = view_device_open,
		       .frame = view_device_frame,
		       .act = view_device_act},
    [SCREEN_USERS] = {.title = "users",
		      .draw = view_users,
		      .open = view_users_open,
		      .close = view_users_close,
		      .frame = view_users_frame,
		      .act = view_users_act,
		      .count = view_users_count,
		      .selected = view_users_selected,
		      .select = view_users_select,
		      .at = view_users_at,
		      .text = view_users_text},
    [SCREEN_SETTINGS] = {.title = "settings",
			 .draw = view_settings,
			 .open = view_settings_open,
			 .act = view_settings_act,
			 .count = view_settings_count,
			 .selected = view_settings_selected,
			 .select = view_settings_select,
			 .at = view_settings_at,
			 .text = view_settings_text},
    [SCREEN_HOSTS] = {.title = "hosts",
		      .draw = view_hosts,
		      .act = view_hosts_act,
		      .count = view_hosts_count,
		      .selected = view_hosts_selected,
		      .select = view_hosts_select,
		      .at = view_hosts_at,
		      .text = view_hosts_text},
    [SCREEN_ALERTS] = {.title = "alerts",
		       .draw = view_alerts,
		       .open = view_alerts_open,
		       .act = view_alerts_act,
		       .at = view_alerts_at,
		       .count = view_alerts_count,
		       .selected = view_alerts_selected,
		       .select = view_alerts_select,
		       .text = view_alerts_text},
};

/* ---- drawing ---- */

static int clamp_int(int value, int low, int high)
{
	return value > high  ? (high > low ? high : low)
	       : value < low ? low
			     : value;
}

/*
 * Draws at the right of the last row how the time shown differs from the
 * default.
 */
static void draw_time_note(const struct tui *t, struct grid *g)
{
	char text[64];
	int column;

	tui_time_text(t, text);
	column = g->columns - (int)strlen(text) - 2;
	if (!*text || column < 0)
		return;
	grid_line(g, g->rows - 1, column, " ", 1, GRID_PLAIN);
	grid_line(g, g->rows - 1, column + 1, text, strlen(text),
		  (struct grid_style){3, GRID_BOLD | GRID_REVERSE});
}

static bool is_blank(const struct grid *g, int row, int from)
{
	for (int c = from < 0 ? 0 : from; c < g->columns; c++)
		if (grid_at(g, row, c)->c != L' ')
			return false;
	return true;
}

/*
 * In lanes, draws how far a screen is scrolled: a bar at the right, and the
 * numbers of the visible lines in the last row or, if only that has space, in
 * the first.
 */
static void draw_scroll_marks(const struct tui *t, struct grid *g)
{
	const struct view *view = view_of(t);
	int hidden = t->line_count - t->rows, rows = g->rows - 2, at, row;
	int all = view->count ? (int)view->count(t) : t->line_count;
	char place[64];

	if (hidden <= 0 || rows < 1)
		return;
	lanes_scroll_bar(t, g, 1, rows, hidden + rows);
	lanes_range_text(t->scroll, all - hidden, all, place, sizeof place);
	at = g->columns - 1 - lanes_width(place);
	row = is_blank(g, 0, at) && !is_blank(g, g->rows - 1, at) ? 0
								  : g->rows - 1;
	lanes_put(g, row, at < 0 ? 0 : at,
		  at < 0 ? GRID_PLAIN : grid_at(g, row, at)->style, "%s",
		  place);
}

/* Whether a screen draws the time and the scroll position itself. */
static bool tells_all(const struct tui *t)
{
	bool lanes = t->options.look == LOOK_LANES;

	return t->screen == SCREEN_HOSTS || t->screen == SCREEN_ALERTS ||
	       (lanes && t->screen == SCREEN_MAIN);
}

/* Draws a second time if the screen was scrolled past its end. */
void tui_draw(struct tui *t, struct grid *g)
{
	for (int i = 0; i < 2; i++) {
		int scroll;

		grid_clear(g);
		t->line_count = view_of(t)->draw(t, g);
		scroll = clamp_int(t->scroll, 0, t->line_count - t->rows);
		if (scroll == t->scroll)
			break;
		t->scroll = scroll;
	}
	if (!tells_all(t))
		draw_time_note(t, g);
	if (!tells_all(t) && t->options.look == LOOK_LANES &&
	    t->screen != SCREEN_DEVICE)
		draw_scroll_marks(t, g);
	t->drawn = g;
}
