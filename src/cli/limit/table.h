/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table.h - a table of text whose columns are as wide as needed. On a narrow
 * terminal some columns are left out.
 */
#ifndef GK_CLI_LIMIT_TABLE_H
#define GK_CLI_LIMIT_TABLE_H

#include "base/str.h"

struct limit_column {
	const char *title;
	bool right;
	/*
	 * The column with the highest value is left out first. 0: this column
	 * is never left out.
	 */
	unsigned spare;
};

/*
 * A table, filled cell by cell, row by row. Set columns and count, zero the
 * rest.
 */
struct limit_table {
	const struct limit_column *columns;
	size_t count;
	struct gk_buf cells; /* each ends with a NUL */
};

void limit_cell(struct limit_table *table, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/*
 * Adds the table to out, at most `most` columns wide if possible, and frees its
 * cells.
 */
void limit_table_end(struct limit_table *table, struct gk_buf *out,
		     size_t most);

#endif
