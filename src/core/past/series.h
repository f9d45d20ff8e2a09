/* SPDX-License-Identifier: Apache-2.0 */
/*
 * series.h - keeps a value over time in rings of fixed size: the finest ring
 * covers minutes, the coarsest a day. A ring consists of bins, each of which
 * has the mean of the values in a span of time. One thread.
 */
#ifndef GK_CORE_SERIES_H
#define GK_CORE_SERIES_H

#include "core/past/history.h"

#define GK_SERIES_LEVELS 3
#define GK_SERIES_FINE   600  /* values of the finest level alone */
#define GK_SERIES_ALL    2760 /* values of all levels together */

/* The bin being filled: its number, how many values it has, their mean. */
struct gk_level {
	uint64_t bin;
	uint32_t added;
	float mean;
};

struct gk_series {
	struct gk_level level[GK_SERIES_LEVELS];
	unsigned levels; /* number of levels in use, the finest first */
	uint16_t *ring;  /* the rings of all levels, in order */
	/* distance in `ring` between two values of this series */
	unsigned stride;
};

/*
 * Initialises `count` series that share the same rings, which the caller owns.
 * A row has one value of each series. The rings have GK_SERIES_FINE rows for
 * one level, GK_SERIES_ALL for all levels. Because the series share rows, the
 * rows not yet written form whole pages, which take no memory. A zero means no
 * value.
 */
void gk_series_init(struct gk_series *series, unsigned count, uint16_t *rings,
		    unsigned in_use);

/*
 * Adds a value, which must not be negative. Values in the same bin are
 * averaged; NAN leaves a gap. A finished bin is truncated to one part in 2048.
 */
void gk_series_add(struct gk_series *s, uint64_t now_ns, double value);

/* A value with its time. */
struct gk_timed {
	uint64_t ns;
	float value;
};

/*
 * Adds values from before the series began, in order of time. Fills only empty
 * bins before the existing values, each with the mean of its values. Does
 * nothing to an empty series.
 */
void gk_series_fill(struct gk_series *s, const struct gk_timed *values,
		    size_t count);

/*
 * Writes span.count values to out, oldest first: the mean of each step of the
 * span, NAN if it has no values.
 */
void gk_series_read(const struct gk_series *s, struct gk_history_span span,
		    float *out);

#endif
