/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view_host.c - draws the host on the main screen: two lines of bars, or graphs
 * of CPU, memory and swap next to two graphs of the GPUs.
 */
#include "base/clock.h"
#include "base/round.h"
#include "format/boxed/part.h"
#include "format/gradient.h"
#include "tui/screen/graph.h"
#include "tui/views/main_screen.h"
#include "tui/views/view.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define BARS_HEIGHT 2
#define FULL_HEIGHT 12 /* eleven rows and the lower border */
#define LEFT_WIDTH  77
#define UPPER_ROWS  5
#define LOWER_ROWS  5
#define BARS_FROM   100 /* minimum columns to show graphs of GPUs */
#define VALUES_MAX  1024
#define LABEL_MAX   80

enum { BLUE = 4, MAGENTA = 5, CYAN = 6 };

/*
 * A series that a graph of GPUs can show. If top is 0, the graph is scaled to
 * the values.
 */
struct series {
	enum gk_history_device what;
	const char *title, *unit;
	float top;
};

/* The graphs above and below the axis. One pair is shown at a time. */
static const struct series pairs[][2] = {
    {{GK_HD_MEM, "MEM", "%", 100}, {GK_HD_GPU_UTIL, "UTL", "%", 100}},
    {{GK_HD_POWER, "POWER", " W", 0}, {GK_HD_TEMP, "TEMP", " C", 100}},
    {{GK_HD_MEM_UTIL, "MBW", "%", 100}, {GK_HD_SM_CLOCK, "SM", " MHz", 0}},
    {{GK_HD_PCIE_RX, "PCIE RX", " MiB/s", 0},
     {GK_HD_PCIE_TX, "PCIE TX", " MiB/s", 0}},
    {{GK_HD_ENC, "ENC", "%", 100}, {GK_HD_DEC, "DEC", "%", 100}},
};

#define PAIRS (sizeof pairs / sizeof *pairs)

bool view_host_graph(struct tui *t, int by)
{
	t->main.graph = (t->main.graph + by) % (int)PAIRS;
	return true;
}

int view_host_height(const struct tui *t, const struct main_plan *plan)
{
	if (plan->host_hidden)
		return 0;
	if (plan->host_compact || t->options.term.ascii)
		return BARS_HEIGHT;
	return FULL_HEIGHT + t->options.devices_hidden;
}

static int draw_bars(struct tui *t, struct grid *g, int line,
		     const struct main_plan *plan)
{
	struct gk_buf text = {0};
	struct gk_box box = {.out = &text,
			     .snap = t->snap,
			     .o = &t->options.boxed,
			     .width = plan->width,
			     .live = {.on = true}};
	int lines;

	gk_box_host(&box);
	lines = view_lines(g, line, &text);
	gk_buf_free(&text);
	return lines;
}

/* ---- graphs ---- */

/* Colours each row of a graph by the gradient. */
static void tint_rows(struct grid *g, const struct graph *graph)
{
	for (int r = 0; r < graph->rows; r++) {
		int row = graph->hanging ? graph->row + r
					 : graph->row + graph->rows - 1 - r;

		grid_tint(g, row, graph->column, graph->columns,
			  gk_gradient((r + 0.5) / graph->rows));
	}
}

static void draw_label(struct grid *g, int line, int column, int width,
		       const char *text)
{
	if ((int)strlen(text) <= width)
		grid_line(g, line, column, text, strlen(text), GRID_PLAIN);
}

static void draw_host_axis(const struct tui *t, struct grid *g, int line,
			   int column, int width)
{
	graph_axis(g, line + UPPER_ROWS, column, width, tui_time_step(t),
		   (struct grid_style){GRID_COLOR_NONE, GRID_DIM});
}

/* ---- the host ---- */

static void load_label(char *dst, size_t cap, const struct gk_host *h)
{
	size_t at = (size_t)snprintf(dst, cap, " Load Average:");

	for (int i = 0; i < 3; i++) {
		struct gk_value load = h->load_centi[i];

		if (load.why != GK_PRESENT)
			at += (size_t)snprintf(dst + at, cap - at, "   N/A");
		else if (load.v >= 999950)
			at += (size_t)snprintf(dst + at, cap - at, " 9999+");
		else
			at += (size_t)snprintf(dst + at, cap - at, " %5.2f",
					       (double)load.v / 100.0);
	}
	snprintf(dst + at, cap - at, " ");
}

static float last_of(const float *values, struct gk_history_span span)
{
	return span.count ? values[span.count - 1] : NAN;
}

