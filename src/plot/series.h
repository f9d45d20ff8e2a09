/*
 * series.h - a line of a picture: the extremes of as many stretches of time
 * as a picture has columns of pixels, however many values there were.
 */
#ifndef GK_PLOT_SERIES_H
#define GK_PLOT_SERIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The values within 2^shift ms, the time of each extreme kept. */
struct gk_plot_bin {
	int64_t column; /* time in ms >> shift */
	int64_t min_ms, max_ms;
	double min, max;
};

/* Zero it to start. Bins are in order of time. */
struct gk_plot_series {
	unsigned shift;
	struct gk_plot_bin *bins;
	size_t count, cap;
};

void gk_plot_series_free(struct gk_plot_series *series);

/* Adds a value; bins become at least 2^shift ms wide. 0 or GK_ERR_NOMEM. */
int gk_plot_series_add(struct gk_plot_series *series, unsigned shift,
		       int64_t time_ms, double value);

/*
 * Reads bins as wider ones of 2^shift ms, from *at on, which it moves. False:
 * there are no more.
 */
bool gk_plot_series_next(const struct gk_plot_series *series, unsigned shift,
			 size_t *at, struct gk_plot_bin *ret_bin);

/*
 * The value of each of count stretches of step_ms from from_ms on: the mean of
 * its bins, each taken at its middle. A stretch without any has the value
 * before it, for at most gap_ms, else NaN.
 */
void gk_plot_series_sample(const struct gk_plot_series *series, int64_t from_ms,
			   double step_ms, int64_t gap_ms, size_t count,
			   double *ret_values);

#endif
