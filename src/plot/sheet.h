/*
 * sheet.h - what a row of a recording says: when, of whom, which numbers.
 *
 * The kind of a file is told by its header alone: columns are found by name,
 * in any order, and unknown ones are passed over.
 */
#ifndef GK_PLOT_SHEET_H
#define GK_PLOT_SHEET_H

#include "plot/csv.h"

#include <stdbool.h>

enum gk_plot_quantity {
	GK_PLOT_MEMORY,        /* of GPUs, MiB */
	GK_PLOT_SYSTEM_MEMORY, /* of the host, MiB */
	GK_PLOT_CPU,           /* percent of one core */
	GK_PLOT_UTILIZATION,   /* of GPUs, percent */
	GK_PLOT_POWER,         /* W */
	GK_PLOT_TEMPERATURE,   /* degrees Celsius */
	GK_PLOT_QUANTITIES
};

/* Which columns of a file hold what; -1: none. */
struct gk_plot_sheet {
	size_t columns;
	int time, gpu, pid, command, health;
	int quantity[GK_PLOT_QUANTITIES];
	double factor[GK_PLOT_QUANTITIES]; /* to the unit above */
};

/* One row. A value that the row does not give is NaN; texts may be empty. */
struct gk_plot_row {
	int64_t time_ms; /* local time as written, counted as if it were UTC */
	struct gk_csv_field gpu, pid, command;
	double value[GK_PLOT_QUANTITIES];
};

/* Whether a row is a header of such a file: it then names what is where. */
bool gk_plot_header(const struct gk_csv_row *row,
		    struct gk_plot_sheet *ret_sheet);

/*
 * Reads a row; texts point into it. 0, or GK_ERR_CORRUPT: another number of
 * fields than the header, or a time or number that is none.
 */
int gk_plot_read(const struct gk_plot_sheet *sheet,
		 const struct gk_csv_row *row, struct gk_plot_row *ret);

#endif