/* Writes " MEM: 16.00GiB (25.0%) "; for a past moment only the percentage. */
static void share_text(const struct tui *t, char *dst, const char *title,
		       struct gk_value total, struct gk_value left, float past)
{
	double gib = 1 << 30, used = (double)(total.v - left.v);

	if (t->time.end_ns && isnan(past))
		snprintf(dst, LABEL_MAX, " %s: N/A ", title);
	else if (t->time.end_ns)
		snprintf(dst, LABEL_MAX, " %s: %.1f%% ", title, (double)past);
	else if (total.why != GK_PRESENT || left.why != GK_PRESENT)
		snprintf(dst, LABEL_MAX, " %s: N/A ", title);
	else
		snprintf(dst, LABEL_MAX, " %s: %.2fGiB (%.1f%%) ", title,
			 gk_half_up(used / gib),
			 total.v > 0
			     ? gk_half_up(100.0 * used / (double)total.v)
			     : 0.0);
}

static void cpu_label(const struct tui *t, char *dst, float past)
{
	struct gk_value cpu = t->snap->host.cpu_centipercent;
	double now = t->time.end_ns ? (double)past : (double)cpu.v / 100.0;

	if (t->time.end_ns ? isnan(past) : cpu.why != GK_PRESENT)
		snprintf(dst, LABEL_MAX, " CPU: N/A ");
	else
		snprintf(dst, LABEL_MAX, " CPU: %.1f%% ", gk_half_up(now));
}

static void draw_host(const struct tui *t, struct grid *g, int line, int width)
{
	static const struct {
		enum gk_history_host what;
		int row, rows;
		bool hanging;
		uint16_t color;
	} rows[] = {
	    {GK_HH_CPU, 0, UPPER_ROWS, false, CYAN},
	    {GK_HH_MEM, UPPER_ROWS + 1, LOWER_ROWS - 1, true, MAGENTA},
	    {GK_HH_SWAP, UPPER_ROWS + LOWER_ROWS, 1, false, BLUE},
	};
	struct gk_history_span span = tui_time_span(t, width);
	const struct gk_host *h = &t->snap->host;
	float values[VALUES_MAX], last[GK_HH_COUNT];
	char label[LABEL_MAX];

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct graph graph = {.row = line + rows[i].row,
				      .column = 1,
				      .rows = rows[i].rows,
				      .columns = width,
				      .top = 100,
				      .hanging = rows[i].hanging,
				      .style = {rows[i].color, 0}};

		gk_history_of_host(t->history, rows[i].what, span, values);
		graph_draw(g, &graph, values);
		last[rows[i].what] = last_of(values, span);
	}
	load_label(label, sizeof label, h);
	draw_label(g, line, 1, width, label);
	cpu_label(t, label, last[GK_HH_CPU]);
	draw_label(g, line + 1, 1, width, label);
	share_text(t, label, "MEM", h->mem_total, h->mem_available,
		   last[GK_HH_MEM]);
	draw_label(g, line + FULL_HEIGHT - 3, 1, width, label);
	share_text(t, label, "SWP", h->swap_total, h->swap_free,
		   last[GK_HH_SWAP]);
	draw_label(g, line + FULL_HEIGHT - 2, 1, width, label);
	draw_host_axis(t, g, line, 1, width);
}

/* ---- the GPUs ---- */

static unsigned gpu_count(const struct tui *t)
{
	unsigned gpus = 0;

	for (size_t i = 0; i < t->snap->device_count; i++)
		gpus += t->snap->devices[i].mig_index < 0;
	return gpus;
}

/*
 * Returns the only GPU, or the GPU of the selected process; NULL stands for the
 * average of all.
 */
static const struct gk_device *chosen_gpu(const struct tui *t)
{
	long at = tui_selected(t);
	const struct gk_device *d;

	if (gpu_count(t) == 1)
		return &t->snap->devices[0];
	if (at < 0)
		return NULL;
	d = &t->snap->devices[t->snap->processes[t->list[at]].device];
	return d->parent >= 0 ? &t->snap->devices[d->parent] : d;
}

static float top_of_values(const float *values, unsigned count, float top)
{
	float most = 1;

	if (top > 0)
		return top;
	for (unsigned i = 0; i < count; i++)
		if (values[i] > most)
			most = values[i];
	return most * 1.25F;
}

static void gpu_label(const struct tui *t, char *dst,
		      const struct gk_device *gpu, const char *title,
		      const char *unit, float value)
{
	char number[24] = "N/A", which[16] = "AVG GPU";

	if (!isnan(value))
		snprintf(number, sizeof number, "%.1f%s", (double)value, unit);
	if (gpu && gpu_count(t) > 1)
		snprintf(which, sizeof which, "GPU %u", gpu->index);
	else if (gpu)
		snprintf(which, sizeof which, "GPU");
	snprintf(dst, LABEL_MAX, " %s %s: %s ", which, title, number);
}

