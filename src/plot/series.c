/* SPDX-License-Identifier: Apache-2.0 */
/* series.c - keeps the lowest and highest value for each column of pixels. */
#include "plot/series.h"

#include "base/err.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void gk_plot_series_free(struct gk_plot_series *series)
{
	free(series->bins);
	*series = (struct gk_plot_series){0};
}

static void merge_bin(struct gk_plot_bin *to, const struct gk_plot_bin *from)
{
	if (from->min < to->min) {
		to->min = from->min;
		to->min_ms = from->min_ms;
	}
	if (from->max > to->max) {
		to->max = from->max;
		to->max_ms = from->max_ms;
	}
}

static void widen_bins(struct gk_plot_series *series, unsigned shift)
{
	size_t kept = 0;

	for (size_t i = 0; i < series->count; i++) {
		struct gk_plot_bin bin = series->bins[i];

		bin.column >>= shift - series->shift;
		if (kept && series->bins[kept - 1].column == bin.column)
			merge_bin(&series->bins[kept - 1], &bin);
		else
			series->bins[kept++] = bin;
	}
	series->count = kept;
	series->shift = shift;
}

/*
 * Returns the index of a column's bin or, if there is none, where to insert it
 * (usually at the end).
 */
static size_t place_of_column(const struct gk_plot_series *series,
			      int64_t column)
{
	size_t i = series->count;

	while (i && series->bins[i - 1].column >= column)
		i--;
	return i;
}

static int make_bin_room(struct gk_plot_series *series)
{
	size_t cap = series->cap ? series->cap * 2 : 16;
	void *more;

	if (series->count < series->cap)
		return 0;
	more = realloc(series->bins, cap * sizeof *series->bins);
	if (!more)
		return GK_ERR_NOMEM;
	series->bins = more;
	series->cap = cap;
	return 0;
}

int gk_plot_series_add(struct gk_plot_series *series, unsigned shift,
		       int64_t time_ms, double value)
{
	struct gk_plot_bin bin = {.column = time_ms >> shift,
				  .min_ms = time_ms,
				  .max_ms = time_ms,
				  .min = value,
				  .max = value};
	size_t i;
	int r;

	if (shift > series->shift)
		widen_bins(series, shift);
	i = place_of_column(series, bin.column);
	if (i < series->count && series->bins[i].column == bin.column) {
		merge_bin(&series->bins[i], &bin);
		return 0;
	}
	r = make_bin_room(series);
	if (r)
		return r;
	memmove(&series->bins[i + 1], &series->bins[i],
		(series->count - i) * sizeof *series->bins);
	series->bins[i] = bin;
	series->count++;
	return 0;
}

bool gk_plot_series_next(const struct gk_plot_series *series, unsigned shift,
			 size_t *at, struct gk_plot_bin *ret_bin)
{
	unsigned more = shift > series->shift ? shift - series->shift : 0;

	if (*at >= series->count)
		return false;
	*ret_bin = series->bins[(*at)++];
	ret_bin->column >>= more;
	while (*at < series->count &&
	       series->bins[*at].column >> more == ret_bin->column)
		merge_bin(ret_bin, &series->bins[(*at)++]);
	return true;
}

/* Returns the minimum or maximum of a bin, whichever is later. */
static double bin_end(const struct gk_plot_bin *bin, int64_t *ret_ms)
{
	bool up = bin->min_ms <= bin->max_ms;

	*ret_ms = up ? bin->max_ms : bin->min_ms;
	return up ? bin->max : bin->min;
}

void gk_plot_series_sample(const struct gk_plot_series *series, int64_t from_ms,
			   double step_ms, int64_t gap_ms, size_t count,
			   double *ret_values)
{
	int64_t known_ms = INT64_MIN / 2;
	double known = (double)NAN;
	size_t at = 0;

	for (size_t i = 0; i < count; i++) {
		int64_t end = from_ms + (int64_t)(step_ms * (double)(i + 1));
		double sum = 0;
		unsigned bins = 0;

		for (; at < series->count && series->bins[at].max_ms <= end;
		     at++, bins++) {
			sum +=
			    (series->bins[at].min + series->bins[at].max) / 2;
			known = bin_end(&series->bins[at], &known_ms);
		}
		ret_values[i] = bins                       ? sum / bins
				: end - known_ms <= gap_ms ? known
							   : (double)NAN;
	}
}
