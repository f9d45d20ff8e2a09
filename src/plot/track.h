/* SPDX-License-Identifier: Apache-2.0 */
/*
 * track.h - one quantity of a GPU, a process or the host over time: its line
 * and its sums. As in NVML's utilisation, a value counts for the time since the
 * previous one; these seconds are its weight.
 */
#ifndef GK_PLOT_TRACK_H
#define GK_PLOT_TRACK_H

#include "plot/series.h"

/* Zero it to start. */
struct gk_plot_track {
	struct gk_plot_series series; /* empty if the line is not wanted */
	double first, last, max;      /* `first` and `last` are the values as
				       * they are in the file */
	int64_t last_ms;
	double sum, weighted, weight;
	double grown; /* counters only: sum of the increases */
	uint64_t count;
};

void gk_plot_track_free(struct gk_plot_track *track);

/* Adds a value to the sums only, not to the line. */
void gk_plot_track_add(struct gk_plot_track *track, int64_t time_ms,
		       double value, double weight);

/*
 * Returns the mean weighted by time. If no time has passed, returns the plain
 * mean; if there are no values, NaN.
 */
double gk_plot_track_mean(const struct gk_plot_track *track);

#endif
