/* SPDX-License-Identifier: Apache-2.0 */
/* scaled_graph.c - draws a graph with its scale. */
#include "tui/screen/scaled_graph.h"

#include "base/assert.h"
#include "format/width.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define TEXT_ROWS 2    /* rows reserved for the texts */
#define TICK_ROWS 2    /* minimum distance between two ticks */
#define NEAR      0.3F /* maximum error of a tick's position, in rows */

/* Ticks are at these numbers times a power of ten. */
static const float tick_numbers[] = {8, 5, 4, 2, 1};

int scaled_graph_columns(int columns)
{
	int most = SCALED_GRAPH_VALUES / 2;

	return columns > most ? most : columns;
}

float scaled_graph_last(const float *values, unsigned count)
{
	return count ? values[count - 1] : NAN;
}

float scaled_graph_max(const float *values, unsigned count)
{
	float most = NAN;

	for (unsigned i = 0; i < count; i++)
		if (isnan(most) || values[i] > most)
			most = values[i];
	return most;
}

float scaled_graph_top(const float *values, unsigned count, float least,
		       float most)
{
	float top = 1.25F * scaled_graph_max(values, count);

	return isnan(top) || top < least ? least : top > most ? most : top;
}

/*
 * Returns the row whose end is nearest to a value; row 0 is beside the axis.
 * *ret_off is the distance from the exact position, in rows.
 */
static int row_of_value(const struct scaled_graph *graph, float value,
			float *ret_off)
{
	float rows = value / graph->top * (float)graph->rows;
	float end = rintf(rows);

	*ret_off = fabsf(rows - end);
	return (int)end - 1;
}

static void draw_tick(struct grid *g, const struct scaled_graph *graph,
		      int from_axis, float value)
{
	struct grid_style dim = {GRID_COLOR_NONE, GRID_DIM};
	char text[32];
	int row = graph->hanging ? graph->row + from_axis
				 : graph->row + graph->rows - 1 - from_axis;

	if (value < 1)
		snprintf(text, sizeof text, "├╴%.1f%s ", (double)value,
			 graph->unit);
	else
		snprintf(text, sizeof text, "├╴%.0f%s ", (double)value,
			 graph->unit);
	grid_line(g, row, graph->column - 1, text, strlen(text), dim);
}

/*
 * Draws the ticks that are at most `furthest` rows from their exact positions.
 * Returns their number.
 */
static int draw_near(struct grid *g, const struct scaled_graph *graph,
		     float furthest)
{
	float power = 1, off;
	int last = graph->rows - TEXT_ROWS + 1, drawn = 0;

	while (power * 10 <= graph->top)
		power *= 10;
	for (; last > 0 && power >= graph->top / 1000; power /= 10) {
		for (size_t i = 0;
		     i < sizeof tick_numbers / sizeof *tick_numbers; i++) {
			float value = tick_numbers[i] * power;
			int row = row_of_value(graph, value, &off);

			if (value > graph->top || row < 1 ||
			    row > last - TICK_ROWS || off > furthest)
				continue;
			draw_tick(g, graph, row, value);
			last = row;
			drawn++;
		}
	}
	return drawn;
}

static void draw_ticks(struct grid *g, const struct scaled_graph *graph)
{
	if (!draw_near(g, graph, NEAR))
		draw_near(g, graph, 1);
}

static void draw_graph_text(struct grid *g, const struct scaled_graph *graph,
			    int from_edge, const char *text)
{
	int row = graph->hanging ? graph->row + graph->rows - 1 - from_edge
				 : graph->row + from_edge;

	if (!*text || from_edge >= graph->rows)
		return;
	grid_line(g, row, graph->column, " ", 1, GRID_PLAIN);
	grid_line(g, row, graph->column + 1, text,
		  gk_fit(text, strlen(text), (size_t)(graph->columns - 1)),
		  (struct grid_style){graph->color, GRID_BOLD});
}

void scaled_graph_draw(struct grid *g, const struct scaled_graph *graph,
		       const float *values)
{
	struct graph bare = {.row = graph->row,
			     .column = graph->column,
			     .rows = graph->rows,
			     .columns = graph->columns,
			     .top = graph->top,
			     .hanging = graph->hanging,
			     .style = {graph->color, 0}};

	GK_ASSERT(graph->columns <= SCALED_GRAPH_VALUES / 2);
	if (graph->rows <= 0 || graph->columns <= 1 || !(graph->top > 0))
		return;
	graph_draw(g, &bare, values);
	draw_ticks(g, graph);
	draw_graph_text(g, graph, 0, graph->outer);
	draw_graph_text(g, graph, 1, graph->inner);
}
