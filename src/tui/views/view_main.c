/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view_main.c - the main screen. In nvitop's look, the GPUs, the host and the
 * processes are below each other and scroll together. Only the first line and
 * the titles of the processes stay in place.
 */
#include "tui/lanes/lanes.h"
#include "tui/views/main_screen.h"
#include "tui/views/view.h"

/*
 * Scrolls to the selected process. If the process would be visible with the
 * screen at its top, scrolls to the top.
 */
static void follow_selection(struct tui *t, const struct main_plan *plan,
			     int first_row)
{
	int line = first_row + view_process_line(t, plan, tui_selected(t));

	if (line < t->rows - 1)
		t->scroll = 0;
	else
		view_follow(t, line, MAIN_STICKY, t->rows - MAIN_STICKY - 1);
}

/* Draws the first line and, if they are scrolled away, the titles. */
static void draw_sticky(struct tui *t, struct grid *g,
			const struct main_plan *plan)
{
	int first = t->main.first_row - t->scroll;

	if (t->scroll <= 0)
		return;
	grid_blank(g, 0, 0, 1, g->columns);
	view_summary(t, g, 0);
	if (t->main.first_row < 0 || first - 2 >= 1 || t->rows <= MAIN_STICKY)
		return;
	grid_blank(g, 1, 0, 1, g->columns);
	view_process_titles(t, g, 1, plan);
	grid_mark(g, 1, 0, g->columns, GRID_BOLD, 0);
}

static int draw_waiting(struct grid *g)
{
	static const char text[] = "Reading the GPUs...";

	grid_line(g, 0, 0, text, sizeof text - 1, GRID_PLAIN);
	return 1;
}

static int draw_boxes(struct tui *t, struct grid *g)
{
	bool moved;
	struct main_plan plan;
	int line = 1;

	if (!t->snap)
		return draw_waiting(g);
	moved = view_selection_moved(t);
	plan = view_main_plan(t, moved);
	t->main.page = plan.page;
	line += view_devices_height(t, &plan) + view_host_height(t, &plan);
	t->main.ruled = !plan.processes_compact;
	t->main.first_row = t->options.processes_hidden
				? -1
				: line + (plan.processes_tight ? 2 : 5);
	if (moved && t->main.first_row >= 0)
		follow_selection(t, &plan, t->main.first_row);
	t->first_process_line = t->main.first_row - t->scroll;
	line = -t->scroll;
	view_summary(t, g, line++);
	line += view_devices(t, g, line, &plan);
	line += view_host(t, g, line, &plan);
	line += view_processes(t, g, line, &plan);
	draw_sticky(t, g, &plan);
	return line + t->scroll;
}

/* ---- actions ---- */

static bool turn_boxes_page(struct tui *t, int by)
{
	view_turn_page(t, by, t->snap ? view_main_plan(t, false).pages : 1);
	return true;
}

static bool scroll_page(struct tui *t, int by)
{
	int rows = t->rows - MAIN_STICKY - 1;

	t->scroll += by * (rows > 0 ? rows : 1);
	return true;
}

static bool act_on_boxes(struct tui *t, enum tui_action action)
{
	static const struct {
		enum tui_action action;
		bool (*does)(struct tui *t, int by);
		int by;
	} acts[] = {
	    {ACTION_DEVICES_PREVIOUS, turn_boxes_page, -1},
	    {ACTION_DEVICES_NEXT, turn_boxes_page, 1},
	    {ACTION_PAGE_UP, scroll_page, -1},
	    {ACTION_PAGE_DOWN, scroll_page, 1},
	    {ACTION_GRAPH, view_host_graph, 1},
	};

	for (size_t i = 0; i < sizeof acts / sizeof *acts; i++)
		if (acts[i].action == action)
			return acts[i].does(t, acts[i].by);
	return false;
}

/* ---- functions for both looks ---- */

int view_main(struct tui *t, struct grid *g)
{
	return t->options.look == LOOK_LANES ? lanes_draw(t, g)
					     : draw_boxes(t, g);
}

bool view_main_act(struct tui *t, enum tui_action action)
{
	return t->options.look == LOOK_LANES ? lanes_act(t, action)
					     : act_on_boxes(t, action);
}
