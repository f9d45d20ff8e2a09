/* SPDX-License-Identifier: Apache-2.0 */
/* trace.c - draws traces, sparklines, time axes and bars. */
#include "tui/lanes/trace.h"

#include "base/clock.h"
#include "base/round.h"
#include "tui/lanes/point.h"
#include "tui/model/model.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define BRAILLE      0x2800
#define LEVELS       4 /* steps of height in a row of braille */
#define EIGHTHS      8 /* steps of height in a row of blocks */
#define SPARKS       7
#define DOTS         2 /* values per column of a trace */
#define RATE_SECONDS 3 /* each counter is read at least once in this time */

/*
 * Braille bits of a cell's left and right half, with 0 to 4 dots from the
 * bottom.
 */
static const unsigned char dots[2][LEVELS + 1] = {
    {0, 0x40, 0x44, 0x46, 0x47},
    {0, 0x80, 0xa0, 0xb0, 0xb8},
};

static const enum ink bodies[] = {[TRACE_WORK] = INK_WORK_BODY,
				  [TRACE_POWER] = INK_POWER_BODY,
				  [TRACE_OTHER] = INK_OTHER_BODY,
				  [TRACE_GONE] = INK_FAINT};

static enum tui_graph graph_of(const struct tui *t)
{
	return lanes_is_ascii(t) ? GRAPH_ASCII : t->options.graph;
}

/* ---- traces ---- */

static enum ink crest_of(const struct lanes_trace *trace, double value,
			 bool held)
{
	if (trace->kind == TRACE_GONE)
		return INK_FAINT;
	if (held)
		return INK_WARN;
	if (trace->kind == TRACE_WORK)
		return lanes_work_ink(100 * value / trace->top);
	return trace->kind == TRACE_POWER ? INK_POWER : INK_OTHER;
}

/*
 * Returns the height of a value in steps; each row has a_row steps. It is at
 * least 1, or 0 if the value is absent.
 */
static int steps_of(const struct lanes_trace *trace, double value, int a_row)
{
	int steps = gk_steps(value / trace->top, trace->rows * a_row);

	return steps || isnan(value) ? steps : 1;
}

static int in_row(int steps, int row, int a_row)
{
	steps -= row * a_row;
	return steps < 0 ? 0 : steps > a_row ? a_row : steps;
}

/* Returns the character for a cell that is not empty. */
static wchar_t cell_sign(enum tui_graph graph, int left, int right, int row,
			 bool crest)
{
	int most = left > right ? left : right;

	if (graph == GRAPH_ASCII)
		return crest ? L'^' : L'#';
	if (graph == GRAPH_BLOCK)
		return (wchar_t)(L'▁' + in_row(most, row, EIGHTHS) - 1);
	left = dots[0][in_row(left, row, LEVELS)];
	right = dots[1][in_row(right, row, LEVELS)];
	return (wchar_t)(BRAILLE + (left | right));
}

/* Returns the greater of two values, each of which may be NAN. */
static double greater_of(double a, double b)
{
	return isnan(a) || b > a ? b : a;
}

static void draw_column(const struct tui *t, struct grid *g,
			const struct lanes_trace *trace, int c)
{
	enum tui_graph graph = graph_of(t);
	int a_row = graph == GRAPH_BLOCK ? EIGHTHS : LEVELS;
	const float *v = &trace->values[2 * c];
	const float *h = trace->held ? &trace->held[2 * c] : NULL;
	int left = steps_of(trace, (double)v[0], a_row);
	int right = steps_of(trace, (double)v[1], a_row);
	int most = left > right ? left : right;
	int top = most ? (most - 1) / a_row : 0;
	bool held = h && (h[0] > 0 || h[1] > 0);
	enum ink crest =
	    crest_of(trace, greater_of((double)v[0], (double)v[1]), held);

	for (int r = 0; r <= top && most; r++) {
		enum ink ink = r == top ? crest : bodies[trace->kind];
		struct grid_style style = lanes_ink(t, ink);

		/*
		 * INK_WARN, which shows that clocks were held back, takes
		 * precedence over the gradient.
		 */
		if (trace->kind != TRACE_GONE && ink != INK_WARN)
			style =
			    lanes_gradient(t, (r + 0.5) / trace->rows, style);
		lanes_fill(g, trace->row + trace->rows - 1 - r,
			   trace->column + c, 1,
			   cell_sign(graph, left, right, r, r == top), style);
	}
}

