/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lanes.c - draws the main screen of lanes from its parts, and handles its
 * actions.
 */
#include "tui/lanes/lanes.h"

#include "format/names.h"
#include "tui/lanes/part.h"
#include "tui/lanes/point.h"
#include "tui/views/view.h"

#include <stdio.h>

/* ---- drawing ---- */

static void draw_gpu(struct tui *t, struct grid *g, int row,
		     const struct lanes_plan *plan, size_t device)
{
	switch (plan->form) {
	case FORM_LINE:
		lanes_line(t, g, row, plan, device);
		break;
	case FORM_PAIR:
		lanes_pair(t, g, row, plan, device);
		break;
	case FORM_PANEL:
		lanes_panel(t, g, row, plan, device);
		break;
	case FORM_SOLO:
		lanes_solo(t, g, row, plan, device);
		break;
	}
}

static void draw_gpus(struct tui *t, struct grid *g,
		      const struct lanes_plan *plan)
{
	int row = plan->lanes_row;

	if (!lanes_gpus(t))
		lanes_put(g, row, 1, lanes_ink(t, INK_DIM), GK_NO_DEVICES);
	for (size_t i = 0; i < plan->count; i++) {
		size_t number = plan->first + i, device = lanes_gpu(t, number);
		int height = plan->form == FORM_SOLO
				 ? plan->lanes_rows
				 : lanes_height(t, plan, number);

		draw_gpu(t, g, row, plan, device);
		lanes_hit(t, (struct lanes_hit){.kind = HIT_GPU,
						.row = row,
						.rows = height,
						.columns = g->columns,
						.id = (int)device});
		row += height + plan->gap;
	}
}

/* If not all GPUs fit, writes into the rule below them which ones are shown. */
static void draw_page(const struct tui *t, struct grid *g,
		      const struct lanes_plan *plan)
{
	const struct gk_device *d = t->snap->devices;
	int row = plan->rule_row;
	char text[96];
	int width;

	if (plan->pages < 2 || row < 0)
		return;
	snprintf(text, sizeof text, " GPU %u–%u of %zu  {} ",
		 d[lanes_gpu(t, plan->first)].index,
		 d[lanes_gpu(t, plan->first + plan->count - 1)].index,
		 lanes_gpus(t));
	width = lanes_width(text);
	lanes_put(g, row, (g->columns - width) / 2, lanes_ink(t, INK_ACCENT),
		  "%s", text);
}

static void draw_lane_titles(const struct tui *t, struct grid *g,
			     const struct lanes_plan *plan)
{
	if (plan->titles_row < 0)
		return;
	if (plan->form == FORM_LINE)
		lanes_line_titles(t, g, plan->titles_row);
	else
		lanes_wide_titles(t, g, plan->titles_row);
}

static void draw_axis(const struct tui *t, struct grid *g,
		      const struct lanes_plan *plan)
{
	if (plan->axis_row < 0)
		return;
	if (plan->form == FORM_SOLO)
		lanes_solo_axis(t, g, plan->axis_row);
	else
		lanes_panel_axis(t, g, plan->axis_row);
}

/* ---- the whole screen ---- */

int lanes_draw(struct tui *t, struct grid *g)
{
	char text[TUI_HOSTS_TEXT];
	struct lanes_plan plan;

	t->lanes.hit_count = 0;
	if (!t->snap) {
		lanes_put(g, 0, 1, lanes_ink(t, INK_DIM), "%s",
			  tui_hosts_waiting(t, text));
		return 1;
	}
	lanes_frame(t);
	lanes_point_check(t);
	plan = lanes_plan(t, lanes_alert_count(t));
	t->main.page = plan.page;
	if (view_selection_moved(t))
		view_follow(t, (int)tui_selected(t), 0, plan.list_rows);
	view_limit_scroll(t, (int)t->list_count - plan.list_rows);
	t->lanes.list_row = plan.list_row;
	t->lanes.list_rows = plan.list_rows;
	t->first_process_line = plan.list_row - t->scroll;
	lanes_head(t, g, &plan);
	if (plan.host)
		lanes_host(t, g, &plan);
	draw_lane_titles(t, g, &plan);
	if (plan.lanes_rows > 0)
		draw_gpus(t, g, &plan);
	draw_axis(t, g, &plan);
	if (plan.alerts)
		lanes_alerts(t, g, &plan);
	if (plan.processes)
		lanes_processes(t, g, &plan);
	draw_page(t, g, &plan);
	lanes_footer(t, g, &plan);
	lanes_point_draw(t, g);
	return (int)t->list_count - plan.list_rows + t->rows;
}

/* ---- keys ---- */

static bool turn_lanes_page(struct tui *t, int by)
{
	view_turn_page(t, by, t->snap ? lanes_plan(t, 0).pages : 1);
	return true;
}

static bool turn_list(struct tui *t, int by)
{
	int rows = t->lanes.list_rows;

	t->scroll += by * (rows > 0 ? rows : 1);
	return true;
}

/* Switches from braille to blocks, to ASCII, and back. */
static bool next_graph(struct tui *t, int by)
{
	t->options.graph =
	    (enum tui_graph)(((int)t->options.graph + by) % (GRAPH_ASCII + 1));
	return true;
}

bool lanes_act(struct tui *t, enum tui_action action)
{
	static const struct {
		enum tui_action action;
		bool (*does)(struct tui *t, int by);
		int by;
	} acts[] = {
	    {ACTION_DEVICES_PREVIOUS, turn_lanes_page, -1},
	    {ACTION_DEVICES_NEXT, turn_lanes_page, 1},
	    {ACTION_PAGE_UP, turn_list, -1},
	    {ACTION_PAGE_DOWN, turn_list, 1},
	    {ACTION_GRAPH, next_graph, 1},
	};

	for (size_t i = 0; i < sizeof acts / sizeof *acts; i++)
		if (acts[i].action == action)
			return acts[i].does(t, acts[i].by);
	return false;
}
