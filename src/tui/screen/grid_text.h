/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grid_text.h - writes a grid as lines of text, for output that scrolls.
 */
#ifndef GK_TUI_GRID_TEXT_H
#define GK_TUI_GRID_TEXT_H

#include "base/str.h"
#include "tui/screen/grid.h"

/* Adds the first rows of a grid as lines without trailing blanks. */
void grid_text(struct gk_buf *out, const struct grid *g, int rows, bool color);

#endif
