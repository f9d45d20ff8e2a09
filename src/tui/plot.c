/* plot.c - draws a graph with its scale. */
#include "tui/plot.h"

#include "format/width.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define TEXT_ROWS 2    /* taken by the texts */
#define TICK_ROWS 2    /* a tick for so many rows at most */
#define NEAR      0.3F /* rows that a tick should not be off */

/* Numbers of a scale, from the greatest down, times a power of ten. */
static const float tick_numbers[] = {8, 5, 4, 2, 1};

int plot_columns(int columns)
{
	int most = PLOT_VALUES_MAX / 2;

	return columns > most ? most : columns;
}

float plot_last(const float *values, unsigned count)
{
	return count ? values[count - 1] : NAN;
}

float plot_max(const float *values, unsigned count)
{
	float most = NAN;

	for (unsigned i = 0; i < count; i++)
		if (isnan(most) || values[i] > most)
			most = values[i];
	return most;
}

float plot_top(const float *values, unsigned count, float least, float most)
{
	float top = 1.25F * plot_max(values, count);

	return isnan(top) || top < least ? least : top > most ? most : top;
}

/*
 * The row, 0 beside the axis, that ends at a value, as near as may be; off is
 * how far from there, in rows.
 */
static int row_of_value(const struct plot *plot, float value, float *ret_off)
{
	float rows = value / plot->top * (float)plot->rows;
	float end = rintf(rows);

	*ret_off = fabsf(rows - end);
	return (int)end - 1;
}

static void draw_tick(struct grid *g, const struct plot *plot, int from_axis,
		      float value)
{
	struct grid_style dim = {GRID_COLOR_NONE, GRID_DIM};
	char text[32];
	int row = plot->hanging ? plot->row + from_axis
				: plot->row + plot->rows - 1 - from_axis;

	if (value < 1)
		snprintf(text, sizeof text, "├╴%.1f%s ", (double)value,
			 plot->unit);
	else
		snprintf(text, sizeof text, "├╴%.0f%s ", (double)value,
			 plot->unit);
	grid_line(g, row, plot->column - 1, text, strlen(text), dim);
}

/*
 * Draws the ticks that are no further than this from the end of their row, and
 * returns how many.
 */
static int draw_near(struct grid *g, const struct plot *plot, float furthest)
{
	float power = 1, off;
	int last = plot->rows - TEXT_ROWS + 1, drawn = 0;

	while (power * 10 <= plot->top)
		power *= 10;
	for (; last > 0 && power >= plot->top / 1000; power /= 10) {
		for (size_t i = 0;
		     i < sizeof tick_numbers / sizeof *tick_numbers; i++) {
			float value = tick_numbers[i] * power;
			int row = row_of_value(plot, value, &off);

			if (value > plot->top || row < 1 ||
			    row > last - TICK_ROWS || off > furthest)
				continue;
			draw_tick(g, plot, row, value);
			last = row;
			drawn++;
		}
	}
	return drawn;
}

static void draw_ticks(struct grid *g, const struct plot *plot)
{
	if (!draw_near(g, plot, NEAR))
		draw_near(g, plot, 1);
}

static void draw_plot_text(struct grid *g, const struct plot *plot,
			   int from_edge, const char *text)
{
	int row = plot->hanging ? plot->row + plot->rows - 1 - from_edge
				: plot->row + from_edge;

	if (!*text || from_edge >= plot->rows)
		return;
	grid_line(g, row, plot->column, " ", 1, GRID_PLAIN);
	grid_line(g, row, plot->column + 1, text,
		  gk_fit(text, strlen(text), (size_t)(plot->columns - 1)),
		  (struct grid_style){plot->color, GRID_BOLD});
}

void plot_draw(struct grid *g, const struct plot *plot, const float *values)
{
	struct graph graph = {.row = plot->row,
			      .column = plot->column,
			      .rows = plot->rows,
			      .columns = plot->columns,
			      .top = plot->top,
			      .hanging = plot->hanging,
			      .style = {plot->color, 0}};

	if (plot->rows <= 0 || plot->columns <= 1 || !(plot->top > 0))
		return;
	graph_draw(g, &graph, values);
	draw_ticks(g, plot);
	draw_plot_text(g, plot, 0, plot->outer);
	draw_plot_text(g, plot, 1, plot->inner);
}
