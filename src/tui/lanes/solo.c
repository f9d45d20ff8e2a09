/* solo.c - a machine with one GPU: large graphs. */
#include "tui/lanes/part.h"

#include "base/round.h"
#include "tui/lanes/trace.h"
#include "tui/model.h"

#include <stdio.h>
#include <string.h>

#define GIB        1073741824.0
#define NUMBER     11 /* columns of the numbers beside the large graph */
#define SMALL      9  /* beside a small one */
#define GRAPHS     3
#define BLANK_FROM 16 /* rows for a blank one between the graphs */

/* A small graph. */
struct solo_graph {
	const char *title;
	enum gk_history_device series;
	enum gk_metric metric;
	double scale; /* of the metric, in a unit of the series */
	enum lanes_trace_kind kind;
	double top; /* 0: see top_of_graph() */
	const char *unit;
};

/* The first three that the GPU has. */
static const struct solo_graph candidates[] = {
    {"POWER W", GK_HD_POWER, GK_M_POWER, 1e3, TRACE_POWER, 0, "W"},
    {"TEMPERATURE °C", GK_HD_TEMP, GK_M_TEMP, 1, TRACE_OTHER, 0, "°C"},
    {"PCIe ↓ MiB/s", GK_HD_PCIE_RX, GK_M_PCIE_RX, 1048576, TRACE_OTHER, 0, ""},
    {"BANDWIDTH %", GK_HD_MEM_UTIL, GK_M_MEM_UTIL, 1, TRACE_OTHER, 100, "%"},
    {"ENCODER %", GK_HD_ENC, GK_M_ENC_UTIL, 1, TRACE_OTHER, 100, "%"},
    {"DECODER %", GK_HD_DEC, GK_M_DEC_UTIL, 1, TRACE_OTHER, 100, "%"},
};

#define CANDIDATES (sizeof candidates / sizeof *candidates)

static int find_graphs(const struct gk_device *d,
		       const struct solo_graph *graphs[GRAPHS])
{
	int count = 0;

	for (size_t i = 0; i < CANDIDATES && count < GRAPHS; i++)
		if (d->m[candidates[i].metric].why == GK_PRESENT)
			graphs[count++] = &candidates[i];
	return count;
}

/* The next of 1, 2, 5 times a power of ten. */
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
	double top = graph->top;

	if (graph->series == GK_HD_POWER)
		top = lanes_watts(gk_power_limit(d));
	if (graph->series == GK_HD_TEMP)
		top = lanes_number(d->m[GK_M_TEMP_SLOWDOWN]);
	return top > 0 ? top : step_above(max > 1 ? max : 1);
}

/* ---- the parts ---- */

static void draw_small(struct tui *t, struct grid *g, int row, int rows, int at,
		       int width, const struct solo_graph *graph, size_t device)
{
	const struct gk_device *d = &t->snap->devices[device];
	int trace = width - SMALL - 1, side = at + trace + 1;
	double max, mean, top, now;
	struct grid_style dim = lanes_ink(t, INK_DIM);

	mean = lanes_mean(t, d, graph->series, trace, &max);
	top = top_of_graph(graph, d, max);
	now = lanes_number(d->m[graph->metric]) / graph->scale;
	lanes_put(g, row, at, dim, "%s", graph->title);
	lanes_trace_device(t, g, device, graph->series,
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

/* Who holds the memory, then what else is used. */
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
		lanes_put(g, row, at, lanes_ink(t, INK_STRONG),
			  "%.1f of %.0f GiB", used, total);
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
		lanes_put(g, row, side, lanes_bold(t, lanes_work_ink(busy)),
			  "%.0f %% busy", busy);
	mean = lanes_mean(t, d, GK_HD_GPU_UTIL, width, &max);
	if (mean >= 0 && rows > 2) {
		lanes_put(g, row + 1, side, dim, "mean %.0f", mean);
		lanes_put(g, row + 2, side, dim, "max %.0f", max);
	}
	if (rows > 3)
		lanes_put(g, row + rows - 1, side, dim, "0 to 100");
}

/* Columns of each of so many small graphs. */
static int graph_width(int columns, int count)
{
	return (columns - 2 - 2 * (GRAPHS - 1)) / (count ? count : 1);
}

void lanes_solo_axis(const struct tui *t, struct grid *g, int row)
{
	const struct solo_graph *graphs[GRAPHS];
	int count = find_graphs(&t->snap->devices[0], graphs);
	int width = graph_width(g->columns, count);

	for (int i = 0; i < count; i++)
		lanes_axis(t, g, row, 1 + i * (width + 2), width - SMALL - 1);
}

void lanes_solo(struct tui *t, struct grid *g, int row,
		const struct lanes_plan *plan, size_t device)
{
	const struct gk_device *d = &t->snap->devices[device];
	const struct solo_graph *graphs[GRAPHS];
	int count = find_graphs(d, graphs), rest = plan->lanes_rows - 2;
	bool blank = plan->lanes_rows >= BLANK_FROM;
	int small = blank ? 4 : rest / 3, large = rest - small - blank;
	int right = g->columns * 31 / 100, width;
	char text[GK_WHY_MAX];

	right = right < 30 ? 30 : right > 56 ? 56 : right;
	width = g->columns - right - NUMBER - 6;
	lanes_header(t, g, row, device);
	draw_large(t, g, row + 1, large, width, device);
	if (gk_device_gone(d)) {
		gk_state_why(text, t->snap, d);
		lanes_cell(g, row + 1, g->columns - 1 - right, right, false,
			   lanes_ink(t, INK_FAIL), text);
	} else {
		draw_memory(t, g, row + 1, row + 1 + large,
			    g->columns - 1 - right, device);
	}
	width = graph_width(g->columns, count);
	for (int i = 0; i < count; i++)
		draw_small(t, g, row + 1 + large + blank, small,
			   1 + i * (width + 2), width, graphs[i], device);
}
