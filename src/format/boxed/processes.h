/*
 * processes.h - the table of processes row by row, for the report and
 * the viewer. Internal.
 */
#ifndef GK_FORMAT_BOXED_PROCESSES_H
#define GK_FORMAT_BOXED_PROCESSES_H

#include "format/boxed/part.h"
#include "format/columns.h"

/*
 * A table and where its columns are. The columns of the DRIVER part come
 * first; those behind are scrolled sideways by scroll columns.
 */
struct gk_process_table {
	struct gk_box *box;
	struct gk_columns columns;   /* those that fit */
	int widths[GK_COLUMN_COUNT]; /* by position; the last may be longer */
	int driver_width;            /* columns of the DRIVER part */
	int room;                    /* columns left for the others */
	int scroll;
};

/* Measures a table: columns that do not fit are left out, by their worth. */
void gk_process_table_measure(struct gk_process_table *table,
			      struct gk_box *box,
			      const struct gk_columns *columns);

/* Lines of the table, each with its newline. */
void gk_process_table_titles(const struct gk_process_table *table);
void gk_process_table_row(const struct gk_process_table *table,
			  const struct gk_process *process);

/* Columns that the scrolled part of a row takes when none is cut off. */
int gk_process_table_wanted(const struct gk_process_table *table,
			    const struct gk_process *process);

/*
 * Where the title of a column is, counted from the table's left border on,
 * and its width; false when it is not there or scrolled away.
 */
bool gk_process_table_find(const struct gk_process_table *table,
			   enum gk_column column, int *ret_at, int *ret_width);

#endif
