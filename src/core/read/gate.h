/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gate.h - checks numbers from outside (a driver, a file, another machine)
 * against their valid ranges. All readers of such numbers use it.
 */
#ifndef GK_CORE_GATE_H
#define GK_CORE_GATE_H

#include <gpukit/gpukit.h>

/* Valid ranges, in the order of the enums. */
extern const struct gk_range gk_metric_ranges[GK_M_COUNT];
extern const struct gk_range gk_process_metric_ranges[GK_PM_COUNT];
extern const struct gk_range gk_link_metric_ranges[GK_L_COUNT];

/* Special values: not a number; too large or too small for 64 bits. */
#define GK_TOLD_NO_NUMBER INT64_MIN
#define GK_TOLD_TOO_LARGE INT64_MAX
#define GK_TOLD_TOO_SMALL (-INT64_MAX)

/* How many of this unit make one unit in the names of values: 1000 for
 * milliwatts, because names use watts. */
static inline int64_t gk_unit_scale(enum gk_unit unit)
{
	return unit == GK_UNIT_CENTIPERCENT                              ? 100
	       : unit == GK_UNIT_MILLIWATT || unit == GK_UNIT_MILLIJOULE ? 1000
	       : unit == GK_UNIT_NANOSECOND ? 1000000000
					    : 1;
}

static inline bool gk_in_range(int64_t v, const struct gk_range *range)
{
	return v >= range->least && v <= range->most;
}

/* Makes a value absent if it is out of range. */
static inline struct gk_value gk_gate(struct gk_value value,
				      const struct gk_range *range)
{
	if (value.why == GK_PRESENT && !gk_in_range(value.v, range))
		value.why = GK_ABSENT_NONSENSE;
	return value;
}

/* Marks all values of a process or of the host that are out of range as
 * absent. */
void gk_gate_process(struct gk_process *process);
void gk_gate_host(struct gk_host *host);

/*
 * Parses a text made by gk_reason() into an absent value. GK_ABSENT_NOT_READ:
 * the reason is unknown.
 */
struct gk_value gk_reason_read(const char *text, enum gk_unit unit);

/* A number times a scale. If the product does not fit in 64 bits, it is
 * GK_TOLD_TOO_LARGE or GK_TOLD_TOO_SMALL, which are out of every range. */
static inline int64_t gk_scaled(int64_t v, int64_t scale)
{
	int64_t scaled;

	if (!__builtin_mul_overflow(v, scale, &scaled))
		return scaled;
	return v < 0 ? GK_TOLD_TOO_SMALL : GK_TOLD_TOO_LARGE;
}

/* Like gk_scaled(), but for an unsigned number. */
static inline int64_t gk_scaled_unsigned(uint64_t v, int64_t scale)
{
	return v > INT64_MAX ? GK_TOLD_TOO_LARGE : gk_scaled((int64_t)v, scale);
}

/* Numbers that are not metrics; see bounds.def. */
enum gk_bound {
#define BOUND(id, unit, least, most, otherwise, keys) GK_BOUND_##id,
#include "core/read/bounds.def"
#undef BOUND
	GK_BOUND_COUNT
};

struct gk_bound_row {
	struct gk_range range;
	int64_t otherwise;
};

extern const struct gk_bound_row gk_bounds[GK_BOUND_COUNT];

/* The number if it is within its bound, otherwise the bound's replacement. */
static inline int64_t gk_bounded(int64_t v, enum gk_bound bound)
{
	return gk_in_range(v, &gk_bounds[bound].range)
		   ? v
		   : gk_bounds[bound].otherwise;
}

#endif
