/* SPDX-License-Identifier: Apache-2.0 */
/* update.c - performs actions on the model. */
#include "tui/screen/layer.h"
#include "tui/views/view.h"

#define SCROLL_HOST 2
#define FAR_RIGHT   1000000

static void quit_viewer(struct tui *t)
{
	t->quit =
	    !tui_back(t); /* goes from a host's screen back to all hosts */
}

static void go_back(struct tui *t)
{
	tui_back(t);
}

static void toggle_pause(struct tui *t)
{
	t->paused = !t->paused;
}

/* ---- selection ---- */

/*
 * Moves the selection. If it is at an end, and the screen scrolls as a whole,
 * scrolls the screen by one line instead.
 */
static void move_selection(struct tui *t, long by)
{
	const struct view *view = view_of(t);
	long at = view->select ? view->selected(t) : -1;
	long last = view->select ? (long)view->count(t) - 1 : -1;

	if (at < 0)
		at = by > 0 ? -1 : last + 1;
	if (at + by >= 0 && at + by <= last)
		view->select(t, at + by);
	else if (view->scrolls_whole || !view->select)
		t->scroll += by > 0 ? 1 : -1;
	else if (last >= 0)
		view->select(t, by > 0 ? last : 0);
}

static void select_previous(struct tui *t)
{
	move_selection(t, -1);
}

static void select_next(struct tui *t)
{
	move_selection(t, 1);
}

static void select_first(struct tui *t)
{
	if (view_of(t)->select)
		view_of(t)->select(t, 0);
	else
		t->scroll = 0;
}

static void select_last(struct tui *t)
{
	const struct view *view = view_of(t);

	if (view->select)
		view->select(t, (long)view->count(t) - 1);
	else
		t->scroll = t->line_count;
}

static void tag_process(struct tui *t)
{
	const struct gk_process *p = tui_process(t);

	if (p)
		tui_tag_toggle(t, p);
	move_selection(t, 1);
}

/*
 * Clears selection and tags. If there were none, clears the filter. If there
 * was no filter either, leaves the screen.
 */
static void clear_view(struct tui *t)
{
	bool more = tui_selected(t) >= 0 || t->tag_count;

	tui_select(t, -1);
	t->tag_count = 0;
	if (!more && t->words.count)
		tui_filter_by(t, "");
	else if (!more)
		tui_back(t);
}

static void refresh_now(struct tui *t)
{
	tui_select(t, -1);
	t->tag_count = 0;
	t->scroll = t->scroll_left = 0;
	term_forget();
}

/* ---- scrolling ---- */

static void move_page(struct tui *t, int by)
{
	const struct view *view = view_of(t);

	if (view->select && !view->scrolls_whole)
		move_selection(t, by);
	else
		t->scroll += by;
}

static void page_up(struct tui *t)
{
	move_page(t, 1 - t->rows);
}

static void page_down(struct tui *t)
{
	move_page(t, t->rows - 1);
}

static int page_lines(const struct tui *t)
{
	return view_of(t)->step ? view_of(t)->step : SCROLL_HOST;
}

static void scroll_left(struct tui *t)
{
	t->scroll_left -= page_lines(t);
}

static void scroll_right(struct tui *t)
{
	t->scroll_left += page_lines(t);
}

static void scroll_start(struct tui *t)
{
	t->scroll_left = 0;
}

static void scroll_end(struct tui *t)
{
	t->scroll_left = FAR_RIGHT;
}

/* ---- time ---- */

static void time_back(struct tui *t)
{
	tui_time_move(t, -1);
}

static void time_forward(struct tui *t)
{
	tui_time_move(t, 1);
}

static void zoom_in(struct tui *t)
{
	tui_time_zoom(t, -1);
}

static void zoom_out(struct tui *t)
{
	tui_time_zoom(t, 1);
}

static void slow_down(struct tui *t)
{
	tui_time_faster(t, -1);
}

static void speed_up(struct tui *t)
{
	tui_time_faster(t, 1);
}

/* ---- display ---- */

static void mode_auto(struct tui *t)
{
	t->options.mode = MODE_AUTO;
}

static void mode_full(struct tui *t)
{
	t->options.mode = MODE_FULL;
}

static void mode_compact(struct tui *t)
{
	t->options.mode = MODE_COMPACT;
}

static void (*const handlers[ACTION_COUNT])(struct tui *t) = {
    [ACTION_QUIT] = quit_viewer,
    [ACTION_BACK] = go_back,
    [ACTION_PAUSE] = toggle_pause,
    [ACTION_REFRESH] = refresh_now,
    [ACTION_MODE_AUTO] = mode_auto,
    [ACTION_MODE_FULL] = mode_full,
    [ACTION_MODE_COMPACT] = mode_compact,
    [ACTION_SELECT_PREVIOUS] = select_previous,
    [ACTION_SELECT_NEXT] = select_next,
    [ACTION_SELECT_FIRST] = select_first,
    [ACTION_SELECT_LAST] = select_last,
    [ACTION_TAG] = tag_process,
    [ACTION_CLEAR] = clear_view,
    [ACTION_INTERRUPT] = tui_ask_interrupt,
    [ACTION_TERMINATE] = tui_ask_terminate,
    [ACTION_KILL] = tui_ask_kill,
    [ACTION_SIGNAL_TREE] = tui_ask_tree,
    [ACTION_RENICE] = tui_ask_renice,
    [ACTION_SEARCH] = tui_ask_search,
    [ACTION_SEARCH_NEXT] = tui_search_next,
    [ACTION_FILTER] = tui_ask_filter,
    [ACTION_PAGE_UP] = page_up,
    [ACTION_PAGE_DOWN] = page_down,
    [ACTION_SCROLL_LEFT] = scroll_left,
    [ACTION_SCROLL_RIGHT] = scroll_right,
    [ACTION_SCROLL_START] = scroll_start,
    [ACTION_SCROLL_END] = scroll_end,
    [ACTION_TIME_BACK] = time_back,
    [ACTION_TIME_FORWARD] = time_forward,
    [ACTION_TIME_NOW] = tui_time_now,
    [ACTION_ZOOM_IN] = zoom_in,
    [ACTION_ZOOM_OUT] = zoom_out,
    [ACTION_SLOWER] = slow_down,
    [ACTION_FASTER] = speed_up,
};

static const struct {
	enum tui_action action;
	enum tui_screen screen;
} screens[] = {
    {ACTION_TREE, SCREEN_TREE},         {ACTION_METRICS, SCREEN_METRICS},
    {ACTION_ENVIRON, SCREEN_ENVIRON},   {ACTION_HELP, SCREEN_HELP},
    {ACTION_DEVICE, SCREEN_DEVICE},     {ACTION_USERS, SCREEN_USERS},
    {ACTION_SETTINGS, SCREEN_SETTINGS}, {ACTION_ALERTS, SCREEN_ALERTS},
};

static bool open_by_action(struct tui *t, enum tui_action action)
{
	for (size_t i = 0; i < sizeof screens / sizeof *screens; i++) {
		if (screens[i].action != action)
			continue;
		if ((action != ACTION_TREE && action != ACTION_ENVIRON) ||
		    !tui_replay_refuses(t))
			tui_open(t, screens[i].screen);
		return true;
	}
	return false;
}

void tui_do(struct tui *t, enum tui_action action)
{
	const struct view *view = view_of(t);

	/* Before the first frame, actions have no effect. */
	if (!t->snap && action != ACTION_QUIT)
		return;
	if (view->act && view->act(t, action))
		return;
	if (handlers[action])
		handlers[action](t);
	else if (!open_by_action(t, action))
		tui_order_act(t, action);
}
