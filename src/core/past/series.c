/* SPDX-License-Identifier: Apache-2.0 */
/* series.c - keeps a value over time in rings of several resolutions. */
#include "core/past/series.h"

#include "base/assert.h"
#include "base/clock.h"

#include <math.h>
#include <string.h>

/* Steps of 1 s cover ten minutes, of 10 s two hours, of 1 minute a day. */
static const struct {
	uint64_t period_ns;
	uint32_t first, length; /* rows of the rings */
} levels[] = {
    {GK_NS_PER_S, 0, 600},
    {10 * GK_NS_PER_S, 600, 720},
    {60 * GK_NS_PER_S, 600 + 720, 1440},
};

_Static_assert(600 + 720 + 1440 == GK_SERIES_ALL, "the rings of all levels");
_Static_assert(600 == GK_SERIES_FINE, "the ring of the finest level");

/*
 * A packed value is a float32 without its sign bit and without the low twelve
 * bits of its mantissa. Its range is 2^-10 to 2^22, its precision one part in
 * 2048. Values are truncated rather than rounded: up to 2048, n + 0.5 is exact,
 * so that a packed value still rounds to the same whole number. Values below
 * the range become zero, and values above it become the largest value. NOTHING
 * means no value.
 */
enum { NOTHING, ZERO, FIRST, DIGITS_LEFT_OUT = 12 };
#define BITS_BELOW ((uint32_t)(127 - 10) << 23) /* the float32 2^-10 */

static uint16_t pack_value(float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof bits);
	if (!(value > 0) || bits < BITS_BELOW)
		return ZERO;
	bits = ((bits - BITS_BELOW) >> DIGITS_LEFT_OUT) + FIRST;
	return bits > UINT16_MAX ? UINT16_MAX : (uint16_t)bits;
}

static float unpack_value(uint16_t packed)
{
	uint32_t bits =
	    ((packed - (uint32_t)FIRST) << DIGITS_LEFT_OUT) + BITS_BELOW;
	float value;

	if (packed < FIRST)
		return packed == ZERO ? 0 : NAN;
	memcpy(&value, &bits, sizeof value);
	return value;
}

void gk_series_init(struct gk_series *series, unsigned count, uint16_t *rings,
		    unsigned in_use)
{
	GK_ASSERT(in_use <= GK_SERIES_LEVELS);
	for (unsigned i = 0; i < count; i++)
		series[i] = (struct gk_series){
		    .levels = in_use, .ring = rings + i, .stride = count};
}

/* The ring entry for a bin. */
static uint16_t *place_of(const struct gk_series *s, unsigned level,
			  uint64_t bin)
{
	size_t row = levels[level].first + bin % levels[level].length;

	return &s->ring[row * s->stride];
}

/* Clears the bins strictly between `from` and `to`. */
static void forget_gap(const struct gk_series *s, unsigned level, uint64_t from,
		       uint64_t to)
{
	uint32_t length = levels[level].length;

	if (to - from > length)
		from = to - length;
	for (uint64_t b = from + 1; b < to; b++)
		*place_of(s, level, b) = NOTHING;
}

/* Writes the current bin to the ring and begins another. */
static void begin_bin(struct gk_series *s, unsigned level, uint64_t bin)
{
	struct gk_level *l = &s->level[level];

	if (l->added) {
		*place_of(s, level, l->bin) = pack_value(l->mean);
		if (bin > l->bin)
			forget_gap(s, level, l->bin, bin);
	}
	*l = (struct gk_level){.bin = bin};
}

static void add_to_level(struct gk_series *s, unsigned level, uint64_t now_ns,
			 float value)
{
	struct gk_level *l = &s->level[level];
	uint64_t bin = now_ns / levels[level].period_ns;

	if (!l->added || bin != l->bin)
		begin_bin(s, level, bin);
	l->mean += (value - l->mean) / (float)++l->added;
}

void gk_series_add(struct gk_series *s, uint64_t now_ns, double value)
{
	if (isnan(value))
		return;
	for (unsigned i = 0; i < s->levels; i++)
		add_to_level(s, i, now_ns, (float)value);
}

static void fill_bin(const struct gk_series *s, unsigned level, uint64_t bin,
		     float mean)
{
	uint64_t newest = s->level[level].bin;
	uint32_t length = levels[level].length;
	uint16_t *at = place_of(s, level, bin);

	if (bin < newest && newest - bin < length && *at == NOTHING)
		*at = pack_value(mean);
}

static void fill_level(const struct gk_series *s, unsigned level,
		       const struct gk_timed *values, size_t count)
{
	uint64_t period = levels[level].period_ns;

	for (size_t i = 0, n; i < count; i += n) {
		uint64_t bin = values[i].ns / period;
		double sum = 0;

		for (n = 0; i + n < count && values[i + n].ns / period == bin;
		     n++)
			sum += (double)values[i + n].value;
		fill_bin(s, level, bin, (float)(sum / (double)n));
	}
}

void gk_series_fill(struct gk_series *s, const struct gk_timed *values,
		    size_t count)
{
	for (unsigned i = 0; i < s->levels; i++)
		if (s->level[i].added)
			fill_level(s, i, values, count);
}

/* The mean of a level's bins from from_ns to to_ns. */
static float mean_of_bins(const struct gk_series *s, unsigned level,
			  uint64_t from_ns, uint64_t to_ns)
{
	const struct gk_level *l = &s->level[level];
	uint64_t period = levels[level].period_ns;
	uint32_t length = levels[level].length, n = 0;
	uint64_t first = from_ns / period, last = (to_ns - 1) / period;
	double sum = 0;

	if (last > l->bin)
		last = l->bin;
	if (l->bin >= length && first <= l->bin - length)
		first = l->bin - length + 1;
	for (uint64_t b = first; b <= last; b++) {
		float value = b == l->bin
				  ? l->mean
				  : unpack_value(*place_of(s, level, b));

		if (isnan(value))
			continue;
		sum += (double)value;
		n++;
	}
	return n ? (float)(sum / n) : NAN;
}

/* The finest level that covers enough time, or the coarsest one. */
static unsigned choose_level(const struct gk_series *s,
			     struct gk_history_span span)
{
	uint64_t length = span.count * span.step_ns;
	uint64_t begin = span.end_ns > length ? span.end_ns - length : 0;
	unsigned i = 0;

	while (i + 1 < s->levels) {
		uint64_t reach = levels[i].period_ns * levels[i].length;
		uint64_t newest = s->level[i].bin * levels[i].period_ns;

		if (newest < reach || newest - reach < begin)
			break;
		i++;
	}
	return i;
}

void gk_series_read(const struct gk_series *s, struct gk_history_span span,
		    float *out)
{
	uint64_t to = span.end_ns;
	unsigned level;

	GK_ASSERT(span.step_ns >= GK_NS_PER_S);
	level = s->levels ? choose_level(s, span) : 0;
	for (unsigned i = span.count; i > 0; i--) {
		uint64_t from = to > span.step_ns ? to - span.step_ns : 0;

		out[i - 1] = s->levels && s->level[level].added && to
				 ? mean_of_bins(s, level, from, to)
				 : NAN;
		to = from;
	}
}
