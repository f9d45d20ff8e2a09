/*
 * series.h - a value over time, in rings of fixed size: the finest for
 * minutes, the coarsest for a day. One thread.
 */
#ifndef GK_CORE_SERIES_H
#define GK_CORE_SERIES_H

#include "core/history.h"

#define GK_SERIES_LEVELS 3
#define GK_SERIES_FINE   600  /* values of the finest level alone */
#define GK_SERIES_ALL    2760 /* values of all levels */

/* The bin that is being filled: its mean, of how many values. */
struct gk_level {
	uint64_t bin;
	uint32_t added;
	float mean;
};

struct gk_series {
	struct gk_level level[GK_SERIES_LEVELS];
	unsigned levels; /* in use, the finest first */
	uint16_t *ring;  /* of one level behind that of the other */
	unsigned stride; /* from a value to the next of this series */
};

/*
 * The rings stay the caller's, as those of all series at once: for each moment
 * a row with a value of each of `count` series, GK_SERIES_FINE rows for one
 * level, GK_SERIES_ALL for all. So what was not yet written to is whole pages
 * of it, which take no memory. Zeros say that nothing is known.
 */
void gk_series_init(struct gk_series *series, unsigned count, uint16_t *rings,
		    unsigned levels);

/*
 * Adds a value, not below 0; several of one bin are averaged, NAN leaves a gap.
 * A bin that is over is kept to one part in 2048, cut.
 */
void gk_series_add(struct gk_series *s, uint64_t now_ns, double value);

/* Values in the order of their time. */
struct gk_timed {
	uint64_t ns;
	float value;
};

/*
 * Fills in values of before: the mean of those of a bin, where nothing is known
 * of it and what came later is. Nothing into a series that is empty.
 */
void gk_series_fill(struct gk_series *s, const struct gk_timed *values,
		    size_t count);

/*
 * Writes span.count values to out, the oldest first: the mean of each step of
 * the span, NAN where there is none.
 */
void gk_series_read(const struct gk_series *s, struct gk_history_span span,
		    float *out);

#endif
