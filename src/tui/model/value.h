/* SPDX-License-Identifier: Apache-2.0 */
/*
 * value.h - formats values for the screens, and lays out rows that lose columns
 * on narrow terminals.
 */
#ifndef GK_TUI_VALUE_H
#define GK_TUI_VALUE_H

#include "base/str.h"
#include "format/units.h"
#include "format/width.h"

#include <gpukit/gpukit.h>

/*
 * Writes a value with its unit: 12.50MiB, 68W, 1410MHz, 35C, 12.5%, 4:22.
 * Writes "N/A" if it is absent. dst has GK_UNITS_MAX bytes. Returns dst.
 */
char *tui_value(char *dst, struct gk_value value, enum gk_unit unit);

/*
 * Writes a percentage without its sign, in at most 5 columns: "12.5", "1200",
 * "9999+".
 */
char *tui_share(char *dst, struct gk_value centipercent);

/*
 * Returns part / whole in hundredths of a percent. The result is absent if
 * either is.
 */
struct gk_value tui_part(struct gk_value part, struct gk_value whole);

struct tui_column {
	const char *title;
	int width;
	enum gk_align align;
	int keep; /* the column with the lowest value is left out first; 0:
		   * never left out */
};

#define TUI_COLUMNS_MAX 16

/*
 * Returns a bit mask of the table's columns that fit; bit 0 is the first one.
 * The terminal is `width` characters wide, of which `rest` are used for other
 * things. A blank follows each column.
 */
unsigned tui_columns_fit(const struct tui_column *columns, int count, int width,
			 int rest);

/* Returns the width of the columns in a mask, including their blanks. */
int tui_columns_width(const struct tui_column *columns, int count,
		      unsigned shown);

/* Adds a cell and a blank. A text that is too long is cut and ends in '+'. */
void tui_column_add(struct gk_buf *out, const struct tui_column *column,
		    const char *text);

#endif
