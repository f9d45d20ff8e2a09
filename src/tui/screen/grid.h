/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grid.h - a screen in memory, as an array of cells. Views draw into it, and
 * term.c shows the cells that differ from the previous grid.
 *
 * Views write lines with the colours of format/color.h; grid_line() turns their
 * ANSI sequences into the styles of cells. A wide character takes two cells, of
 * which the right one is empty. Combining characters are dropped.
 */
#ifndef GK_TUI_GRID_H
#define GK_TUI_GRID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum grid_attribute {
	GRID_BOLD = 1,
	GRID_DIM = 2,
	GRID_ITALIC = 4,
	GRID_UNDERLINE = 8,
	GRID_BLINK = 16,
	GRID_REVERSE = 32,
};

#define GRID_COLOR_NONE 0xffff /* the terminal's default colour */

struct grid_style {
	uint16_t color;     /* xterm colour 0 to 255, or GRID_COLOR_NONE */
	uint16_t attribute; /* bits of grid_attribute */
};

#define GRID_PLAIN ((struct grid_style){.color = GRID_COLOR_NONE})

struct grid_cell {
	wchar_t c; /* 0: right half of a wide character */
	struct grid_style style;
	uint16_t ground; /* background colour + 1; 0: the terminal's default */
};

struct grid {
	int rows, columns;
	struct grid_cell *cells; /* row by row */
};

/*
 * Makes *g a blank grid of this size. *g is a grid or all zero. Returns false
 * if out of memory.
 */
bool grid_resize(struct grid *g, int rows, int columns);
void grid_free(struct grid *g);
void grid_clear(struct grid *g);

/* Returns the cell at a position that must be on the grid. */
static inline struct grid_cell *grid_at(const struct grid *g, int row,
					int column)
{
	return &g->cells[row * g->columns + column];
}

/*
 * Draws UTF-8 text with ANSI colours (SGR), cut at the edges of the grid.
 * `base` is the style before the first sequence and after a reset. Returns the
 * column after the text.
 */
int grid_line(struct grid *g, int row, int column, const char *text, size_t len,
	      struct grid_style base);

/* Adds and removes attributes of cells in a row. */
void grid_mark(struct grid *g, int row, int column, int width, unsigned add,
	       unsigned remove);

/* Sets the colour of cells in a row. */
void grid_tint(struct grid *g, int row, int column, int width, uint16_t color);

/* Sets the background of cells in a row: colour + 1, or 0. */
void grid_ground(struct grid *g, int row, int column, int width,
		 uint16_t ground);

/* Blanks the part of a rectangle that is on the grid. */
void grid_blank(struct grid *g, int row, int column, int rows, int columns);

/* Dims every cell, as under a dialog. */
void grid_dim(struct grid *g);

/* Replaces all characters that are not ASCII, for terminals without UTF-8. */
void grid_to_ascii(struct grid *g);

/* Inline because it is called for every cell of every frame. */
static inline bool grid_same_cell(const struct grid_cell *a,
				  const struct grid_cell *b)
{
	return a->c == b->c && a->style.color == b->style.color &&
	       a->style.attribute == b->style.attribute &&
	       a->ground == b->ground;
}

#endif
