/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph.h - draws a series of values as a graph of braille dots: a cell is two
 * values wide and four dots high.
 */
#ifndef GK_TUI_GRAPH_H
#define GK_TUI_GRAPH_H

#include "tui/screen/grid.h"

struct graph {
	int row, column, rows,
	    columns;  /* parts outside the grid are not drawn */
	float top;    /* value at full height */
	bool hanging; /* grows down from the top */
	struct grid_style style;
};

/*
 * Draws 2 * columns values, the newest last. NAN leaves a gap; any other value
 * shows at least one dot.
 */
void graph_draw(struct grid *g, const struct graph *graph, const float *values);

/*
 * Draws the time axis between two graphs: a rule with ticks such as "╴60s├" at
 * 30 s, 60 s, 120 s... ago. The ├ is above the first cell of that time. Each
 * value covers step_ns. The texts are drawn in `style`.
 */
void graph_axis(struct grid *g, int row, int column, int columns,
		uint64_t step_ns, struct grid_style style);

#endif
