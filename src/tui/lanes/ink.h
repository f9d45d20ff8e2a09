/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ink.h - what colours mean in the look "lanes": work is bright, idleness dim,
 * throttling amber, and only failures are red. Screens name an ink; theme and
 * terminal determine its style.
 */
#ifndef GK_TUI_LANES_INK_H
#define GK_TUI_LANES_INK_H

#include "format/owners.h"
#include "tui/screen/grid.h"

struct tui;

enum ink {
	INK_TEXT,
	INK_STRONG,
	INK_DIM,
	INK_FAINT,  /* rules and empty parts of bars */
	INK_ACCENT, /* keys, and the word "gpukit" */
	INK_WORK_BODY,
	INK_WORK, /* the first of 4 inks: below 25, 50, 75 percent, and above */
	INK_WORK_MOST = INK_WORK + 3,
	INK_POWER_BODY,
	INK_POWER,
	INK_OTHER_BODY,
	INK_OTHER,
	INK_OWNER, /* the first of GK_OWNERS inks for owners */
	INK_OWNER_OTHER = INK_OWNER + GK_OWNERS,
	INK_WARN,
	INK_FAIL,
	INK_COUNT
};

struct grid_style lanes_ink(const struct tui *t, enum ink ink);

/* Returns the style of an ink, in bold. */
struct grid_style lanes_bold(const struct tui *t, enum ink ink);

/*
 * Whether there are no colours, so that owners must be told apart by letters;
 * and whether only ASCII may be drawn.
 */
bool lanes_is_mono(const struct tui *t);
bool lanes_is_ascii(const struct tui *t);

/* Draws the background of a selection under a part of a row. */
void lanes_mark_selected(const struct tui *t, struct grid *g, int row,
			 int column, int width);

/* Returns the ink for a utilization. */
enum ink lanes_work_ink(double percent);

/*
 * Return the style of a number. For lanes_busy_style() the number is a
 * utilization in percent, and `idle` is the ink for less than 5 %. For
 * lanes_memory_style() it is the share of memory in use, from 0 to 1. Numbers
 * that reach the user's lower threshold are amber, those that reach the upper
 * one are red.
 */
struct grid_style lanes_busy_style(const struct tui *t, double percent,
				   enum ink idle);
struct grid_style lanes_memory_style(const struct tui *t, double share);

/*
 * Returns the style with the gradient's colour for a share from 0 to 1, or
 * unchanged unless bars are colourful.
 */
struct grid_style lanes_gradient(const struct tui *t, double share,
				 struct grid_style style);

/* Whether a process belongs to another user, so that we cannot signal it. */
bool lanes_is_foreign(const struct tui *t, const struct gk_process *p);

/* Draws a text. Returns the column after it. */
int lanes_put(struct grid *g, int row, int column, struct grid_style style,
	      const char *format, ...) __attribute__((format(printf, 5, 6)));

/*
 * Draws a text in a cell of `width` columns, right-aligned if `right` is true.
 * A text that is too long is cut with a '›'.
 */
void lanes_cell(struct grid *g, int row, int column, int width, bool right,
		struct grid_style style, const char *text);

/* Position and width of a table's column. Width 0 means that it is left out. */
struct lanes_span {
	int at, width;
};

/*
 * Returns a span that begins `gap` columns after *at. Moves *at to the span's
 * end.
 */
struct lanes_span lanes_take_span(int *at, int gap, int width);

/* Draws a cell with lanes_cell(), or nothing if the span has width 0. */
void lanes_put_span(struct grid *g, int row, struct lanes_span span, bool right,
		    struct grid_style style, const char *text);

/* Fills `width` columns of a row with a character. */
void lanes_fill(struct grid *g, int row, int column, int width, wchar_t sign,
		struct grid_style style);

/* Returns the width of a text in columns. */
int lanes_width(const char *text);

#endif
