/* SPDX-License-Identifier: Apache-2.0 */
/*
 * processes.h - the table of processes, row by row, for the report and the
 * viewer. Internal.
 */
#ifndef GK_FORMAT_BOXED_PROCESSES_H
#define GK_FORMAT_BOXED_PROCESSES_H

#include "format/boxed/part.h"
#include "format/columns.h"

/*
 * A table and its layout. The columns of the DRIVER part come first; the HOST
 * part after them is scrolled horizontally by `scroll` columns.
 */
struct gk_process_table {
	struct gk_box *box;
	struct gk_columns columns; /* the columns that fit */
	/* The width of each column; the text of the last one may be longer. */
	int widths[GK_COLUMN_COUNT];
	int driver_width; /* total width of the DRIVER part */
	int room;         /* columns left for the HOST part */
	int scroll;
};

/*
 * Lays out a table. If not all columns fit, those with the least worth are left
 * out.
 */
void gk_process_table_measure(struct gk_process_table *table,
			      struct gk_box *box,
			      const struct gk_columns *columns);

/* Add lines of the table, each with a newline. */
void gk_process_table_titles(const struct gk_process_table *table);
void gk_process_table_row(const struct gk_process_table *table,
			  const struct gk_process *process);

/*
 * Returns how many columns the HOST part of a row needs to be shown in full.
 */
int gk_process_table_wanted(const struct gk_process_table *table,
			    const struct gk_process *process);

/*
 * Finds a column's title: its distance from the table's left border and its
 * width. Returns false if the title is left out or scrolled out of view.
 */
bool gk_process_table_find(const struct gk_process_table *table,
			   enum gk_column column, int *ret_at, int *ret_width);

#endif
