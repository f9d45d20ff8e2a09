/*
 * grid_text.h - a grid of cells as text, for a terminal that goes on below it.
 */
#ifndef GK_TUI_GRID_TEXT_H
#define GK_TUI_GRID_TEXT_H

#include "base/str.h"
#include "tui/grid.h"

/* Adds the first rows, without the blanks at their ends. */
void grid_text(struct gk_buf *out, const struct grid *g, int rows, bool color);

#endif
