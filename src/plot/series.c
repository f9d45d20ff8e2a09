/*
 * series.c - keeps the lowest and the highest value of each column of pixels.
 */
#include "plot/series.h"

#include "base/err.h"

#include <stdlib.h>
#include <string.h>

void gk_plot_series_free(struct gk_plot_series *series)
{
	free(series->bins);
	*series = (struct gk_plot_series){0};
}

static void merge(struct gk_plot_bin *to, const struct gk_plot_bin *from)
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

static void widen(struct gk_plot_series *series, unsigned shift)
{
	size_t kept = 0;

	for (size_t i = 0; i < series->count; i++) {
		struct gk_plot_bin bin = series->bins[i];

		bin.column >>= shift - series->shift;
		if (kept && series->bins[kept - 1].column == bin.column)
			merge(&series->bins[kept - 1], &bin);
		else
			series->bins[kept++] = bin;
	}
	series->count = kept;
	series->shift = shift;
}

/* Where the bin of a column is, or has to be put; mostly the end. */
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
		widen(series, shift);
	if (!series->count || value > series->peak)
		series->peak = value;
	i = place_of_column(series, bin.column);
	if (i < series->count && series->bins[i].column == bin.column) {
		merge(&series->bins[i], &bin);
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
