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

/* Columns that somebody may ask for by name. */
#define GK_PLOT_ASKED_MAX 8

enum gk_plot_quantity {
	GK_PLOT_BUSY,        /* percent */
	GK_PLOT_MEMORY,      /* of GPUs, MiB */
	GK_PLOT_POWER,       /* W */
	GK_PLOT_TEMPERATURE, /* degrees Celsius */
	GK_PLOT_HOST_MEMORY, /* MiB */
	GK_PLOT_CPU,         /* percent of one core */
	GK_PLOT_ASKED,       /* GK_PLOT_ASKED_MAX of them, as recorded */
	GK_PLOT_PANELS = GK_PLOT_ASKED + GK_PLOT_ASKED_MAX,
	/* The next ones have no panel: they are capacities and causes. */
	GK_PLOT_MEMORY_TOTAL = GK_PLOT_PANELS, /* MiB */
	GK_PLOT_POWER_LIMIT,                   /* W */
	GK_PLOT_TEMPERATURE_LIMIT,             /* degrees Celsius */
	GK_PLOT_CLOCK,                         /* Hz, as the next one */
	GK_PLOT_CLOCK_MAX,
	GK_PLOT_REASONS, /* bits of nvmlClocksEventReasons */
	GK_PLOT_ECC,     /* uncorrected errors, counted */
	GK_PLOT_XIDS,    /* counted */
	GK_PLOT_XID,     /* number of the last one */
	GK_PLOT_ENERGY,  /* J, a counter */
	GK_PLOT_QUANTITIES
};

/* Some quantities, as bits. */
#define GK_PLOT_BIT(quantity) (UINT32_C(1) << (quantity))
#define GK_PLOT_ALL           UINT32_MAX

/* The columns that somebody asked for; names are borrowed. */
struct gk_plot_asked {
	const char *names[GK_PLOT_ASKED_MAX];
	unsigned count;
};

/* A column that holds a quantity. */
struct gk_plot_column {
	size_t column;
	enum gk_plot_quantity quantity;
	double factor; /* to the unit above */
};

#define GK_PLOT_COLUMNS_MAX 40

/* Which columns of a file hold what; -1: none. */
struct gk_plot_sheet {
	size_t columns;
	int time, gpu, pid, command, health, model;
	struct gk_plot_column values[GK_PLOT_COLUMNS_MAX];
	size_t value_count;
};

/* One row. Texts may be empty. */
struct gk_plot_row {
	int64_t time_ms; /* local time as written, counted as if it were UTC */
	struct gk_csv_field gpu, pid, command, model;
	bool lost;      /* the GPU was lost */
	bool alone;     /* of a process, and the GPU has rows of its own */
	uint32_t given; /* bits of the quantities that it has */
	double value[GK_PLOT_QUANTITIES];
};

/* Whether a row has a quantity; it is then in value. */
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

/* Whether a row is a header of such a file: it then names what is where. */
bool gk_plot_header(const struct gk_csv_row *row,
		    const struct gk_plot_asked *asked,
		    struct gk_plot_sheet *ret_sheet);

/*
 * The quantity that a recorded column holds, and the factor to its unit; false:
 * none of those above.
 */
bool gk_plot_known_column(const char *name, enum gk_plot_quantity *ret_quantity,
			  double *ret_factor);

/*
 * Reads a row; texts point into it. 0, or GK_ERR_CORRUPT: another number of
 * fields than the header, or a time or number that is none.
 */
int gk_plot_read(const struct gk_plot_sheet *sheet,
		 const struct gk_csv_row *row, struct gk_plot_row *ret);

/* An empty row: no texts, no values. */
void gk_plot_row_clear(struct gk_plot_row *row);

/* "2026-11-21T09:30:00", also with a blank, a fraction, a zone behind. */
bool gk_plot_read_time(const struct gk_csv_field *field, int64_t *ret_ms);

#endif
