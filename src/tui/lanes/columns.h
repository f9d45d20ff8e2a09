/* SPDX-License-Identifier: Apache-2.0 */
/*
 * columns.h - the columns of the process list in lanes: which of them fit,
 * where they are, and their texts.
 */
#ifndef GK_TUI_LANES_COLUMNS_H
#define GK_TUI_LANES_COLUMNS_H

#include "tui/lanes/state.h"

#include "format/columns.h"

/* The bar after the GPU memory. The config file cannot name this column. */
#define LANES_BAR GK_COLUMN_COUNT

struct lanes_column {
	int id; /* an enum gk_column, or LANES_BAR */
	const char *title;
	int at, width;
	bool right;
};

#define LANES_TABLE_MAX (GK_COLUMN_COUNT + 1)

struct lanes_table {
	struct lanes_column columns[LANES_TABLE_MAX];
	int count;
	bool narrow; /* shows "1.0G" for sizes and a % after percentages */
};

struct lanes_table lanes_table(const struct tui *t);

/* Returns the text of a column, which may be stored in dst. */
const char *lanes_column_text(const struct tui *t,
			      const struct lanes_table *table, int id,
			      char dst[GK_NAME_MAX],
			      const struct gk_process *p);

/*
 * Returns the name of the order in which a column sorts, such as "GPU memory".
 */
const char *lanes_order_name(enum gk_column column);

#endif
