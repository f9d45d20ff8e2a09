/*
 * graph.h - a series of values as a graph of braille dots, two values to a
 * cell, four steps to a row.
 */
#ifndef GK_TUI_GRAPH_H
#define GK_TUI_GRAPH_H

#include "tui/grid.h"

struct graph {
	int row, column, rows, columns; /* where; parts outside are cut */
	float top;                      /* the value that fills it */
	bool hanging;                   /* grows down from the top */
	struct grid_style style;
};

/*
 * Draws 2 * columns values, the newest last; NAN leaves a gap, any other
 * value shows at least one dot.
 */
void graph_draw(struct grid *g, const struct graph *graph, const float *values);

/*
 * Draws the line of times between two graphs: a rule with "╴60s├" where 30 s,
 * 60 s, 120 s... ago are, for step_ns a value. The branch is above the first
 * cell of that time. style: of the times.
 */
void graph_axis(struct grid *g, int row, int column, int columns,
		uint64_t step_ns, struct grid_style style);

#endif
