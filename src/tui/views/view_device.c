/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view_device.c - the screen of one GPU: graphs, facts, links and MIG devices.
 */
#include "base/str.h"
#include "format/names.h"
#include "tui/screen/box.h"
#include "tui/views/device_part.h"
#include "tui/model/facts.h"
#include "tui/lanes/device.h"
#include "tui/model/value.h"
#include "tui/views/view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FACT_WIDTH 40 /* minimum width of a fact */
#define HINT       "Left Right: GPU  g: graphs"
#define RED        1
#define CYAN       6

/* ---- the GPU on display ---- */

static bool is_gpu(const struct gk_device *d)
{
	return d->mig_index < 0;
}

/* Returns the chosen GPU, or else the first; NULL if there is none. */
static const struct gk_device *shown_device(const struct tui *t)
{
	const struct gk_device *d = gk_identity_find(&t->device.gpu, t->snap);

	if (d)
		return d;
	for (size_t i = 0; i < t->snap->device_count; i++)
		if (is_gpu(&t->snap->devices[i]))
			return &t->snap->devices[i];
	return NULL;
}

static void show_device(struct tui *t, const struct gk_device *d)
{
	t->device.gpu = gk_identity_of(d);
}

/* ---- the last values of the GPU ---- */

static void remember_device(struct tui_device *s, const struct gk_device *d)
{
	s->last = *d;
	if (!d->detail)
		return;
	s->last_detail = *d->detail;
	s->last.detail = &s->last_detail;
}

/* Keeps Xids up to date for a lost GPU too, because they are still reported. */
static void remember_xids(struct gk_device *last, const struct gk_device *d)
{
	static const enum gk_metric ids[] = {GK_M_XID_COUNT, GK_M_XID_LAST,
					     GK_M_XID_TIME};

	for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
		last->m[ids[i]] = d->m[ids[i]];
}

void view_device_frame(struct tui *t)
{
	const struct gk_device *d = shown_device(t);

	if (!d)
		return;
	view_device_links_frame(t, d);
	if (!view_device_is_silent(d))
		remember_device(&t->device, d);
	else if (view_device_values(t, d) != d)
		remember_xids(&t->device.last, d);
}

/* ---- opening and keys ---- */

/*
 * Returns the process in the snapshot. The tree has only one node for a process
 * on several GPUs.
 */
static const struct gk_process *listed_process(const struct tui *t,
					       const struct gk_process *p)
{
	const struct gk_process *list = t->snap->processes;

	if (p >= list && p < list + t->snap->process_count)
		return p;
	for (size_t i = 0; i < t->snap->process_count; i++)
		if (list[i].pid == p->pid &&
		    list[i].start_ticks == p->start_ticks)
			return &list[i];
	return NULL;
}

/* Shows the GPU of the selected process, or the first if it uses several. */
bool view_device_open(struct tui *t)
{
	const struct gk_process *chosen = tui_process(t);
	const struct gk_process *p = chosen ? listed_process(t, chosen) : NULL;
	const struct gk_device *d = p ? &t->snap->devices[p->device] : NULL;

	if (chosen && !p) {
		tui_say(t, "Process %d is on no GPU.", (int)chosen->pid);
		return false;
	}
	if (d && d->parent >= 0)
		d = &t->snap->devices[d->parent];
	if (d)
		show_device(t, d);
	if (!shown_device(t))
		tui_say(t, GK_NO_DEVICES ".");
	else
		view_device_frame(t);
	return shown_device(t) != NULL;
}

/* Shows the next (1) or previous (-1) GPU, wrapping around. */
static void step_device(struct tui *t, int by)
{
	int count = (int)t->snap->device_count;
	const struct gk_device *now = shown_device(t);
	int at;

	if (!now)
		return;
	at = (int)(now - t->snap->devices);
	do
		at = (at + by + count) % count;
	while (!is_gpu(&t->snap->devices[at]));
	show_device(t, &t->snap->devices[at]);
	view_device_frame(t);
}

