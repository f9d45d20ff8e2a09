/*
 * grid.h - a screen in memory: cells that views draw into and that tests
 * compare. Whoever shows it finds what changed by comparing two grids.
 *
 * Views write lines with the colours of format/color.h; grid_line() turns
 * their ANSI sequences into the styles of cells. A wide character takes its
 * cell and an empty one behind it; combining characters are dropped.
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

#define GRID_COLOR_NONE 0xffff /* the terminal's own */

struct grid_style {
	uint16_t color;     /* 0 to 255 as of xterm, or GRID_COLOR_NONE */
	uint16_t attribute; /* bits of grid_attribute */
};

#define GRID_PLAIN ((struct grid_style){.color = GRID_COLOR_NONE})

struct grid_cell {
	wchar_t c; /* 0: the right half of a wide character */
	struct grid_style style;
	uint16_t ground; /* background: 1 + a colour; 0: the terminal's */
};

struct grid {
	int rows, columns;
	struct grid_cell *cells; /* row by row */
};

/* Makes a grid of blanks that size; false without memory. */
bool grid_resize(struct grid *g, int rows, int columns);
void grid_free(struct grid *g);
void grid_clear(struct grid *g);

/* The cell at a place that exists. */
static inline struct grid_cell *grid_at(const struct grid *g, int row,
					int column)
{
	return &g->cells[row * g->columns + column];
}

/*
 * Draws a line of UTF-8 text with ANSI colours (SGR) from a place to the
 * right; what lies left or right of the grid is cut off. base is the style
 * that the text has where it says nothing. Returns the column behind it.
 */
int grid_line(struct grid *g, int row, int column, const char *text, size_t len,
	      struct grid_style base);

/* Adds attributes to, and takes others from, cells of a row. */
void grid_mark(struct grid *g, int row, int column, int width, unsigned add,
	       unsigned remove);

/* The same colour for cells of a row. */
void grid_tint(struct grid *g, int row, int column, int width, uint16_t color);

/* The same background for cells of a row: 1 + a colour, or 0. */
void grid_ground(struct grid *g, int row, int column, int width,
		 uint16_t ground);

/* Blanks in a rectangle; parts outside are left out. */
void grid_blank(struct grid *g, int row, int column, int rows, int columns);

/* Every cell dim: what lies under a dialog. */
void grid_dim(struct grid *g);

/* Replaces what is not ASCII, for terminals without UTF-8. */
void grid_to_ascii(struct grid *g);

/* In line: asked of every cell of every frame. */
static inline bool grid_same_cell(const struct grid_cell *a,
				  const struct grid_cell *b)
{
	return a->c == b->c && a->style.color == b->style.color &&
	       a->style.attribute == b->style.attribute &&
	       a->ground == b->ground;
}

#endif
