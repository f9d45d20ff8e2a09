/* SPDX-License-Identifier: Apache-2.0 */
/*
 * solo.c - draws large graphs, for a machine with one GPU and for the screen of
 * one GPU.
 */
#include "tui/lanes/part.h"

#include "base/round.h"
#include "format/names.h"
#include "tui/lanes/trace.h"
#include "tui/model/model.h"

#include <stdio.h>
#include <string.h>

#define GIB         1073741824.0
#define NUMBER      11 /* width of the numbers beside the large graph */
#define SMALL       9  /* width of the numbers beside a small graph */
#define GRAPHS      3
#define GRAPH_LEAST 24 /* columns */
#define MEMORY_FROM                                                            \
	72 /* minimum columns to show memory beside the large graph */
#define MIB        1048576.0
#define BLANK_FROM 16 /* minimum rows for a blank row between the graphs */

/* A kind of small graph. */
struct solo_graph {
	const char *title;
	enum gk_history_device series;
	enum gk_metric metric;
	double scale; /* metric units per unit of the series */
	enum lanes_trace_kind kind;
	/*
	 * The metric whose value corresponds to the full height. If it is the
	 * same as `metric`, top_of_graph() chooses the height.
	 */
	enum gk_metric most;
	const char *unit;
};

#define OTHER(title, id, metric, scale, most, unit)                            \
	{                                                                      \
		title, GK_HD_##id, GK_M_##metric, scale, TRACE_OTHER,          \
		    GK_M_##most, unit                                          \
	}

/*
 * In the order of display. Graphs of metrics that the GPU lacks are left out.
 */
static const struct solo_graph candidates[] = {
    {"POWER W", GK_HD_POWER, GK_M_POWER, 1e3, TRACE_POWER, GK_M_POWER, "W"},
    OTHER("TEMPERATURE °C", TEMP, TEMP, 1, TEMP_SLOWDOWN, "°C"),
    OTHER("PCIe ↓ MiB/s", PCIE_RX, PCIE_RX, MIB, PCIE_RX, ""),
    OTHER("BANDWIDTH %", MEM_UTIL, MEM_UTIL, 1, MEM_UTIL, "%"),
    OTHER("ENCODER %", ENC, ENC_UTIL, 1, ENC_UTIL, "%"),
    OTHER("DECODER %", DEC, DEC_UTIL, 1, DEC_UTIL, "%"),
    OTHER("PCIe ↑ MiB/s", PCIE_TX, PCIE_TX, MIB, PCIE_TX, ""),
    OTHER("SM CLOCK MHz", SM_CLOCK, SM_CLOCK, 1e6, SM_CLOCK_MAX, "MHz"),
    OTHER("MEMORY CLOCK MHz", MEM_CLOCK, MEM_CLOCK, 1e6, MEM_CLOCK_MAX, "MHz"),
    OTHER("MEMORY °C", TEMP_MEM, TEMP_MEM, 1, TEMP_MEM_MAX, "°C"),
    OTHER("NVLink ↓ MiB/s", NVLINK_RX, NVLINK_RX, MIB, NVLINK_RX, ""),
    OTHER("NVLink ↑ MiB/s", NVLINK_TX, NVLINK_TX, MIB, NVLINK_TX, ""),
    OTHER("FAN %", FAN, FAN, 1, FAN, "%"),
    OTHER("JPEG %", JPG, JPG_UTIL, 1, JPG_UTIL, "%"),
    OTHER("OPTICAL FLOW %", OFA, OFA_UTIL, 1, OFA_UTIL, "%"),
};

#define CANDIDATES (sizeof candidates / sizeof *candidates)

static int graphs_at_once(int columns)
{
	int most = columns / GRAPH_LEAST;

	return most < 1 ? 1 : most > GRAPHS ? GRAPHS : most;
}

/*
 * Finds the graphs on a page, counting only those that the GPU has. Returns
 * their number.
 */
static int find_graphs(const struct gk_device *d, int page, int columns,
		       const struct solo_graph *graphs[GRAPHS])
{
	int most = graphs_at_once(columns), before = page * most, count = 0;

	for (size_t i = 0; i < CANDIDATES && count < most; i++) {
		if (d->m[candidates[i].metric].why != GK_PRESENT)
			continue;
		if (before)
			before--;
		else
			graphs[count++] = &candidates[i];
	}
	return count;
}

/* Rounds a value up to 1, 2 or 5 times a power of ten. */
static double step_above(double value)
{
	double power = 1;

	while (power * 10 <= value)
		power *= 10;
	return value <= power       ? power
	       : value <= 2 * power ? 2 * power
	       : value <= 5 * power ? 5 * power
				    : 10 * power;
}

static double top_of_graph(const struct solo_graph *graph,
			   const struct gk_device *d, double max)
{
	double top = 0;

	if (graph->series == GK_HD_POWER)
		top = lanes_watts(gk_power_limit(d));
	else if (graph->most != graph->metric)
		top = lanes_number(d->m[graph->most]) / graph->scale;
	else if (!strcmp(graph->unit, "%"))
		top = 100;
	return top > 0 ? top : step_above(max > 1 ? max : 1);
}