int view_device_index(const struct tui *t)
{
	const struct gk_device *d = t->snap ? shown_device(t) : NULL;

	return d && t->screen == SCREEN_DEVICE ? (int)d->index : -1;
}

bool view_device_act(struct tui *t, enum tui_action action)
{
	if (action == ACTION_SCROLL_LEFT)
		step_device(t, -1);
	else if (action == ACTION_SCROLL_RIGHT)
		step_device(t, 1);
	else if (action == ACTION_GRAPH && t->options.look == LOOK_LANES)
		lanes_device_graphs_next(
		    t, view_device_values(t, shown_device(t)));
	else if (action == ACTION_GRAPH)
		view_device_graphs_next(t, shown_device(t));
	else
		return false;
	return true;
}

/* ---- text ---- */

static int text_columns(const struct grid *g)
{
	return g->columns < 2 * FACT_WIDTH ? 1 : g->columns / FACT_WIDTH;
}

static void draw_device_head(const struct tui *t, struct grid *g, int line,
			     const struct gk_device *d)
{
	struct grid_style style = {CYAN, GRID_REVERSE};
	char text[2 * GK_NAME_MAX + 16];
	int end, hint = g->columns - (int)strlen(HINT) - 1;

	snprintf(text, sizeof text, " GPU %u  %s  %s", d->index, d->name,
		 d->uuid);
	for (int c = 0; c < g->columns; c++)
		grid_line(g, line, c, " ", 1, style);
	end = box_text(g, line, 0, g->columns, text, style);
	if (hint > end)
		grid_line(g, line, hint, HINT, strlen(HINT), style);
	(void)t;
}

/* Cuts the final part in brackets off a text that is too long. */
static void cut_brackets(struct gk_buf *text, int width)
{
	char *bracket = text->len ? strstr(text->data, " (") : NULL;

	if (bracket && (int)gk_columns(text->data, text->len) > width) {
		*bracket = '\0';
		text->len = (size_t)(bracket - text->data);
	}
}

static void draw_fact(const struct tui *t, struct grid *g, int line, int column,
		      int width, const struct gk_device *d, int fact)
{
	struct grid_style style = GRID_PLAIN;
	struct gk_buf text = {0}, cell = {0};
	int room = width - DEVICE_TITLE_WIDTH - 2;

	room = room > 0 ? room : 0;
	if (tui_fact_is_section(fact)) {
		box_text(g, line, column + 1, width - 2, tui_fact_title(fact),
			 (struct grid_style){GRID_COLOR_NONE, GRID_BOLD});
		return;
	}
	gk_cell(&text, tui_fact_title(fact), DEVICE_TITLE_WIDTH - 1, GK_LEFT,
		"");
	grid_line(g, line, column + 1, text.data, text.len,
		  (struct grid_style){CYAN, 0});
	text.len = 0;
	if (!tui_fact_add(&text, fact, t->snap, d))
		style = (struct grid_style){GRID_COLOR_NONE, GRID_DIM};
	cut_brackets(&text, room);
	gk_cell(&cell, text.data, (size_t)room, GK_LEFT, "+");
	box_text(g, line, column + DEVICE_TITLE_WIDTH + 1, room, cell.data,
		 style);
	gk_buf_free(&text);
	gk_buf_free(&cell);
}

/* ---- laying out facts ---- */

/*
 * Chooses the facts to show. Leaves out the headings of empty sections. Returns
 * their number.
 */
static int choose_facts(const struct tui *t, const struct gk_device *d,
			int first, int chosen[])
{
	int count = 0;

	for (int fact = first; fact < tui_fact_count(); fact++) {
		if (tui_fact_is_unsupported(fact, t->snap, d))
			continue;
		if (tui_fact_is_section(fact) && count &&
		    tui_fact_is_section(chosen[count - 1]))
			count--;
		chosen[count++] = fact;
	}
	return count;
}

/*
 * Distributes facts over columns of `rows` rows. A heading is never in the last
 * row of a column. Returns the number of columns used. If line is negative,
 * draws nothing.
 */
