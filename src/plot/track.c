/* SPDX-License-Identifier: Apache-2.0 */
/* track.c - adds values to a quantity's line and sums. */
#include "plot/track.h"

#include <math.h>

void gk_plot_track_free(struct gk_plot_track *track)
{
	gk_plot_series_free(&track->series);
}

void gk_plot_track_add(struct gk_plot_track *track, int64_t time_ms,
		       double value, double weight)
{
	if (!track->count++)
		track->first = track->max = track->last = value;
	if (value > track->max)
		track->max = value;
	if (value > track->last)
		track->grown += value - track->last;
	track->last = value;
	track->last_ms = time_ms;
	track->sum += value;
	track->weighted += value * weight;
	track->weight += weight;
}

double gk_plot_track_mean(const struct gk_plot_track *track)
{
	return track->weight > 0 ? track->weighted / track->weight
	       : track->count    ? track->sum / (double)track->count
				 : (double)NAN;
}
