/*
 * track.h - one quantity of one GPU, process or host over time: the line that
 * is drawn, and what is told of it.
 *
 * A value stands for the time since the moment before it, as NVML's
 * utilisation does: its weight, in seconds.
 */
#ifndef GK_PLOT_TRACK_H
#define GK_PLOT_TRACK_H

#include "plot/series.h"

/* Zero it to start. */
struct gk_plot_track {
	struct gk_plot_series series; /* empty where no line is wanted */
	double first, last, max;      /* in the order of the file */
	int64_t last_ms;
	double sum, weighted, weight;
	double grown; /* of a counter: all its steps upwards */
	uint64_t count;
};

void gk_plot_track_free(struct gk_plot_track *track);

/* Adds a value to the sums, not to the line. */
void gk_plot_track_add(struct gk_plot_track *track, int64_t time_ms,
		       double value, double weight);

/* By time; where no time went by, of the values. NaN: there is none. */
double gk_plot_track_mean(const struct gk_plot_track *track);

#endif