static int flow_facts(const struct tui *t, struct grid *g, int line, int rows,
		      const struct gk_device *d, const int chosen[], int count)
{
	int width = g->columns / text_columns(g), row = 0, column = 0;

	for (int i = 0; i < count; i++) {
		bool last = row == rows - 1;

		if (row == rows || (last && tui_fact_is_section(chosen[i]))) {
			row = 0;
			column++;
		}
		if (line >= 0)
			draw_fact(t, g, line + row, column * width, width, d,
				  chosen[i]);
		row++;
	}
	return column + 1;
}

static int draw_unsupported_facts(const struct tui *t, struct grid *g, int line,
				  const struct gk_device *d)
{
	struct grid_style dim = {GRID_COLOR_NONE, GRID_DIM};
	struct gk_buf text = {0};
	bool any;

	tui_facts_add_unsupported(&text, t->snap, d);
	any = text.len;
	if (any) {
		view_device_title(g, line, "Not supported");
		box_text(g, line, DEVICE_TITLE_WIDTH + 1, g->columns - 1,
			 text.data, dim);
	}
	gk_buf_free(&text);
	return any;
}

/* Draws the long facts first, each on a line of its own. */
static int draw_facts(const struct tui *t, struct grid *g, int line,
		      const struct gk_device *d)
{
	int columns = text_columns(g), n = 0, first = line, count, rows;
	int *chosen = calloc((size_t)tui_fact_count() + 1, sizeof *chosen);

	if (!chosen)
		return 0;
	for (; n < tui_fact_count() && tui_fact_is_long(n); n++)
		draw_fact(t, g, line++, 0, g->columns, d, n);
	count = choose_facts(t, d, n, chosen);
	rows = (count + columns - 1) / columns;
	while (flow_facts(t, g, -1, rows, d, chosen, count) > columns)
		rows++;
	flow_facts(t, g, line, rows, d, chosen, count);
	free(chosen);
	line += rows;
	return line + draw_unsupported_facts(t, g, line, d) - first;
}

/* Draws what is wrong with the GPU, if anything is. */
static int draw_device_trouble(const struct tui *t, struct grid *g, int line,
			       const struct gk_device *d)
{
	struct grid_style style = {RED, GRID_BOLD | GRID_REVERSE};
	char text[2 * GK_NAME_MAX + 64];

	view_device_trouble(t, d, text, sizeof text);
	if (!*text)
		return 0;
	for (int c = 0; c < g->columns; c++)
		grid_line(g, line, c, " ", 1, style);
	box_text(g, line, 0, g->columns, text, style);
	return 1;
}

/* Draws everything below the graphs. */
static int draw_device_body(const struct tui *t, struct grid *g, int line,
			    const struct gk_device *d)
{
	const struct gk_device *values = view_device_values(t, d);
	int begin = line;

	line += draw_facts(t, g, line, values);
	line += view_device_peers(t, g, line, d);
	line += view_device_links(t, g, line, values);

	line += view_device_migs(t, g, line, d);
	return line - begin;
}

/*
 * Returns the rows that remain for graphs. Measures the rest of the screen by
 * drawing it below the grid.
 */
static int graph_rows(const struct tui *t, struct grid *g,
		      const struct gk_device *d)
{
	int rest = g->rows - 1 - draw_device_trouble(t, g, g->rows, d) -
		   draw_device_body(t, g, g->rows, d);
	int least = view_device_graphs_least(g->rows);

	return rest > least ? rest : least;
}

int view_device(struct tui *t, struct grid *g)
{
	const struct gk_device *d = shown_device(t);
	int line = 1 - t->scroll;

	t->first_process_line = -1;
	if (!d) {
		grid_line(g, 0, 1, GK_NO_DEVICES, strlen(GK_NO_DEVICES),
			  GRID_PLAIN);
		return 1;
	}
	if (t->options.look == LOOK_LANES)
		return lanes_device(t, g, d, view_device_values(t, d));
	line += draw_device_trouble(t, g, line, d);
	line += view_device_graphs(t, g, line, graph_rows(t, g, d), d);
	line += draw_device_body(t, g, line, d);
	draw_device_head(t, g, 0, d);
	return line + t->scroll;
}