void lanes_trace(const struct tui *t, struct grid *g,
		 const struct lanes_trace *trace)
{
	for (int c = 0; trace->top > 0 && c < trace->columns; c++)
		draw_column(t, g, trace, c);
}

static int cut_columns(int columns)
{
	return columns > LANES_COLUMNS_MAX ? LANES_COLUMNS_MAX
	       : columns < 0               ? 0
					   : columns;
}

void lanes_trace_device(struct tui *t, struct grid *g, size_t device,
			enum gk_history_device series, struct lanes_trace trace)
{
	float values[DOTS * LANES_COLUMNS_MAX], held[DOTS * LANES_COLUMNS_MAX];
	const struct gk_device *d = &t->snap->devices[device];
	struct gk_history_span span;
	int cut = trace.columns - cut_columns(trace.columns);

	trace.column += cut;
	trace.columns -= cut;
	span = tui_time_around(t, DOTS * (unsigned)trace.columns);
	gk_history_of_device(t->history, d->uuid, series, span, values);
	trace.values = values;
	if (trace.kind == TRACE_WORK || trace.kind == TRACE_POWER) {
		gk_history_of_device(t->history, d->uuid, GK_HD_HELD, span,
				     held);
		trace.held = held;
	}
	lanes_trace(t, g, &trace);
	lanes_mark_trace(t, g,
			 (struct lanes_hit){.row = trace.row,
					    .column = trace.column,
					    .rows = trace.rows,
					    .columns = trace.columns,
					    .id = (int)device,
					    .series = (int)series,
					    .dots = DOTS});
}

double lanes_mean(const struct tui *t, const struct gk_device *d,
		  enum gk_history_device series, int columns, double *ret_max)
{
	float values[DOTS * LANES_COLUMNS_MAX];
	struct gk_history_span span =
	    tui_time_around(t, DOTS * (unsigned)cut_columns(columns));
	double sum = 0, max = -1;
	unsigned known = 0;

	gk_history_of_device(t->history, d->uuid, series, span, values);
	for (unsigned i = 0; i < span.count; i++) {
		if (isnan(values[i]))
			continue;
		sum += (double)values[i];
		max = greater_of(max, (double)values[i]);
		known++;
	}
	*ret_max = max;
	return known ? sum / known : -1;
}

double lanes_rate(const struct tui *t, const struct gk_device *d,
		  enum gk_history_device series)
{
	float values[RATE_SECONDS];
	struct gk_history_span span = {
	    .end_ns = (t->snap->mono_ns / GK_NS_PER_S + 1) * GK_NS_PER_S,
	    .step_ns = GK_NS_PER_S,
	    .count = RATE_SECONDS};

	gk_history_of_device(t->history, d->uuid, series, span, values);
	for (unsigned i = span.count; i-- > 0;)
		if (!isnan(values[i]))
			return (double)values[i];
	return -1;
}

/* ---- sparklines ---- */

/*
 * Returns the style of a sparkline's cell. The newest value stands out. Amber
 * means that clocks were held back.
 */
static struct grid_style spark_style(const struct tui *t, double value,
				     bool newest, bool held)
{
	if (newest && lanes_is_mono(t))
		return lanes_bold(t, INK_TEXT);
	if (held)
		return lanes_ink(t, INK_WARN);
	return lanes_gradient(t, value / 100,
			      lanes_ink(t, newest       ? lanes_work_ink(value)
					   : value < 25 ? INK_WORK
							: INK_WORK + 1));
}

