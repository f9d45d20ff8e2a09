/*
 * plot.h - a graph with its scale at the left and two lines of text in it.
 */
#ifndef GK_TUI_PLOT_H
#define GK_TUI_PLOT_H

#include "tui/graph.h"

#define PLOT_VALUES_MAX 2048

struct plot {
	int row, column, rows, columns; /* the border is at column - 1 */
	bool hanging;                   /* grows down from the axis above it */
	float top;                      /* value that fills it */
	const char *unit;               /* behind the numbers of the scale */
	uint16_t color;
	char outer[160], inner[160]; /* texts, on the row furthest from the axis
				      and the next one */
};

/* Draws 2 * columns values, the newest last. */
void plot_draw(struct grid *g, const struct plot *plot, const float *values);

/* The newest value, and the greatest; NAN when none is known. */
float plot_last(const float *values, unsigned count);
float plot_max(const float *values, unsigned count);

/*
 * Where a scale should end for these values: a quarter above the greatest,
 * between least and most.
 */
float plot_top(const float *values, unsigned count, float least, float most);

/* How many values columns take, at most PLOT_VALUES_MAX. */
int plot_columns(int columns);

#endif
