/*
 * view_device.c - the screen of one GPU: all that is known of it, its MIG
 * devices, and graphs of what it did.
 */
#include "base/str.h"
#include "format/names.h"
#include "tui/box.h"
#include "tui/facts.h"
#include "tui/plot.h"
#include "tui/value.h"
#include "tui/view.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define FACT_WIDTH  38 /* columns that a fact wants */
#define TITLE_WIDTH 19
#define GRAPH_ROWS  9 /* at least: two graphs, their axis, the borders */
#define GRAPHS      4 /* at a time */
#define PAGES       (GK_HD_COUNT / GRAPHS)
#define HINT        "Left Right: GPU  g: graphs"
#define RED         1
#define CYAN        6

/* ---- which GPU ---- */

static bool is_gpu(const struct gk_device *d)
{
	return d->mig_index < 0;
}

/* NULL: there is none at all. */
static const struct gk_device *shown(const struct tui *t)
{
	const struct gk_device *first = NULL;

	for (size_t i = 0; i < t->snap->device_count; i++) {
		const struct gk_device *d = &t->snap->devices[i];

		if (!is_gpu(d))
			continue;
		if (!strcmp(d->uuid, t->device.uuid))
			return d;
		first = first ? first : d;
	}
	return first;
}

static void show(struct tui *t, const struct gk_device *d)
{
	gk_str_copy(t->device.uuid, sizeof t->device.uuid, d->uuid);
}

/* Opens at the GPU of the selected process. */
bool view_device_open(struct tui *t)
{
	const struct gk_process *p = tui_process(t);
	const struct gk_device *d = p ? &t->snap->devices[p->device] : NULL;

	if (d && d->parent >= 0)
		d = &t->snap->devices[d->parent];
	if (d)
		show(t, d);
	if (!shown(t))
		tui_say(t, GK_NO_DEVICES ".");
	return shown(t) != NULL;
}

/* The next one in the list, round about; by is 1 or -1. */
static void step(struct tui *t, int by)
{
	int count = (int)t->snap->device_count;
	const struct gk_device *now = shown(t);
	int at;

	if (!now)
		return;
	at = (int)(now - t->snap->devices);
	do
		at = (at + by + count) % count;
	while (!is_gpu(&t->snap->devices[at]));
	show(t, &t->snap->devices[at]);
}

int view_device_index(const struct tui *t)
{
	const struct gk_device *d = t->snap ? shown(t) : NULL;

	return d && t->screen == SCREEN_DEVICE ? (int)d->index : -1;
}

bool view_device_act(struct tui *t, enum tui_action action)
{
	if (action == ACTION_SCROLL_LEFT)
		step(t, -1);
	else if (action == ACTION_SCROLL_RIGHT)
		step(t, 1);
	else if (action == ACTION_GRAPH)
		t->device.graphs = (t->device.graphs + 1) % PAGES;
	else
		return false;
	return true;
}

/* ---- text ---- */

static int text_columns(const struct grid *g)
{
	return g->columns < 2 * FACT_WIDTH ? 1 : g->columns / FACT_WIDTH;
}

static int fact_rows(const struct grid *g)
{
	int columns = text_columns(g);

	return (tui_fact_count() - 1 + columns - 1) / columns;
}

