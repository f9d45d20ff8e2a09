/*
 * view_main.c - the main screen: GPUs over the host over the processes, as
 * tall as the terminal allows, the whole of it scrolled where it is taller.
 * The first line, and the titles of the processes, stay.
 */
#include "tui/lanes/lanes.h"
#include "tui/main_screen.h"
#include "tui/view.h"

#include <string.h>

int view_lines(struct grid *g, int line, const struct gk_buf *text)
{
	const char *at = text->data, *end = at + text->len;
	int count = 0;

	while (at && at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		const char *stop = newline ? newline : end;

		grid_line(g, line + count++, 0, at, (size_t)(stop - at),
			  GRID_PLAIN);
		at = newline ? newline + 1 : end;
	}
	return count;
}

/* Whether another process was selected since the screen was drawn. */
static bool selection_moved(struct tui *t)
{
	struct tui_main *m = &t->main;
	long at = tui_selected(t);
	const struct gk_process *p =
	    at < 0 ? NULL : &t->snap->processes[t->list[at]];
	pid_t pid = p ? p->pid : 0;
	unsigned device = p ? p->device : 0;
	bool moved =
	    p && (pid != m->followed_pid || device != m->followed_device);

	m->followed_pid = pid;
	m->followed_device = device;
	return moved;
}

/* Scrolls to the selected process; to the top where it is seen from there. */
static void follow_selection(struct tui *t, const struct main_plan *plan,
			     int first_row)
{
	int line = first_row + view_process_line(t, plan, tui_selected(t));

	if (line < t->rows - 1)
		t->scroll = 0;
	else
		view_follow(t, line, MAIN_STICKY, t->rows - MAIN_STICKY - 1);
}

/* The first line, and the titles when they have been scrolled away. */
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
	moved = selection_moved(t);
	plan = main_plan(t, moved);
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

/* ---- its keys ---- */

static bool turn_page(struct tui *t, int by)
{
	int pages = t->snap ? main_plan(t, false).pages : 1;

	t->main.page += by;
	if (pages < 2)
		tui_say(t, "All GPUs are shown.");
	if (t->main.page >= pages)
		t->main.page = pages - 1;
	if (t->main.page < 0)
		t->main.page = 0;
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
	    {ACTION_DEVICES_PREVIOUS, turn_page, -1},
	    {ACTION_DEVICES_NEXT, turn_page, 1},
	    {ACTION_PAGE_UP, scroll_page, -1},
	    {ACTION_PAGE_DOWN, scroll_page, 1},
	    {ACTION_GRAPH, view_host_graph, 1},
	};

	for (size_t i = 0; i < sizeof acts / sizeof *acts; i++)
		if (acts[i].action == action)
			return acts[i].does(t, acts[i].by);
	return false;
}

/* ---- either look ---- */

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
