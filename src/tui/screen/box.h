/*
 * box.h - boxes of lines on a grid.
 */
#ifndef GK_TUI_BOX_H
#define GK_TUI_BOX_H

#include "tui/grid.h"

/* A rule across a row: left, fill as often as needed, right. */
void box_rule(struct grid *g, int row, int column, int columns,
	      const char *left, const char *fill, const char *right);

/* The same sign down a column. */
void box_side(struct grid *g, int row, int rows, int column, const char *sign);

/* A text, cut to that many columns; returns the column behind it. */
int box_text(struct grid *g, int row, int column, int columns, const char *text,
	     struct grid_style style);

/* A text that ends before a column. */
void box_text_right(struct grid *g, int row, int end, const char *text,
		    struct grid_style style);

#endif
