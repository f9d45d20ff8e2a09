/* SPDX-License-Identifier: Apache-2.0 */
/* graph.c - draws graphs of braille dots. */
#include "tui/screen/graph.h"

#include "base/assert.h"
#include "base/clock.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define BRAILLE 0x2800

/*
 * Bits of Unicode's braille patterns: the left and the right half of a cell,
 * with 0 to 4 dots from the bottom or from the top.
 */
static const unsigned char rising[2][5] = {
    {0, 0x40, 0x44, 0x46, 0x47},
    {0, 0x80, 0xa0, 0xb0, 0xb8},
};
static const unsigned char falling[2][5] = {
    {0, 0x01, 0x03, 0x07, 0x47},
    {0, 0x08, 0x18, 0x38, 0xb8},
};

/* Returns the height of a value in dots; each row has 4 dots. */
static int height_of(const struct graph *graph, float value)
{
	float share = value / graph->top;
	int most = graph->rows * 4, dots = 0;

	if (isnan(share))
		return 0;
	if (share >= 1)
		return most;
	if (share > 0)
		dots = (int)(share * (float)most + 0.5F);
	return dots > 0 ? dots : 1;
}

/* Returns how many dots of a column are in a row. Rows count from the base. */
static int dots_in(int height, int row)
{
	int dots = height - row * 4;

	return dots < 0 ? 0 : dots > 4 ? 4 : dots;
}

static void draw_cell(struct grid *g, const struct graph *graph, int column,
		      int left, int right)
{
	for (int r = 0; r < graph->rows; r++) {
		int row = graph->hanging ? graph->row + r
					 : graph->row + graph->rows - 1 - r;
		int at = graph->column + column;
		const unsigned char(*dots)[5] =
		    graph->hanging ? falling : rising;
		int pattern =
		    dots[0][dots_in(left, r)] | dots[1][dots_in(right, r)];

		if (row < 0 || row >= g->rows || at < 0 || at >= g->columns)
			continue;
		*grid_at(g, row, at) = (struct grid_cell){
		    .c = pattern ? (wchar_t)(BRAILLE + pattern) : L' ',
		    .style = graph->style};
	}
}

void graph_draw(struct grid *g, const struct graph *graph, const float *values)
{
	GK_ASSERT(graph->top > 0);
	for (int c = 0; c < graph->columns; c++)
		draw_cell(g, graph, c, height_of(graph, values[2 * c]),
			  height_of(graph, values[2 * c + 1]));
}

static const unsigned ticks_s[] = {30,   60,    120,   180,   240,
				   300,  600,   1200,  1800,  3600,
				   7200, 14400, 28800, 43200, 86400};

static void tick_text(char *dst, size_t cap, unsigned seconds)
{
	if (seconds < 300)
		snprintf(dst, cap, "%us", seconds);
	else if (seconds < 7200)
		snprintf(dst, cap, "%um", seconds / 60);
	else
		snprintf(dst, cap, "%uh", seconds / 3600);
}

static int put_graph_text(struct grid *g, int row, int column, const char *text,
			  struct grid_style style)
{
	return grid_line(g, row, column, text, strlen(text), style);
}

void graph_axis(struct grid *g, int row, int column, int columns,
		uint64_t step_ns, struct grid_style style)
{
	char text[32];
	int free = column + columns; /* ticks must end before this column */

	GK_ASSERT(step_ns);
	for (int c = 0; c < columns; c++)
		put_graph_text(g, row, column + c, "─", GRID_PLAIN);
	for (size_t i = 0; i < sizeof ticks_s / sizeof *ticks_s; i++) {
		uint64_t values = ticks_s[i] * GK_NS_PER_S / step_ns;
		int width, end = column + columns - (int)(values / 2) + 1, at;

		tick_text(text, sizeof text, ticks_s[i]);
		width = (int)strlen(text) + 2;
		if (values / 2 > (uint64_t)columns || end - width <= column)
			break;
		if (end >= free)
			continue;
		at = put_graph_text(g, row, end - width, "╴", GRID_PLAIN);
		at = put_graph_text(g, row, at, text, style);
		put_graph_text(g, row, at, "├", GRID_PLAIN);
		free = end - width;
	}
}
