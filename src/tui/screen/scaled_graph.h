/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scaled_graph.h - draws a graph with a scale at its left and two lines of text
 * inside.
 */
#ifndef GK_TUI_SCALED_GRAPH_H
#define GK_TUI_SCALED_GRAPH_H

#include "tui/screen/graph.h"

#define SCALED_GRAPH_VALUES 2048

struct scaled_graph {
	int row, column, rows, columns; /* the border is at column - 1 */
	bool hanging;                   /* grows down from the axis above it */
	float top;                      /* value at full height */
	const char *unit;               /* unit of the scale's numbers */
	uint16_t color;
	/* Texts in the row furthest from the axis, and in the next row. */
	char outer[160], inner[160];
};

/* Draws 2 * columns values, the newest last. */
void scaled_graph_draw(struct grid *g, const struct scaled_graph *graph,
		       const float *values);

/* Return the newest value and the greatest value; NAN if none is known. */
float scaled_graph_last(const float *values, unsigned count);
float scaled_graph_max(const float *values, unsigned count);

/*
 * Returns the upper end of a scale for these values: a quarter above the
 * greatest value, but between `least` and `most`.
 */
float scaled_graph_top(const float *values, unsigned count, float least,
		       float most);

/*
 * Returns `columns`, or the number of columns that SCALED_GRAPH_VALUES values
 * fill, if that is less.
 */
int scaled_graph_columns(int columns);

#endif
