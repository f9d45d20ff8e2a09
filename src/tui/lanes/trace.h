/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace.h - draws traces of values over time, sparklines, bars, and bars of
 * memory by owner.
 */
#ifndef GK_TUI_LANES_TRACE_H
#define GK_TUI_LANES_TRACE_H

#include "core/past/history.h"
#include "tui/lanes/state.h"

enum lanes_trace_kind { TRACE_WORK, TRACE_POWER, TRACE_OTHER, TRACE_GONE };

struct lanes_trace {
	int row, column, rows, columns;
	double top; /* value at full height */
	enum lanes_trace_kind kind;
	const float
	    *values; /* two per column, the newest last; NAN if absent */
	/*
	 * For each value, a number greater than 0 if clocks were held back at
	 * that time; or NULL.
	 */
	const float *held;
};

void lanes_trace(const struct tui *t, struct grid *g,
		 const struct lanes_trace *trace);

#define LANES_COLUMNS_MAX 512  /* maximum width of a trace */
#define LANES_CPUS        (-1) /* used as a series: that of all CPUs */

/* Draws a trace of a device's series, and registers it for the mouse. */
void lanes_trace_device(struct tui *t, struct grid *g, size_t device,
			enum gk_history_device series,
			struct lanes_trace trace);

/*
 * Returns the mean of the values that a trace of `columns` columns shows, and
 * their maximum in *ret_max. Both are -1 if no value is known.
 */
double lanes_mean(const struct tui *t, const struct gk_device *d,
		  enum gk_history_device series, int columns, double *ret_max);

/*
 * Returns the latest rate of a counter as of the snapshot, or -1 if it is
 * unknown.
 */
double lanes_rate(const struct tui *t, const struct gk_device *d,
		  enum gk_history_device series);

/* Draw a sparkline in one row, one step of time per column. */
void lanes_spark(struct tui *t, struct grid *g, int row, int column,
		 int columns, size_t device);
void lanes_spark_host(struct tui *t, struct grid *g, int row, int column,
		      int columns);

/* Draws the time axis below a trace. */
void lanes_axis(const struct tui *t, struct grid *g, int row, int column,
		int columns);

/*
 * Draw a bar for a share from 0 to 1; a negative share is unknown. lanes_bar()
 * uses the gradient if bars are colourful.
 */
void lanes_plain_bar(const struct tui *t, struct grid *g, int row, int column,
		     int columns, double share, struct grid_style style);
void lanes_bar(const struct tui *t, struct grid *g, int row, int column,
	       int columns, double share, struct grid_style style);

/* Draws a bar of a device's memory, divided by owner. */
void lanes_memory(const struct tui *t, struct grid *g, int row, int column,
		  int columns, size_t device);

#endif
