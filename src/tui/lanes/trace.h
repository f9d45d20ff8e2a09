/*
 * trace.h - the drawings of lanes: traces of a value over time, sparklines,
 * bars, and memory by owner.
 */
#ifndef GK_TUI_LANES_TRACE_H
#define GK_TUI_LANES_TRACE_H

#include "core/history.h"
#include "tui/lanes/state.h"

enum lanes_trace_kind { TRACE_WORK, TRACE_POWER, TRACE_OTHER, TRACE_GONE };

struct lanes_trace {
	int row, column, rows, columns;
	double top; /* value that fills it */
	enum lanes_trace_kind kind;
	const float *values; /* two a column, the newest last; NAN: none */
	const float *held;   /* the same: above 0 where it was held back */
};

void lanes_trace(const struct tui *t, struct grid *g,
		 const struct lanes_trace *trace);

#define LANES_COLUMNS_MAX 512  /* of a trace */
#define LANES_CPUS        (-1) /* the series of all CPUs */

/* Draws the trace of a device's series, and remembers it for the mouse. */
void lanes_trace_device(struct tui *t, struct grid *g, size_t device,
			enum gk_history_device series,
			struct lanes_trace trace);

/* The mean, and the greatest, of what a trace of so many columns shows. */
double lanes_mean(const struct tui *t, const struct gk_device *d,
		  enum gk_history_device series, int columns, double *ret_max);

/* The last rate of a counter when the snapshot was taken; -1: unknown. */
double lanes_rate(const struct tui *t, const struct gk_device *d,
		  enum gk_history_device series);

/* One row, a second a column. */
void lanes_spark(struct tui *t, struct grid *g, int row, int column,
		 int columns, size_t device);
void lanes_spark_host(struct tui *t, struct grid *g, int row, int column,
		      int columns);

/* Times ago below a trace. */
void lanes_axis(const struct tui *t, struct grid *g, int row, int column,
		int columns);

/* A share from 0 to 1; below 0: unknown. */
void lanes_bar(const struct tui *t, struct grid *g, int row, int column,
	       int columns, double share, struct grid_style style);

/* The memory of a device, cut by owner. */
void lanes_memory(const struct tui *t, struct grid *g, int row, int column,
		  int columns, size_t device);

#endif
