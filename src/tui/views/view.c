/*
 * view.c - the screens: one row each, and which of them is on top. A screen
 * without a row does not exist yet, and its key says so.
 */
#include "tui/lanes/part.h"
#include "tui/view.h"

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

static const struct view views[SCREEN_COUNT] = {
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

const struct view *view_of(const struct tui *t)
{
	return &views[t->screen];
}

const struct gk_process *tui_process(const struct tui *t)
{
	const struct view *view = view_of(t);

	return view->process ? view->process(t) : NULL;
}

/* ---- which screen is on top ---- */

bool tui_back(struct tui *t)
{
	struct tui_place *place;

	if (!t->below_count)
		return false;
	if (views[t->screen].close)
		views[t->screen].close(t);
	place = &t->below[--t->below_count];
	t->screen = place->screen;
	t->scroll = place->scroll;
	t->scroll_left = place->scroll_left;
	return true;
}

static bool is_below(const struct tui *t, enum tui_screen screen)
{
	for (int i = 0; i < t->below_count; i++)
		if (t->below[i].screen == screen)
			return true;
	return false;
}

static void put_on_top(struct tui *t, enum tui_screen screen)
{
	const struct view *view = &views[screen];

	if (!view->draw) {
		tui_say(t, "There is no %s screen yet.", view->title);
		return;
	}
	if (view->open && !view->open(t))
		return;
	t->below[t->below_count++] =
	    (struct tui_place){t->screen, t->scroll, t->scroll_left};
	t->screen = screen;
	t->scroll = t->scroll_left = 0;
}

void tui_open(struct tui *t, enum tui_screen screen)
{
	if (screen == t->screen) {
		tui_back(t);
	} else if (is_below(t, screen)) {
		while (t->screen != screen)
			tui_back(t);
	} else {
		put_on_top(t, screen);
	}
}

void tui_frame(struct tui *t)
{
	lanes_frame(t);
	for (int i = 0; i < t->below_count; i++)
		if (views[t->below[i].screen].frame)
			views[t->below[i].screen].frame(t);
	if (views[t->screen].frame)
		views[t->screen].frame(t);
}

/* ---- drawing ---- */

static int clamp_int(int value, int low, int high)
{
	return value > high  ? (high > low ? high : low)
	       : value < low ? low
			     : value;
}

/* Tells what is unusual about the time, at the right of the last row. */
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
 * How far a screen is scrolled, in lanes: a bar at the right, and which lines
 * these are, in the first row where only that has room.
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
	lanes_place_text(t->scroll, all - hidden, all, place, sizeof place);
	at = g->columns - 1 - lanes_width(place);
	row = is_blank(g, 0, at) && !is_blank(g, g->rows - 1, at) ? 0
								  : g->rows - 1;
	lanes_put(g, row, at < 0 ? 0 : at,
		  at < 0 ? GRID_PLAIN : grid_at(g, row, at)->style, "%s",
		  place);
}

/* Lanes' own screens tell time and place by themselves. */
static bool tells_all(const struct tui *t)
{
	bool lanes = t->options.look == LOOK_LANES;

	return t->screen == SCREEN_HOSTS || t->screen == SCREEN_ALERTS ||
	       (lanes && t->screen == SCREEN_MAIN);
}

/* The scroll that went past the end is drawn again. */
void tui_draw(struct tui *t, struct grid *g)
{
	for (int i = 0; i < 2; i++) {
		int scroll;

		grid_clear(g);
		t->line_count = views[t->screen].draw(t, g);
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

void view_follow(struct tui *t, int line, int first, int rows)
{
	if (line < 0 || rows <= 0)
		return;
	if (line - t->scroll < first)
		t->scroll = line - first;
	if (line - t->scroll >= first + rows)
		t->scroll = line - first - rows + 1;
}
