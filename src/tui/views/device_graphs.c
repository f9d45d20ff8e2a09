/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_graphs.c - draws the graphs on the screen of a GPU, as many side by
 * side as fit. A key turns to the next page of graphs.
 */
#include "base/units.h"
#include "tui/screen/box.h"
#include "tui/views/device_part.h"
#include "tui/model/facts.h"
#include "tui/screen/scaled_graph.h"
#include "tui/model/value.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define BAND_LEAST  5  /* minimum rows of one band of graphs, with borders */
#define BANDS_LEAST 9  /* minimum rows of two bands and their axis */
#define ROWS_OF_TWO 16 /* minimum rows of a screen with two bands */
#define WIDTH_LEAST                                                            \
	38 /* minimum width of a graph, unless the screen is narrower */
#define COLUMNS_MAX 3
#define MANY_MIB    10240 /* rates from here on are shown in GiB */

/* The layout of the graphs. */
struct shape {
	int columns, bands;
	int line, rows;
	int axis; /* row of the time axis */
};

static const uint16_t colors[] = {6, 5, 2, 3};

/* ---- choosing graphs ---- */

static bool is_worth_it(const struct gk_device *d, enum gk_history_device what)
{
	enum gk_absence why = d->m[gk_history_devices[what].metric].why;

	return what != GK_HD_HELD && why != GK_ABSENT_NOT_SUPPORTED &&
	       why != GK_ABSENT_NO_FUNCTION;
}

/* Lists the series that the GPU has. Returns their number. */
static int list_series(const struct gk_device *d,
		       enum gk_history_device out[GK_HD_COUNT])
{
	int n = 0;

	for (int i = 0; i < GK_HD_COUNT; i++)
		if (is_worth_it(d, (enum gk_history_device)i))
			out[n++] = (enum gk_history_device)i;
	return n;
}

static struct shape shape_of_graphs(int columns, int line, int rows)
{
	struct shape s = {.line = line, .rows = rows};

	s.columns = columns / WIDTH_LEAST;
	s.columns = s.columns < 1             ? 1
		    : s.columns > COLUMNS_MAX ? COLUMNS_MAX
					      : s.columns;
	s.bands = rows < BANDS_LEAST ? 1 : 2;
	s.axis = s.bands == 2 ? line + rows / 2 : line + rows - 1;
	return s;
}

int view_device_graphs_least(int rows)
{
	if (rows < ROWS_OF_TWO)
		return BAND_LEAST;
	return rows / 3 > BANDS_LEAST ? rows / 3 : BANDS_LEAST;
}

/*
 * Returns the index of the first graph to show. The last page also contains
 * graphs of the page before, so that it is full.
 */
static int first_graph(const struct tui *t, const struct shape *s, int count)
{
	int at_once = s->columns * s->bands;
	int pages = (count + at_once - 1) / at_once;
	int first = pages ? (int)t->device.graphs % pages * at_once : 0;

	if (first > count - at_once)
		first = count - at_once;
	return first > 0 ? first : 0;
}

void view_device_graphs_next(struct tui *t, const struct gk_device *d)
{
	enum gk_history_device all[GK_HD_COUNT];
	struct shape s =
	    shape_of_graphs(t->columns, 0, view_device_graphs_least(t->rows));
	int at_once = s.columns * s.bands;
	int pages = (list_series(d, all) + at_once - 1) / at_once;

	t->device.graphs = pages ? (t->device.graphs + 1) % (unsigned)pages : 0;
}

/* ---- texts ---- */

/* The metrics whose values correspond to the full height of a graph. */
static const struct {
	enum gk_history_device what;
	enum gk_metric most;
} tops[] = {
    {GK_HD_POWER, GK_M_POWER_ENFORCED},
    {GK_HD_TEMP, GK_M_TEMP_SLOWDOWN},
    {GK_HD_SM_CLOCK, GK_M_SM_CLOCK_MAX},
    {GK_HD_MEM_CLOCK, GK_M_MEM_CLOCK_MAX},
    {GK_HD_GR_CLOCK, GK_M_GR_CLOCK_MAX},
    {GK_HD_VIDEO_CLOCK, GK_M_VIDEO_CLOCK_MAX},
};

static float top_of_metric(const struct gk_device *d,
			   enum gk_history_device what, const float *values,
			   unsigned count)
{
	const struct gk_history_info *info = &gk_history_devices[what];
	float top = 0, most = scaled_graph_max(values, count);

	if (!strcmp(info->unit, "%"))
		top = 100;
	for (size_t i = 0; i < sizeof tops / sizeof *tops; i++) {
		struct gk_value end = d->m[tops[i].most];

		if (tops[i].what == what && end.why == GK_PRESENT)
			top = (float)((double)end.v / info->scale);
	}
	return top > 0 && !(most > top)
		   ? top
		   : scaled_graph_top(values, count, 10, INFINITY);
}

static bool is_rate(const struct gk_history_info *info)
{
	return !strcmp(info->unit, "MiB/s");
}

static void format_graph_number(char *dst, size_t cap, float value,
				const struct gk_history_info *info)
{
	char size[GK_UNITS_MAX];

	if (is_rate(info))
		snprintf(dst, cap, "%s/s",
			 gk_human_size(size, (int64_t)(value * (float)MIB)));
	else
		snprintf(dst, cap, "%.0f%s", (double)value, info->unit);
}

