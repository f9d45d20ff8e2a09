/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sheet.h - reads a row of a recording: its time, its subject and its numbers.
 * The header alone determines the kind of file. Columns are found by name, in
 * any order; unknown ones are ignored.
 */
#ifndef GK_PLOT_SHEET_H
#define GK_PLOT_SHEET_H

#include "plot/csv.h"

#include <stdbool.h>

/* The number of columns that the user may ask for by name. */
#define GK_PLOT_ASKED_MAX 8

enum gk_plot_quantity {
	GK_PLOT_BUSY,        /* percent */
	GK_PLOT_MEMORY,      /* MiB, of GPUs */
	GK_PLOT_POWER,       /* W */
	GK_PLOT_TEMPERATURE, /* degrees Celsius */
	GK_PLOT_HOST_MEMORY, /* MiB */
	GK_PLOT_CPU,         /* percent of one core */
	GK_PLOT_ASKED,       /* GK_PLOT_ASKED_MAX columns by name */
	GK_PLOT_PANELS = GK_PLOT_ASKED + GK_PLOT_ASKED_MAX,
	/* The following quantities have no panel: they are capacities and
	 * causes. */
	GK_PLOT_MEMORY_TOTAL = GK_PLOT_PANELS, /* MiB */
	GK_PLOT_POWER_LIMIT,                   /* W */
	GK_PLOT_TEMPERATURE_LIMIT,             /* degrees Celsius */
	GK_PLOT_CLOCK,                         /* Hz, as is GK_PLOT_CLOCK_MAX */
	GK_PLOT_CLOCK_MAX,
	GK_PLOT_REASONS, /* bits of nvmlClocksEventReasons */
	GK_PLOT_ECC,     /* uncorrected errors, a counter */
	GK_PLOT_XIDS,    /* a counter */
	GK_PLOT_XID,     /* number of the last Xid */
	GK_PLOT_ENERGY,  /* J, a counter */
	GK_PLOT_QUANTITIES
};

/* A set of quantities is a bit mask. */
#define GK_PLOT_BIT(quantity) (UINT32_C(1) << (quantity))
#define GK_PLOT_ALL           UINT32_MAX

/* The columns that the user asks for by name; the names are borrowed. */
struct gk_plot_asked {
	const char *names[GK_PLOT_ASKED_MAX];
	unsigned count;
};

/* A column that contains a quantity. */
struct gk_plot_column {
	size_t column;
	enum gk_plot_quantity quantity;
	double factor;      /* converts a value to the quantity's unit */
	double least, most; /* range of valid values */
	const char *name;   /* a static string, or the name as the user wrote
			     * it */
};

#define GK_PLOT_COLUMNS_MAX 40

/* The columns of a file, by index; -1: the file has no such column. */
struct gk_plot_sheet {
	size_t columns;
	int time, gpu, pid, command, health, model, xids;
	struct gk_plot_column values[GK_PLOT_COLUMNS_MAX];
	size_t value_count;
};

/* Values that were left out because they are impossible: their number, and the
 * first one. */
struct gk_plot_nonsense {
	uint64_t count, line; /* line is 0 for a tape */
	const char *name;     /* its column */
	double value;
};

/* One row. Every text may be empty. */
#define GK_PLOT_XIDS_MAX 64

struct gk_plot_row {
	/* Milliseconds since 1970; local time, counted as if it were UTC. */
	int64_t time_ms;
	struct gk_csv_field gpu, pid, command, model;
	bool lost;   /* the GPU is lost */
	bool silent; /* the GPU has no values, whether or not it is lost */
	/* the row is about a process, and the file has other rows for GPUs */
	bool alone;
	uint32_t given; /* set of quantities that have a value */
	double value[GK_PLOT_QUANTITIES];
	/* The last Xids of the GPU, in order. */
	int xids[GK_PLOT_XIDS_MAX];
	unsigned xid_count;
	struct gk_plot_nonsense nonsense;
};

/* Whether a row has a value for a quantity. */
static inline bool gk_plot_row_has(const struct gk_plot_row *row,
				   enum gk_plot_quantity quantity)
{
	return row->given & GK_PLOT_BIT(quantity);
}

static inline void gk_plot_row_set(struct gk_plot_row *row,
				   enum gk_plot_quantity quantity, double value)
{
	row->value[quantity] = value;
	row->given |= GK_PLOT_BIT(quantity);
}

/*
 * Whether a row is the header of a recording. If so, *ret_sheet describes its
 * columns.
 */
bool gk_plot_header(const struct gk_csv_row *row,
		    const struct gk_plot_asked *asked,
		    struct gk_plot_sheet *ret_sheet);

/*
 * Finds the quantity of a recorded column, and the factor to that quantity's
 * unit. Returns false if the column contains none of the quantities above.
 */
bool gk_plot_known_column(const char *name, enum gk_plot_quantity *ret_quantity,
			  double *ret_factor);

/*
 * Reads a row; its texts are borrowed. Returns 0, or GK_ERR_CORRUPT if it has
 * another number of fields than the header, or if a time or number is invalid.
 */
int gk_plot_read(const struct gk_plot_sheet *sheet,
		 const struct gk_csv_row *row, struct gk_plot_row *ret);

/* Counts a value that was left out. */
void gk_plot_note_nonsense(struct gk_plot_nonsense *to, const char *name,
			   double value);

/* Clears a row, so that it has no texts and no values. */
void gk_plot_row_clear(struct gk_plot_row *row);

/*
 * Parses "2026-11-21T09:30:00". A blank may replace the T; a fraction or a time
 * zone may follow.
 */
bool gk_plot_read_time(const struct gk_csv_field *field, int64_t *ret_ms);

#endif