static void draw_head(const struct tui *t, struct grid *g, int line,
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

static void draw_fact(const struct tui *t, struct grid *g, int line, int column,
		      int width, int fact)
{
	const struct gk_device *d = shown(t);
	struct grid_style style = GRID_PLAIN;
	struct gk_buf text = {0};

	gk_cell(&text, tui_fact_title(fact), TITLE_WIDTH - 1, GK_LEFT, "");
	grid_line(g, line, column + 1, text.data, text.len,
		  (struct grid_style){CYAN, 0});
	text.len = 0;
	tui_fact_add(&text, fact, t->snap, d);
	if (fact == 0 && d->health != GK_HEALTH_OK)
		style = (struct grid_style){RED, GRID_BOLD};
	box_text(g, line, column + TITLE_WIDTH + 1, width - TITLE_WIDTH - 2,
		 text.data, style);
	gk_buf_free(&text);
}

/* Column by column, so that what belongs together stays together. */
static int draw_facts(const struct tui *t, struct grid *g, int line)
{
	int columns = text_columns(g), rows = fact_rows(g);
	int width = g->columns / columns, last = tui_fact_count() - 1;

	for (int i = 0; i < last; i++)
		draw_fact(t, g, line + i % rows, i / rows * width, width, i);
	draw_fact(t, g, line + rows, 0, g->columns, last);
	return rows + 1;
}

static int draw_migs(const struct tui *t, struct grid *g, int line,
		     const struct gk_device *gpu)
{
	int rows = 0;

	for (size_t i = 0; i < t->snap->device_count; i++) {
		const struct gk_device *d = &t->snap->devices[i];
		const char *profile = strrchr(d->name, ' ');
		char text[256], used[GK_UNITS_MAX], total[GK_UNITS_MAX];

		if (is_gpu(d) || &t->snap->devices[d->parent] != gpu)
			continue;
		snprintf(text, sizeof text,
			 " MIG %d  %s  GI/CI %d/%d  %s / %s  %u process%s",
			 d->mig_index, profile ? profile + 1 : d->name,
			 d->gpu_instance, d->compute_instance,
			 tui_value(used, d->m[GK_M_MEM_USED], GK_UNIT_BYTES),
			 tui_value(total, d->m[GK_M_MEM_TOTAL], GK_UNIT_BYTES),
			 d->process_count, d->process_count == 1 ? "" : "es");
		box_text(g, line + rows++, 0, g->columns, text, GRID_PLAIN);
	}
	return rows;
}

/* ---- graphs ---- */

static const uint16_t colors[GRAPHS] = {6, 5, 2, 3};

static float value_of(struct gk_value value, float divisor)
{
	return value.why == GK_PRESENT ? (float)value.v / divisor : 0;
}

/* Where the scale of a series ends: for what has an end, there. */
static float top_of(const struct gk_device *d, enum gk_history_device what,
		    const float *values, unsigned count)
{
	float top = 0;

	if (!strcmp(gk_history_devices[what].unit, "%"))
		top = 100;
	else if (what == GK_HD_POWER)
		top = value_of(d->m[GK_M_POWER_ENFORCED], 1e3F);
	else if (what == GK_HD_SM_CLOCK)
		top = value_of(d->m[GK_M_SM_CLOCK_MAX], 1e6F);
	else if (what == GK_HD_MEM_CLOCK)
		top = value_of(d->m[GK_M_MEM_CLOCK_MAX], 1e6F);
	else if (what == GK_HD_TEMP)
		top = value_of(d->m[GK_M_TEMP_SLOWDOWN], 1);
	return top > 0 ? top : plot_top(values, count, 10, INFINITY);
}

static void number(char *dst, size_t cap, float value, const char *unit)
{
	if (isnan(value))
		snprintf(dst, cap, "N/A");
	else
		snprintf(dst, cap, "%.0f%s", (double)value, unit);
}

static void draw_graph(const struct tui *t, struct grid *g,
		       const struct gk_device *d, int i, struct plot plot)
{
	enum gk_history_device what = (enum gk_history_device)(
	    t->device.graphs % PAGES * GRAPHS + (unsigned)i);
	const struct gk_history_info *info = &gk_history_devices[what];
	struct gk_history_span span = tui_time_span(t, plot.columns);
	float values[PLOT_VALUES_MAX];
	char last[32], most[32];

	gk_history_of_device(t->history, d->uuid, what, span, values);
	number(last, sizeof last, plot_last(values, span.count), info->unit);
	number(most, sizeof most, plot_max(values, span.count), info->unit);
	snprintf(plot.outer, sizeof plot.outer, "%s: %s (max %s) ", info->title,
		 last, most);
	plot.top = top_of(d, what, values, span.count);
	plot.unit = info->unit;
	plot.color = colors[i];
	plot_draw(g, &plot, values);
}

static void draw_frame(const struct tui *t, struct grid *g, int line, int rows,
		       int middle, int axis)
{
	struct grid_style dim = {GRID_COLOR_NONE, GRID_DIM};
	int w = g->columns, end = line + rows - 1;

	box_rule(g, line, 0, w, "╒", "═", "╕");
	box_rule(g, end, 0, w, "╘", "═", "╛");
	box_side(g, line + 1, rows - 2, 0, "│");
	box_side(g, line + 1, rows - 2, middle, "│");
	box_side(g, line + 1, rows - 2, w - 1, "│");
	box_text(g, line, middle, 1, "╤", GRID_PLAIN);
	box_text(g, end, middle, 1, "╧", GRID_PLAIN);
	graph_axis(g, axis, 1, middle - 1, tui_time_step(t), dim);
	graph_axis(g, axis, middle + 1, w - middle - 2, tui_time_step(t), dim);
	box_text(g, axis, 0, 1, "├", GRID_PLAIN);
	box_text(g, axis, middle, 1, "┼", GRID_PLAIN);
	box_text(g, axis, w - 1, 1, "┤", GRID_PLAIN);
}

static void draw_graphs(const struct tui *t, struct grid *g, int line, int rows,
			const struct gk_device *d)
{
	int middle = (g->columns - 1) / 2, axis = line + rows / 2;

	draw_frame(t, g, line, rows, middle, axis);
	for (int i = 0; i < GRAPHS; i++) {
		bool lower = i >= 2, right = i % 2;
		struct plot plot = {
		    .row = lower ? axis + 1 : line + 1,
		    .rows = lower ? line + rows - axis - 2 : axis - line - 1,
		    .column = right ? middle + 1 : 1,
		    .columns = plot_columns(right ? g->columns - middle - 2
						  : middle - 1),
		    .hanging = lower,
		};

		draw_graph(t, g, d, i, plot);
	}
}

int view_device(struct tui *t, struct grid *g)
{
	const struct gk_device *d = shown(t);
	int line = -t->scroll, rows;

	t->first_process_line = -1;
	if (!d) {
		grid_line(g, 0, 1, GK_NO_DEVICES, strlen(GK_NO_DEVICES),
			  GRID_PLAIN);
		return 1;
	}
	draw_head(t, g, line++, d);
	line += draw_facts(t, g, line);
	line += draw_migs(t, g, line, d);
	rows = g->rows - (line + t->scroll);
	rows = rows < GRAPH_ROWS ? GRAPH_ROWS : rows;
	draw_graphs(t, g, line, rows, d);
	return line + rows + t->scroll;
}