/* Draws a sparkline. `held` is NULL if the series is not a GPU's. */
static void draw_spark(const struct tui *t, struct grid *g,
		       const struct lanes_hit *place, const float *values,
		       const float *held)
{
	static const wchar_t ascii[] = L".:-=+*#";

	for (int c = 0; c < place->columns; c++) {
		double value = (double)values[c];
		double share = value < 0 ? 0 : value < 100 ? value / 100 : 1;
		int step = (int)(share * SPARKS);

		if (isnan(value))
			continue;
		step = step < SPARKS ? step : SPARKS - 1;
		lanes_fill(g, place->row, place->column + c, 1,
			   graph_of(t) == GRAPH_ASCII ? ascii[step]
						      : (wchar_t)(L'▁' + step),
			   spark_style(t, value, c == place->columns - 1,
				       held && held[c] > 0));
	}
}

static struct lanes_hit spark_place(int row, int column, int columns)
{
	return (struct lanes_hit){.row = row,
				  .column = column,
				  .rows = 1,
				  .columns = cut_columns(columns),
				  .dots = 1};
}

void lanes_spark(struct tui *t, struct grid *g, int row, int column,
		 int columns, size_t device)
{
	float values[LANES_COLUMNS_MAX], held[LANES_COLUMNS_MAX];
	const char *uuid = t->snap->devices[device].uuid;
	struct lanes_hit place = spark_place(row, column, columns);
	struct gk_history_span span =
	    tui_time_around(t, (unsigned)place.columns);

	place.id = (int)device;
	place.series = GK_HD_GPU_UTIL;
	gk_history_of_device(t->history, uuid, GK_HD_GPU_UTIL, span, values);
	gk_history_of_device(t->history, uuid, GK_HD_HELD, span, held);
	draw_spark(t, g, &place, values, held);
	lanes_mark_trace(t, g, place);
}

void lanes_spark_host(struct tui *t, struct grid *g, int row, int column,
		      int columns)
{
	float values[LANES_COLUMNS_MAX];
	struct lanes_hit place = spark_place(row, column, columns);

	place.series = LANES_CPUS;
	gk_history_of_host(t->history, GK_HH_CPU,
			   tui_time_around(t, (unsigned)place.columns), values);
	draw_spark(t, g, &place, values, NULL);
	lanes_mark_trace(t, g, place);
}

/* ---- the axis of time ---- */

static const unsigned ticks_s[] = {30,   60,   120,   300,   600,   1200, 1800,
				   3600, 7200, 14400, 28800, 43200, 86400};

static void axis_label(char *dst, size_t cap, unsigned seconds)
{
	if (seconds < 60)
		snprintf(dst, cap, " %us", seconds);
	else if (seconds < 3600)
		snprintf(dst, cap, " %um", seconds / 60);
	else
		snprintf(dst, cap, " %uh", seconds / 3600);
}

/* Returns how many columns of a trace come after the past moment on display. */
static int columns_after(const struct tui *t, int columns)
{
	struct gk_history_span span =
	    tui_time_around(t, DOTS * (unsigned)columns);

	return (int)((span.end_ns - tui_time_mark(t)) / span.step_ns) / DOTS;
}

void lanes_axis(const struct tui *t, struct grid *g, int row, int column,
		int columns)
{
	static const char now[] = " now";
	bool past = tui_time_is_past(t);
	int end = column + columns - (past ? columns_after(t, columns) : 0);
	int free = past ? end - 1 : end - (int)sizeof now + 1;
	struct grid_style dim = lanes_ink(t, INK_DIM);

	lanes_fill(g, row, column, columns, L'─', lanes_ink(t, INK_FAINT));
	lanes_put(g, row, free, past ? lanes_ink(t, INK_STRONG) : dim, "%s",
		  !past               ? now
		  : lanes_is_ascii(t) ? "|"
				      : "┊");
	for (size_t i = 0; i < sizeof ticks_s / sizeof *ticks_s; i++) {
		uint64_t values = ticks_s[i] * GK_NS_PER_S / tui_time_step(t);
		char text[32];
		int at, width;

		axis_label(text, sizeof text, ticks_s[i]);
		width = lanes_width(text);
		at = end - (int)(values / 2) - width + 1;
		if (values / 2 > (uint64_t)columns || at < column)
			break;
		if (at + width > free)
			continue;
		lanes_put(g, row, at, dim, "%s", text);
		free = at - 1;
	}
}

