/*
 * view_host.c - the host on the main screen: two lines of bars, or graphs of
 * CPU and memory beside those of the GPUs.
 */
#include "format/boxed_part.h"
#include "tui/graph.h"
#include "tui/view.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define FULL_HEIGHT 12 /* the first line is the table's lower border */
#define LEFT_WIDTH  77
#define UPPER_ROWS  5
#define LOWER_ROWS  5
#define BARS_FROM   100 /* columns from which there are graphs of GPUs */
#define VALUES_MAX  1024

int view_host_height(const struct tui *t, bool compact)
{
	if (t->options.host_hidden)
		return 0;
	return compact || t->options.term.ascii ? 2 : FULL_HEIGHT - 1;
}

static int view_bars(struct tui *t, struct grid *g, int line)
{
	struct gk_buf text = {0};
	struct gk_box box = {
	    .out = &text, .snap = t->snap, .o = &t->options.boxed};
	int lines;

	box.width =
	    t->columns > GK_BOXED_WIDTH_MIN ? t->columns : GK_BOXED_WIDTH_MIN;
	gk_box_host(&box);
	lines = view_lines(g, line, &text);
	gk_buf_free(&text);
	return lines;
}

/* A block of two graphs with the axis of time between them. */
struct block {
	int column, width;
	uint16_t upper_color, lower_color;
	char upper[64], lower[64]; /* labels */
	float upper_values[VALUES_MAX], lower_values[VALUES_MAX];
};

static void draw_block(const struct tui *t, struct grid *g, int line,
		       const struct block *b)
{
	struct grid_style dim = {GRID_COLOR_NONE, GRID_DIM};
	struct graph upper = {.row = line,
			      .column = b->column,
			      .rows = UPPER_ROWS,
			      .columns = b->width,
			      .top = 100,
			      .style = {b->upper_color, 0}};
	struct graph lower = upper;

	lower.row = line + UPPER_ROWS + 1;
	lower.rows = LOWER_ROWS;
	lower.hanging = true;
	lower.style.color = b->lower_color;
	graph_draw(g, &upper, b->upper_values);
	graph_draw(g, &lower, b->lower_values);
	graph_axis(g, line + UPPER_ROWS, b->column, b->width, tui_time_step(t),
		   dim);
	grid_line(g, line, b->column, b->upper, strlen(b->upper), GRID_PLAIN);
	grid_line(g, line + UPPER_ROWS + LOWER_ROWS, b->column, b->lower,
		  strlen(b->lower), GRID_PLAIN);
}

static float last_of(const float *values, unsigned count)
{
	return count ? values[count - 1] : NAN;
}

static void label(char *dst, size_t cap, const char *title, float value)
{
	if (isnan(value))
		snprintf(dst, cap, " %s: N/A ", title);
	else
		snprintf(dst, cap, " %s: %.1f%% ", title, (double)value);
}

static int at_most(int a, int b)
{
	return a < b ? a : b;
}

static void host_block(const struct tui *t, struct block *b)
{
	struct gk_history_span span = tui_time_span(t, b->width);

	gk_history_of_host(t->history, GK_HH_CPU, span, b->upper_values);
	gk_history_of_host(t->history, GK_HH_MEM, span, b->lower_values);
	label(b->upper, sizeof b->upper, "CPU",
	      last_of(b->upper_values, span.count));
	label(b->lower, sizeof b->lower, "MEM",
	      last_of(b->lower_values, span.count));
}

static void gpu_block(const struct tui *t, struct block *b)
{
	struct gk_history_span span = tui_time_span(t, b->width);

	gk_history_of_devices(t->history, GK_HD_MEM, span, b->upper_values);
	gk_history_of_devices(t->history, GK_HD_GPU_UTIL, span,
			      b->lower_values);
	label(b->upper, sizeof b->upper, "AVG GPU MEM",
	      last_of(b->upper_values, span.count));
	label(b->lower, sizeof b->lower, "AVG GPU UTL",
	      last_of(b->lower_values, span.count));
}

int view_host(struct tui *t, struct grid *g, int line, bool compact)
{
	struct block b = {.column = 1,
			  .width = LEFT_WIDTH,
			  .upper_color = 6,
			  .lower_color = 5};

	if (t->options.host_hidden)
		return 0;
	if (view_host_height(t, compact) == 2)
		return view_bars(t, g, line);
	host_block(t, &b);
	draw_block(t, g, line, &b);
	if (t->columns < BARS_FROM)
		return FULL_HEIGHT - 1;
	b.column = LEFT_WIDTH + 2;
	b.width = at_most(t->columns - LEFT_WIDTH - 3, VALUES_MAX / 2);
	gpu_block(t, &b);
	draw_block(t, g, line, &b);
	return FULL_HEIGHT - 1;
}
