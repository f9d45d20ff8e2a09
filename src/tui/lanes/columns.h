/*
 * columns.h - the columns of the processes in lanes: which of them there is
 * room for, and their texts.
 */
#ifndef GK_TUI_LANES_COLUMNS_H
#define GK_TUI_LANES_COLUMNS_H

#include "tui/lanes/state.h"

#include "format/columns.h"

/* A bar of the memory behind it, which is no column of the config file. */
#define LANES_BAR GK_COLUMN_COUNT

struct lanes_column {
	int id; /* a gk_column, or LANES_BAR */
	const char *title;
	int at, width;
	bool right;
};

#define LANES_TABLE_MAX (GK_COLUMN_COUNT + 1)

struct lanes_table {
	struct lanes_column columns[LANES_TABLE_MAX];
	int count;
	bool narrow; /* sizes in a letter, percents with their sign */
};

struct lanes_table lanes_table(const struct tui *t);

/* The text of a column; dst has room for GK_NAME_MAX bytes. */
const char *lanes_column_text(const struct tui *t,
			      const struct lanes_table *table, int id,
			      char dst[GK_NAME_MAX],
			      const struct gk_process *p);

/* "GPU memory": what the processes are ordered by. */
const char *lanes_order_name(enum gk_column column);

#endif
