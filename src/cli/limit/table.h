/*
 * table.h - a table of texts whose columns are as wide as they must be; in a
 * narrow terminal some are left out.
 */
#ifndef GK_CLI_LIMIT_TABLE_H
#define GK_CLI_LIMIT_TABLE_H

#include "base/str.h"

struct limit_column {
	const char *title;
	bool right;
	unsigned
	    spare; /* left out in this order, the highest first; 0: never */
};

/* Cells are added row by row. Zero it but for columns and count. */
struct limit_table {
	const struct limit_column *columns;
	size_t count;
	struct gk_buf cells; /* each with its NUL */
};

void limit_cell(struct limit_table *table, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/*
 * Adds the table, at most `most` columns of a terminal wide if that can be, and
 * frees its cells.
 */
void limit_table_end(struct limit_table *table, struct gk_buf *out,
		     size_t most);

#endif
