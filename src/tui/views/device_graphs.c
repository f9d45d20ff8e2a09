/*
 * device_graphs.c - the graphs of what a GPU did: as many side by side as are
 * wide enough, all in turn.
 */
#include "base/units.h"
#include "tui/box.h"
#include "tui/device_part.h"
#include "tui/facts.h"
#include "tui/plot.h"
#include "tui/value.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define BAND_LEAST  5  /* rows of one band of graphs with its borders */
#define BANDS_LEAST 9  /* of two bands, and the axis between them */
#define ROWS_OF_TWO 16 /* of a screen that has room for two bands */
#define WIDTH_LEAST 38 /* of a graph, unless the screen has no more */
#define COLUMNS_MAX 3
#define MANY_MIB    10240 /* from here on in GiB */

/* How the graphs are placed. */
struct shape {
	int columns, bands;
	int line, rows;
	int axis; /* row of the times */
};

static const uint16_t colors[] = {6, 5, 2, 3};

/* ---- which ---- */

static bool is_worth_it(const struct gk_device *d, enum gk_history_device what)
{
	enum gk_absence why = d->m[gk_history_devices[what].metric].why;

	return what != GK_HD_HELD && why != GK_ABSENT_NOT_SUPPORTED &&
	       why != GK_ABSENT_NO_FUNCTION;
}

/* The series that this GPU has; returns how many. */
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

int device_graphs_least(int rows)
{
	if (rows < ROWS_OF_TWO)
		return BAND_LEAST;
	return rows / 3 > BANDS_LEAST ? rows / 3 : BANDS_LEAST;
}

/* The first that is shown: the last page is as full as the others. */
static int first_graph(const struct tui *t, const struct shape *s, int count)
{
	int at_once = s->columns * s->bands;
	int pages = (count + at_once - 1) / at_once;
	int first = pages ? (int)t->device.graphs % pages * at_once : 0;

	if (first > count - at_once)
		first = count - at_once;
	return first > 0 ? first : 0;
}

void device_graphs_next(struct tui *t, const struct gk_device *d)
{
	enum gk_history_device all[GK_HD_COUNT];
	struct shape s =
	    shape_of_graphs(t->columns, 0, device_graphs_least(t->rows));
	int at_once = s.columns * s.bands;
	int pages = (list_series(d, all) + at_once - 1) / at_once;

	t->device.graphs = pages ? (t->device.graphs + 1) % (unsigned)pages : 0;
}

/* ---- texts ---- */

static float scaled_float(struct gk_value value, double scale)
{
	return value.why == GK_PRESENT ? (float)((double)value.v / scale) : 0;
}

/* A graph that has an end is full at the value of this metric. */
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
	float top = 0, most = plot_max(values, count);

	if (!strcmp(info->unit, "%"))
		top = 100;
	for (size_t i = 0; i < sizeof tops / sizeof *tops; i++)
		if (tops[i].what == what)
			top = scaled_float(d->m[tops[i].most], info->scale);
	return top > 0 && !(most > top) ? top
					: plot_top(values, count, 10, INFINITY);
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

/* A reading may take a little longer than a frame. */
static float newest(const float *values, unsigned count)
{
	float last = plot_last(values, count);

	return isnan(last) && count ? plot_last(values, count - 1) : last;
}

/* "power: 300W (max 340W) ", or why there is no number. */
static void title(const struct tui *t, const struct gk_device *d,
		  const struct gk_history_info *info, struct plot *plot,
		  const float *values, unsigned count)
{
	enum gk_absence why = d->m[info->metric].why;
	float last = newest(values, count), most = plot_max(values, count);
	char text[48], more[64] = "";
	int len;

	if (!isnan(last))
		format_graph_number(text, sizeof text, last, info);
	else
		snprintf(text, sizeof text, "%s",
			 why != GK_PRESENT && !t->time.end_ns ? tui_absence(why)
							      : "not read");
	if (!isnan(most)) {
		char highest[48];

		format_graph_number(highest, sizeof highest, most, info);
		snprintf(more, sizeof more, " (max %s)", highest);
	}
	len = snprintf(plot->outer, sizeof plot->outer, "%s: %s", info->title,
		       text);
	if (len + (int)strlen(more) + 2 <= plot->columns)
		snprintf(plot->outer + len, sizeof plot->outer - (size_t)len,
			 "%s ", more);
}

/* ---- drawing ---- */

static void draw_one(const struct tui *t, struct grid *g,
		     const struct gk_device *d, enum gk_history_device what,
		     struct plot plot)
{
	const struct gk_history_info *info = &gk_history_devices[what];
	struct gk_history_span span = tui_time_span(t, plot.columns);
	float values[PLOT_VALUES_MAX];

	gk_history_of_device(t->history, d->uuid, what, span, values);
	title(t, d, info, &plot, values, span.count);
	plot.top = top_of_metric(d, what, values, span.count);
	plot.unit = info->unit;
	if (is_rate(info) && plot.top >= MANY_MIB) {
		for (unsigned i = 0; i < span.count; i++)
			values[i] /= 1024;
		plot.top /= 1024;
		plot.unit = "GiB/s";
	}
	plot_draw(g, &plot, values);
}

/* The border between a column of graphs and the one before it. */
static int edge(const struct grid *g, const struct shape *s, int column)
{
	return column * (g->columns - 1) / s->columns;
}

/* Where the axis meets a side: of one band, which it ends, or of two. */
static const char *joint(const struct shape *s, int column)
{
	static const char *const signs[2][3] = {{"└", "┴", "┘"},
						{"├", "┼", "┤"}};

	return signs[s->bands == 2][column == s->columns ? 2 : column > 0];
}

static void draw_side(struct grid *g, const struct shape *s, int column)
{
	int at = edge(g, s, column), end = s->line + s->rows - 1;
	bool inside = column > 0 && column < s->columns;

	box_side(g, s->line + 1, end - s->line - 1, at, "│");
	box_text(g, s->axis, at, 1, joint(s, column), GRID_PLAIN);
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
		int at = edge(g, s, c) + 1;

		graph_axis(g, s->axis, at, edge(g, s, c + 1) - at,
			   tui_time_step(t), dim);
	}
	for (int c = 0; c <= s->columns; c++)
		draw_side(g, s, c);
}

static struct plot place_device_plot(const struct grid *g,
				     const struct shape *s, int i)
{
	int column = i % s->columns;
	bool lower = i / s->columns;
	struct plot plot = {
	    .row = lower ? s->axis + 1 : s->line + 1,
	    .rows =
		lower ? s->line + s->rows - s->axis - 2 : s->axis - s->line - 1,
	    .column = edge(g, s, column) + 1,
	    .hanging = lower,
	    .color = colors[(size_t)i % (sizeof colors / sizeof *colors)],
	};

	plot.columns =
	    plot_columns(edge(g, s, column + 1) - edge(g, s, column) - 1);
	return plot;
}

int device_graphs(const struct tui *t, struct grid *g, int line, int rows,
		  const struct gk_device *d)
{
	enum gk_history_device all[GK_HD_COUNT];
	struct shape s = shape_of_graphs(g->columns, line, rows);
	int count = list_series(d, all), first = first_graph(t, &s, count);

	draw_graphs_frame(t, g, &s);
	for (int i = 0; i < s.columns * s.bands && first + i < count; i++)
		draw_one(t, g, d, all[first + i], place_device_plot(g, &s, i));
	return rows;
}
