/* SPDX-License-Identifier: Apache-2.0 */
/* box.c - draws the lines of boxes, and texts cut to fit into them. */
#include "tui/screen/box.h"

#include "format/width.h"

#include <string.h>

static void sign_at(struct grid *g, int row, int column, const char *sign)
{
	grid_line(g, row, column, sign, strlen(sign), GRID_PLAIN);
}

void box_rule(struct grid *g, int row, int column, int columns,
	      const char *left, const char *fill, const char *right)
{
	for (int c = 1; c < columns - 1; c++)
		sign_at(g, row, column + c, fill);
	sign_at(g, row, column, left);
	sign_at(g, row, column + columns - 1, right);
}

void box_side(struct grid *g, int row, int rows, int column, const char *sign)
{
	for (int r = 0; r < rows; r++)
		sign_at(g, row + r, column, sign);
}

int box_text(struct grid *g, int row, int column, int columns, const char *text,
	     struct grid_style style)
{
	if (columns <= 0)
		return column;
	return grid_line(g, row, column, text,
			 gk_fit(text, strlen(text), (size_t)columns), style);
}

void box_text_right(struct grid *g, int row, int end, const char *text,
		    struct grid_style style)
{
	size_t len = strlen(text);

	grid_line(g, row, end - (int)gk_columns(text, len), text, len, style);
}
