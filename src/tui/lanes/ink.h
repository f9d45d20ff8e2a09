/*
 * ink.h - what colours mean in the look "lanes": work is bright, what is idle
 * dim, what is held back amber, and only what is broken red. Screens name a
 * token; the theme and the terminal's colours make a style of it.
 */
#ifndef GK_TUI_LANES_INK_H
#define GK_TUI_LANES_INK_H

#include "format/owners.h"
#include "tui/grid.h"

struct tui;

enum ink {
	INK_TEXT,
	INK_STRONG,
	INK_DIM,
	INK_FAINT,  /* tracks and rules */
	INK_ACCENT, /* keys, our name */
	INK_WORK_BODY,
	INK_WORK, /* four: below 25, 50, 75 percent, and from there on */
	INK_WORK_MOST = INK_WORK + 3,
	INK_POWER_BODY,
	INK_POWER,
	INK_OTHER_BODY,
	INK_OTHER,
	INK_OWNER, /* GK_OWNERS of them */
	INK_OWNER_OTHER = INK_OWNER + GK_OWNERS,
	INK_WARN,
	INK_FAIL,
	INK_COUNT
};

struct grid_style lanes_ink(const struct tui *t, enum ink ink);

/* The same, bold. */
struct grid_style lanes_bold(const struct tui *t, enum ink ink);

/* Whether colours cannot tell things apart: letters must. */
bool lanes_is_mono(const struct tui *t);
bool lanes_is_ascii(const struct tui *t);

/* Marks cells of a row as selected. */
void lanes_mark_selected(const struct tui *t, struct grid *g, int row,
			 int column, int width);

/* The colour of a share of 100 percent that is worked. */
enum ink lanes_work_ink(double percent);

/* Draws a text from a column on; returns the column behind it. */
int lanes_put(struct grid *g, int row, int column, struct grid_style style,
	      const char *format, ...) __attribute__((format(printf, 5, 6)));

/* The same in a number of columns: cut with a mark; right: at their end. */
void lanes_cell(struct grid *g, int row, int column, int width, bool right,
		struct grid_style style, const char *text);

/* Fills columns of a row with a sign. */
void lanes_fill(struct grid *g, int row, int column, int width, wchar_t sign,
		struct grid_style style);

/* How many columns a text takes. */
int lanes_width(const char *text);

#endif
