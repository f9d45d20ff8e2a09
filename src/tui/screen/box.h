/* SPDX-License-Identifier: Apache-2.0 */
/*
 * box.h - draws boxes and texts that fit into them.
 */
#ifndef GK_TUI_BOX_H
#define GK_TUI_BOX_H

#include "tui/screen/grid.h"

/* Draws a horizontal rule of `columns` columns: left, fill repeated, right. */
void box_rule(struct grid *g, int row, int column, int columns,
	      const char *left, const char *fill, const char *right);

/* Draws a vertical line: the sign in each of `rows` rows. */
void box_side(struct grid *g, int row, int rows, int column, const char *sign);

/* Draws a text, cut to `columns` columns. Returns the column after it. */
int box_text(struct grid *g, int row, int column, int columns, const char *text,
	     struct grid_style style);

/* Draws a right-aligned text that ends before column `end`. */
void box_text_right(struct grid *g, int row, int end, const char *text,
		    struct grid_style style);

#endif