/* Writes "power: 300W (max 340W) ", or why there is no value. */
static void write_title(const struct tui *t, const struct gk_device *d,
			const struct gk_history_info *info,
			struct scaled_graph *graph, const float *values,
			unsigned count)
{
	struct gk_value now = d->m[info->metric];
	float last = scaled_graph_last(values, count);
	float most = scaled_graph_max(values, count);
	char text[48], more[64] = "", reason[GK_REASON_MAX];
	int len;

	if (isnan(last) && count) /* the newest reading may be a little late */
		last = scaled_graph_last(values, count - 1);
	if (!isnan(last))
		format_graph_number(text, sizeof text, last, info);
	else
		snprintf(
		    text, sizeof text, "%s",
		    now.why != GK_PRESENT && !t->time.end_ns
			? tui_reason(reason, now, gk_metrics[info->metric].unit)
			: "not read");
	if (!isnan(most)) {
		char highest[48];

		format_graph_number(highest, sizeof highest, most, info);
		snprintf(more, sizeof more, " (max %s)", highest);
	}
	len = snprintf(graph->outer, sizeof graph->outer, "%s: %s", info->title,
		       text);
	if (len + (int)strlen(more) + 2 <= graph->columns)
		snprintf(graph->outer + len, sizeof graph->outer - (size_t)len,
			 "%s ", more);
}

/* ---- drawing ---- */

static void draw_one(const struct tui *t, struct grid *g,
		     const struct gk_device *d, enum gk_history_device what,
		     struct scaled_graph graph)
{
	const struct gk_history_info *info = &gk_history_devices[what];
	struct gk_history_span span = tui_time_span(t, graph.columns);
	float values[SCALED_GRAPH_VALUES];

	gk_history_of_device(t->history, d->uuid, what, span, values);
	write_title(t, d, info, &graph, values, span.count);
	graph.top = top_of_metric(d, what, values, span.count);
	graph.unit = info->unit;
	if (is_rate(info) && graph.top >= MANY_MIB) {
		for (unsigned i = 0; i < span.count; i++)
			values[i] /= 1024;
		graph.top /= 1024;
		graph.unit = "GiB/s";
	}
	scaled_graph_draw(g, &graph, values);
}

/* Returns the screen column of the border to the left of a column of graphs. */
static int border_column(const struct grid *g, const struct shape *s,
			 int column)
{
	return column * (g->columns - 1) / s->columns;
}

/*
 * Returns the character to draw where the axis meets a border. The axis is
 * below a single band, or between two bands.
 */
static const char *joint_sign(const struct shape *s, int column)
{
	static const char *const signs[2][3] = {{"└", "┴", "┘"},
						{"├", "┼", "┤"}};

	return signs[s->bands == 2][column == s->columns ? 2 : column > 0];
}

static void draw_graph_side(struct grid *g, const struct shape *s, int column)
{
	int at = border_column(g, s, column), end = s->line + s->rows - 1;
	bool inside = column > 0 && column < s->columns;

	box_side(g, s->line + 1, end - s->line - 1, at, "│");
	box_text(g, s->axis, at, 1, joint_sign(s, column), GRID_PLAIN);
	if (inside)
		box_text(g, s->line, at, 1, "╤", GRID_PLAIN);
	if (inside && s->bands == 2)
		box_text(g, end, at, 1, "╧", GRID_PLAIN);
}

static void draw_graphs_frame(const struct tui *t, struct grid *g,
			      const struct shape *s)
{
	struct grid_style dim = {GRID_COLOR_NONE, GRID_DIM};
	int end = s->line + s->rows - 1;

	box_rule(g, s->line, 0, g->columns, "╒", "═", "╕");
	if (s->bands == 2)
		box_rule(g, end, 0, g->columns, "╘", "═", "╛");
	for (int c = 0; c < s->columns; c++) {
		int at = border_column(g, s, c) + 1;

		graph_axis(g, s->axis, at, border_column(g, s, c + 1) - at,
			   tui_time_step(t), dim);
	}
	for (int c = 0; c <= s->columns; c++)
		draw_graph_side(g, s, c);
}

static struct scaled_graph place_device_graph(const struct grid *g,
					      const struct shape *s, int i)
{
	int column = i % s->columns;
	bool lower = i / s->columns;
	struct scaled_graph graph = {
	    .row = lower ? s->axis + 1 : s->line + 1,
	    .rows =
		lower ? s->line + s->rows - s->axis - 2 : s->axis - s->line - 1,
	    .column = border_column(g, s, column) + 1,
	    .hanging = lower,
	    .color = colors[(size_t)i % (sizeof colors / sizeof *colors)],
	};

	graph.columns = scaled_graph_columns(border_column(g, s, column + 1) -
					     border_column(g, s, column) - 1);
	return graph;
}

int view_device_graphs(const struct tui *t, struct grid *g, int line, int rows,
		       const struct gk_device *d)
{
	enum gk_history_device all[GK_HD_COUNT];
	struct shape s = shape_of_graphs(g->columns, line, rows);
	int count = list_series(d, all), first = first_graph(t, &s, count);

	draw_graphs_frame(t, g, &s);
	for (int i = 0; i < s.columns * s.bands && first + i < count; i++)
		draw_one(t, g, d, all[first + i], place_device_graph(g, &s, i));
	return rows;
}
