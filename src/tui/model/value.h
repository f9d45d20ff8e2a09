/*
 * value.h - values as the screens show them, and rows of columns that drop
 * out where the terminal is narrow.
 */
#ifndef GK_TUI_VALUE_H
#define GK_TUI_VALUE_H

#include "base/str.h"
#include "format/units.h"
#include "format/width.h"

#include <gpukit/gpukit.h>

/*
 * A value with its unit: 12.50MiB, 68W, 1410MHz, 35C, 12.5%, 4:22; "N/A" for
 * one that is absent. Room for GK_UNITS_MAX bytes; returns dst.
 */
char *tui_value(char *dst, struct gk_value value, enum gk_unit unit);

/* The same without a percent sign, large ones short: "12.5", "1200", "9999+".
 */
char *tui_share(char *dst, struct gk_value centipercent);

/* The part in hundredths of a percent of the whole; absent as either is. */
struct gk_value tui_part(struct gk_value part, struct gk_value whole);

struct tui_column {
	const char *title;
	int width;
	enum gk_align align;
	int keep; /* the smallest goes first; 0: never */
};

#define TUI_COLUMNS_MAX 16

/*
 * Which columns fit into width beside rest more columns and a blank after
 * each: bits, the first column is bit 0.
 */
unsigned tui_columns_fit(const struct tui_column *columns, int count, int width,
			 int rest);

/* How wide those columns are together, with the blanks. */
int tui_columns_width(const struct tui_column *columns, int count,
		      unsigned shown);

/* Adds the cell of a column, and a blank; too long a text ends in '+'. */
void tui_column_add(struct gk_buf *out, const struct tui_column *column,
		    const char *text);

#endif