/* ---- bars ---- */

void lanes_plain_bar(const struct tui *t, struct grid *g, int row, int column,
		     int columns, double share, struct grid_style style)
{
	int halves = gk_steps(share, columns * 2);

	lanes_fill(g, row, column, columns, L'─', lanes_ink(t, INK_FAINT));
	if (!(share > 0))
		return;
	halves = halves < 1 ? 1 : halves;
	lanes_fill(g, row, column, halves / 2, L'━', style);
	if (halves % 2)
		lanes_fill(g, row, column + halves / 2, 1, L'╸', style);
}

void lanes_bar(const struct tui *t, struct grid *g, int row, int column,
	       int columns, double share, struct grid_style style)
{
	int cells = (gk_steps(share, columns * 2) + 1) / 2;

	lanes_plain_bar(t, g, row, column, columns, share, style);
	for (int i = 0; share > 0 && i < (cells < 1 ? 1 : cells); i++)
		grid_tint(g, row, column + i, 1,
			  lanes_gradient(t, (i + 0.5) / columns, style).color);
}

static wchar_t owner_sign(const struct tui *t, int owner)
{
	return lanes_is_ascii(t) || lanes_is_mono(t)
		   ? (wchar_t)lanes_owner_letter(owner)
		   : L'▄';
}

/*
 * Returns the number of filled cells in a bar for the memory in use: at least
 * one for each owner.
 */
static int used_cells(const struct gk_device *d, int columns, int owners)
{
	double share =
	    lanes_gib(d->m[GK_M_MEM_USED]) / lanes_gib(d->m[GK_M_MEM_TOTAL]);
	int cells = gk_steps(share, columns);

	cells = cells < owners ? owners : cells;
	return cells > columns ? columns : cells;
}

void lanes_memory(const struct tui *t, struct grid *g, int row, int column,
		  int columns, size_t device)
{
	const struct gk_device *d = &t->snap->devices[device];
	struct gk_share shares[GK_SHARES];
	int count, cells, at = 0;
	double all = 0, before = 0;

	lanes_fill(g, row, column, columns, lanes_is_ascii(t) ? L'.' : L'▁',
		   lanes_ink(t, INK_FAINT));
	if (lanes_gib(d->m[GK_M_MEM_TOTAL]) <= 0 ||
	    lanes_gib(d->m[GK_M_MEM_USED]) < 0)
		return;
	count = lanes_shares(t, device, shares);
	/*
	 * The last share may be the driver's, which may be too small for a
	 * cell.
	 */
	cells = used_cells(d, columns,
			   count - (count && !shares[count - 1].processes));
	for (int i = 0; i < count; i++)
		all += (double)shares[i].bytes;
	for (int i = 0; i < count && at < cells; i++) {
		int end, left = count - 1 - i;

		before += (double)shares[i].bytes;
		end = all > 0 ? (int)(before / all * cells + 0.5) : cells;
		end = end > cells - left ? cells - left : end;
		if (end <= at && shares[i].processes)
			end = at + 1;
		end = end > cells ? cells : end;
		if (end <= at)
			continue;
		lanes_fill(g, row, column + at, end - at,
			   owner_sign(t, shares[i].owner),
			   lanes_ink(t, lanes_owner_ink(shares[i].owner)));
		at = end;
	}
}
