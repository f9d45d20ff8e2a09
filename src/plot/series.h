/* SPDX-License-Identifier: Apache-2.0 */
/*
 * series.h - a line of a picture. It stores the minimum and maximum of as many
 * time spans as a picture has columns of pixels, no matter how many values
 * there were.
 */
#ifndef GK_PLOT_SERIES_H
#define GK_PLOT_SERIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The minimum and maximum in a span of 2^shift ms, and their times. */
struct gk_plot_bin {
	int64_t column; /* time in ms >> shift */
	int64_t min_ms, max_ms;
	double min, max;
};

/* The bins of a line, in order of time. Zero it to start. */
struct gk_plot_series {
	unsigned shift;
	struct gk_plot_bin *bins;
	size_t count, cap;
};

void gk_plot_series_free(struct gk_plot_series *series);

/*
 * Adds a value. Makes bins at least 2^shift ms wide. Returns 0 or GK_ERR_NOMEM.
 */
int gk_plot_series_add(struct gk_plot_series *series, unsigned shift,
		       int64_t time_ms, double value);

/*
 * Returns the next bin that is 2^shift ms wide, merged from smaller ones, and
 * advances *at. Returns false at the end.
 */
bool gk_plot_series_next(const struct gk_plot_series *series, unsigned shift,
			 size_t *at, struct gk_plot_bin *ret_bin);

/*
 * Samples `count` spans of step_ms each, starting at from_ms. Each sample is
 * the mean of the bins whose middle is in the span. A span without bins repeats
 * the previous sample for at most gap_ms; after that it is NaN.
 */
void gk_plot_series_sample(const struct gk_plot_series *series, int64_t from_ms,
			   double step_ms, int64_t gap_ms, size_t count,
			   double *ret_values);

#endif
