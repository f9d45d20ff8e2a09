/* SPDX-License-Identifier: Apache-2.0 */
/*
 * track.h - one quantity of one GPU, process or host over time: its line and
 * its sums. A value counts for the time since the previous one, as NVML's
 * utilisation does; these seconds are its weight.
 */
#ifndef GK_PLOT_TRACK_H
#define GK_PLOT_TRACK_H

#include "plot/series.h"

/* Zero it to start. */
struct gk_plot_track {
	struct gk_plot_series series; /* empty if the line is not wanted */
	double first, last, max;      /* first and last as in the file */
	int64_t last_ms;
	double sum, weighted, weight;
	double grown; /* sum of increases, for counters */
	uint64_t count;
};

void gk_plot_track_free(struct gk_plot_track *track);

/* Adds a value to the sums only, not to the line. */
void gk_plot_track_add(struct gk_plot_track *track, int64_t time_ms,
		       double value, double weight);

/*
 * Returns the mean weighted by time, or the plain mean if no time has passed,
 * or NaN if there are no values.
 */
double gk_plot_track_mean(const struct gk_plot_track *track);

#endif