/*
 * Returns the colour of a graph for its last value, by the thresholds of the
 * bars.
 */
static uint16_t color_of_load(const struct tui *t, const struct series *of,
			      float value)
{
	static const uint16_t colors[] = {
	    [GK_LIGHT] = 2, [GK_MODERATE] = 3, [GK_HEAVY] = 1};
	struct gk_value tenths = {.why = isnan(value) ? GK_ABSENT_NOT_SUPPORTED
						      : GK_PRESENT};

	if (strcmp(of->unit, "%") != 0)
		return colors[GK_LIGHT];
	if (tenths.why == GK_PRESENT)
		tenths.v = (int64_t)(value * 10);
	if (of->what == GK_HD_MEM || of->what == GK_HD_MEM_UTIL)
		return colors[gk_memory_intensity(&t->options.boxed, tenths)];
	return colors[gk_gpu_intensity(&t->options.boxed, tenths)];
}

static void draw_gpu_graphs(const struct tui *t, struct grid *g, int line,
			    int column, int width)
{
	const struct gk_device *gpu = chosen_gpu(t);
	struct gk_history_span span = tui_time_span(t, width);
	float values[VALUES_MAX];
	char label[LABEL_MAX];

	for (int lower = 0; lower < 2; lower++) {
		const struct series *of = &pairs[t->main.graph][lower];
		struct graph graph = {
		    .row = line + (lower ? UPPER_ROWS + 1 : 0),
		    .column = column,
		    .rows = lower ? LOWER_ROWS : UPPER_ROWS,
		    .columns = width,
		    .hanging = lower,
		};

		if (gpu)
			gk_history_of_device(t->history, gpu->uuid, of->what,
					     span, values);
		else
			gk_history_of_devices(t->history, of->what, span,
					      values);
		graph.top = top_of_values(values, span.count, of->top);
		graph.style.color = color_of_load(t, of, last_of(values, span));
		graph_draw(g, &graph, values);
		if (t->options.boxed.colorful)
			tint_rows(g, &graph);
		gpu_label(t, label, gpu, of->title, of->unit,
			  last_of(values, span));
		draw_label(g, line + (lower ? FULL_HEIGHT - 2 : 0), column,
			   width, label);
	}
	draw_host_axis(t, g, line, column, width);
}

/* ---- the box ---- */

/* Draws a vertical border, with a branch at the axis. */
static void draw_sides(struct grid *g, int line, int column, int last)
{
	for (int r = 0; r < FULL_HEIGHT - 1; r++) {
		const char *side = r != UPPER_ROWS ? "│"
				   : !column       ? "├"
				   : last          ? "┤"
						   : "┼";

		grid_line(g, line + r, column, side, strlen(side), GRID_PLAIN);
	}
}

/* Draws an upper or lower border. `middle` is the column of a branch, or 0. */
static void draw_border(struct grid *g, int line, int width, int middle,
			const char *const ends[3])
{
	for (int c = 0; c < width; c++) {
		const char *text = !c               ? ends[0]
				   : c == width - 1 ? ends[2]
				   : c == middle    ? ends[1]
						    : "═";

		grid_line(g, line, c, text, strlen(text), GRID_PLAIN);
	}
}

int view_host(struct tui *t, struct grid *g, int line,
	      const struct main_plan *plan)
{
	static const char *const upper[] = {"╒", "╤", "╕"};
	static const char *const lower[] = {"╘", "╧", "╛"};
	int height = view_host_height(t, plan), left = LEFT_WIDTH;
	bool gpus = plan->width >= BARS_FROM && t->snap->device_count;
	int width = gpus ? plan->width : LEFT_WIDTH + 2, right;

	if (height <= BARS_HEIGHT)
		return height ? draw_bars(t, g, line, plan) : 0;
	if (plan->width < width) {
		width = plan->width;
		left = width - 2;
	}
	if (t->options.devices_hidden)
		draw_border(g, line++, width, gpus ? left + 1 : 0, upper);
	draw_host(t, g, line, left);
	draw_sides(g, line, 0, false);
	draw_sides(g, line, left + 1, !gpus);
	right = width - left - 3;
	if (right > VALUES_MAX / 2)
		right = VALUES_MAX / 2;
	if (gpus) {
		draw_gpu_graphs(t, g, line, left + 2, right);
		draw_sides(g, line, width - 1, true);
	}
	draw_border(g, line + FULL_HEIGHT - 1, width, gpus ? left + 1 : 0,
		    lower);
	return height;
}