/*
 * Returns the current value or, for a counter, its latest rate. Negative:
 * unknown.
 */
static double now_of_graph(const struct tui *t, const struct solo_graph *graph,
			   const struct gk_device *d)
{
	if (gk_metrics[graph->metric].kind == GK_KIND_COUNTER)
		return lanes_rate(t, d, graph->series);
	return lanes_number(d->m[graph->metric]) / graph->scale;
}

/* ---- the parts of the screen ---- */

/*
 * The GPU that the graphs show, and its values from when it was last healthy.
 */
struct solo_subject {
	size_t device;
	const struct gk_device *values;
};

static void draw_small(struct tui *t, struct grid *g, int row, int rows, int at,
		       int width, const struct solo_graph *graph,
		       const struct solo_subject *of)
{
	const struct gk_device *d = &t->snap->devices[of->device];
	int trace = width - SMALL - 1, side = at + trace + 1;
	double max, mean, top, now;
	struct grid_style dim = lanes_ink(t, INK_DIM);

	mean = lanes_mean(t, d, graph->series, trace, &max);
	top = top_of_graph(graph, of->values, max);
	now = now_of_graph(t, graph, d);
	lanes_put(g, row, at, dim, "%s", graph->title);
	lanes_trace_device(t, g, of->device, graph->series,
			   (struct lanes_trace){.row = row + 1,
						.column = at,
						.rows = rows,
						.columns = trace,
						.top = top,
						.kind = gk_device_gone(d)
							    ? TRACE_GONE
							    : graph->kind});
	if (now >= 0)
		lanes_put(g, row + 1, side, lanes_ink(t, INK_STRONG), "%.0f",
			  now);
	if (rows > 1)
		lanes_put(g, row + 2, side, dim, "of %.0f", top);
	if (rows > 2 && mean >= 0)
		lanes_put(g, row + rows, side, dim, "mean %.0f", mean);
}

static void draw_share(const struct tui *t, struct grid *g, int row, int at,
		       int end, const struct gk_share *share)
{
	bool letters = lanes_is_mono(t) || lanes_is_ascii(t);
	enum ink ink = lanes_owner_ink(share->owner);
	int half = (end - at) * 3 / 5;
	char text[32];

	lanes_put(g, row, at, lanes_ink(t, ink), "%lc",
		  letters ? (wint_t)lanes_owner_letter(share->owner)
			  : (wint_t)L'▌');
	lanes_cell(g, row, at + 2, half - 11, false, lanes_bold(t, ink),
		   share->name);
	snprintf(text, sizeof text, "%.1f GiB",
		 gk_half_up((double)share->bytes / GIB));
	lanes_cell(g, row, at + half - 8, 8, true, lanes_ink(t, INK_TEXT),
		   text);
	if (share->processes)
		snprintf(text, sizeof text, "%u process%s", share->processes,
			 share->processes == 1 ? "" : "es");
	else
		snprintf(text, sizeof text, "no process");
	lanes_cell(g, row, at + half + 1, end - at - half - 1, true,
		   lanes_ink(t, INK_DIM), text);
}

static int draw_gauge(const struct tui *t, struct grid *g, int row, int at,
		      int end, const char *title, struct gk_value percent)
{
	double value = lanes_number(percent);

	if (value < 0)
		return 0;
	lanes_put(g, row, at, lanes_ink(t, INK_TEXT), "%-9s %3.0f %%", title,
		  value);
	lanes_bar(t, g, row, at + 17, end - at - 17, value / 100,
		  lanes_ink(t, INK_WORK + 1));
	return 1;
}

/* Draws memory and its owners, then gauges of other quantities. */
static void draw_memory(const struct tui *t, struct grid *g, int row, int end,
			int at, size_t device)
{
	const struct gk_device *d = &t->snap->devices[device];
	struct gk_share shares[GK_SHARES];
	int count = lanes_shares(t, device, shares), right = g->columns - 1;
	double used = lanes_gib(d->m[GK_M_MEM_USED]);
	double total = lanes_gib(d->m[GK_M_MEM_TOTAL]);
	char text[32];

	if (used >= 0 && total > 0) {
		lanes_put(g, row, at, lanes_memory_style(t, used / total),
			  "%.1f of %.0f GiB%s", used, total,
			  gk_is_unified(d) ? " unified" : "");
		snprintf(text, sizeof text, "%.1f free", total - used);
		lanes_cell(g, row, right - 12, 12, true, lanes_ink(t, INK_DIM),
			   text);
	}
	lanes_memory(t, g, row + 1, at, right - at, device);
	row += 3;
	for (int i = 0; i < count && row < end - 2; i++)
		draw_share(t, g, row++, at, right, &shares[i]);
	row++;
	if (row < end)
		row += draw_gauge(t, g, row, at, right, "bandwidth",
				  d->m[GK_M_MEM_UTIL]);
	if (row < end)
		row += draw_gauge(t, g, row, at, right, "encoder",
				  d->m[GK_M_ENC_UTIL]);
	if (row < end)
		draw_gauge(t, g, row, at, right, "decoder",
			   d->m[GK_M_DEC_UTIL]);
}

