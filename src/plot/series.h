/*
 * series.h - a line of a picture: the extremes of as many stretches of time
 * as a picture has columns of pixels, however many values there were.
 */
#ifndef GK_PLOT_SERIES_H
#define GK_PLOT_SERIES_H

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
	double peak;
};

void gk_plot_series_free(struct gk_plot_series *series);

/* Adds a value; bins become at least 2^shift ms wide. 0 or GK_ERR_NOMEM. */
int gk_plot_series_add(struct gk_plot_series *series, unsigned shift,
		       int64_t time_ms, double value);

#endif