static void draw_large(struct tui *t, struct grid *g, int row, int rows,
		       int width, size_t device)
{
	const struct gk_device *d = &t->snap->devices[device];
	double busy = lanes_number(d->m[GK_M_GPU_UTIL]), max, mean;
	int side = 1 + width + 1;
	struct grid_style dim = lanes_ink(t, INK_DIM);

	lanes_trace_device(t, g, device, GK_HD_GPU_UTIL,
			   (struct lanes_trace){.row = row,
						.column = 1,
						.rows = rows,
						.columns = width,
						.top = 100,
						.kind = gk_device_gone(d)
							    ? TRACE_GONE
							    : TRACE_WORK});
	if (busy >= 0)
		lanes_put(g, row, side, lanes_busy_style(t, busy, INK_STRONG),
			  "%.0f %% busy", busy);
	mean = lanes_mean(t, d, GK_HD_GPU_UTIL, width, &max);
	if (mean >= 0 && rows > 2) {
		lanes_put(g, row + 1, side, dim, "mean %.0f", mean);
		lanes_put(g, row + 2, side, dim, "max %.0f", max);
	}
	if (rows > 3)
		lanes_put(g, row + rows - 1, side, dim, "0 to 100");
}

/* Returns the width of each of `count` small graphs. */
static int graph_width(int columns, int count)
{
	return (columns - 2 - 2 * (GRAPHS - 1)) / (count ? count : 1);
}

static void draw_solo_axes(const struct tui *t, struct grid *g, int row,
			   int count)
{
	int width = graph_width(g->columns, count);

	for (int i = 0; i < count; i++)
		lanes_axis(t, g, row, 1 + i * (width + 2), width - SMALL - 1);
}

void lanes_solo_axis(const struct tui *t, struct grid *g, int row)
{
	const struct solo_graph *graphs[GRAPHS];

	draw_solo_axes(
	    t, g, row,
	    find_graphs(&t->snap->devices[0], 0, g->columns, graphs));
}

/*
 * Returns the width of the memory beside the large graph; 0 if it is left out.
 */
static int memory_columns(int columns)
{
	int right = columns * 31 / 100;

	if (columns < MEMORY_FROM)
		return 0;
	return right < 30 ? 30 : right > 56 ? 56 : right;
}

static void draw_solo_side(struct tui *t, struct grid *g, int row, int rows,
			   size_t device)
{
	const struct gk_device *d = &t->snap->devices[device];
	int right = memory_columns(g->columns), at = g->columns - 1 - right;
	char text[GK_WHY_MAX];

	if (!right)
		return;
	if (!gk_device_gone(d)) {
		draw_memory(t, g, row, row + rows, at, device);
		return;
	}
	gk_state_why(text, t->snap, d);
	lanes_cell(g, row, at, right, false, lanes_ink(t, INK_FAIL), text);
}

/* Draws a large graph and, below it, small ones with titles. */
static void draw_graphs(struct tui *t, struct grid *g, int row, int rows,
			const struct solo_subject *of,
			const struct solo_graph *const *graphs, int count)
{
	int rest = rows - 1, right = memory_columns(g->columns);
	bool blank = rows + 1 >= BLANK_FROM;
	int small = blank ? 4 : rest / 3, large = rest - small - blank;
	int width = graph_width(g->columns, count);

	draw_large(t, g, row, large,
		   g->columns - right - NUMBER - (right ? 6 : 3), of->device);
	draw_solo_side(t, g, row, large, of->device);
	for (int i = 0; i < count; i++)
		draw_small(t, g, row + large + blank, small,
			   1 + i * (width + 2), width, graphs[i], of);
}

void lanes_solo(struct tui *t, struct grid *g, int row,
		const struct lanes_plan *plan, size_t device)
{
	const struct solo_graph *graphs[GRAPHS];
	struct solo_subject of = {device, &t->snap->devices[device]};
	int count = find_graphs(of.values, 0, g->columns, graphs);

	lanes_header(t, g, row, device);
	draw_graphs(t, g, row + 1, plan->lanes_rows - 1, &of, graphs, count);
}

int lanes_graph_pages(const struct gk_device *values, int columns)
{
	const struct solo_graph *graphs[GRAPHS];
	int pages = 1;

	while (find_graphs(values, pages, columns, graphs))
		pages++;
	return pages;
}

void lanes_graphs(struct tui *t, struct grid *g, int row, int rows,
		  size_t device, const struct gk_device *values, int page)
{
	const struct solo_graph *graphs[GRAPHS];
	struct solo_subject of = {device, values};
	int count = find_graphs(values, page, g->columns, graphs);
	int right = memory_columns(g->columns);
	struct grid_style dim = lanes_ink(t, INK_DIM);

	lanes_put(g, row, 1, dim, "BUSY %%");
	if (right)
		lanes_put(g, row, g->columns - 1 - right, dim,
			  "MEMORY BY OWNER");
	draw_graphs(t, g, row + 1, rows - 2, &of, graphs, count);
	draw_solo_axes(t, g, row + rows - 1, count);
}
