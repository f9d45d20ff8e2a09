/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gate.c - owns the tables of valid ranges; writes "nonsense: VALUE" for a
 * number that is out of range.
 */
#include "core/read/gate.h"

#include "base/array.h"
#include "base/round.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Same as gk_unit_scale(), but a constant expression. */
#define SCALE(unit)                                                            \
	((unit) == GK_UNIT_CENTIPERCENT                                ? 1e2   \
	 : (unit) == GK_UNIT_MILLIWATT || (unit) == GK_UNIT_MILLIJOULE ? 1e3   \
	 : (unit) == GK_UNIT_NANOSECOND                                ? 1e9   \
								       : 1.0)
#define RANGE(unit, least, most)                                               \
	{                                                                      \
		(int64_t)((double)(least)*SCALE(unit)),                        \
		    (int64_t)((double)(most)*SCALE(unit))                      \
	}

#define METRIC(id, name, unit, kind, tier, least, most, help)                  \
	RANGE(GK_UNIT_##unit, least, most),

const struct gk_range gk_metric_ranges[GK_M_COUNT] = {
#include <gpukit/metrics.def>
};

const struct gk_range gk_process_metric_ranges[GK_PM_COUNT] = {
#include <gpukit/process_metrics.def>
};

#undef METRIC

const struct gk_range gk_link_metric_ranges[GK_L_COUNT] = {
#define LINK(id, name, unit, kind, least, most, help)                          \
	RANGE(GK_UNIT_##unit, least, most),
#include <gpukit/links.def>
#undef LINK
};

const struct gk_bound_row gk_bounds[GK_BOUND_COUNT] = {
#define BOUND(id, unit, least, most, otherwise, keys)                          \
	{RANGE(GK_UNIT_##unit, least, most), otherwise},
#include "core/read/bounds.def"
#undef BOUND
};

void gk_gate_process(struct gk_process *process)
{
	for (int i = 0; i < GK_PM_COUNT; i++)
		process->m[i] =
		    gk_gate(process->m[i], &gk_process_metric_ranges[i]);
}

static void gate_bound(struct gk_value *value, enum gk_bound bound)
{
	*value = gk_gate(*value, &gk_bounds[bound].range);
}

void gk_gate_host(struct gk_host *host)
{
	gate_bound(&host->cpu_centipercent, GK_BOUND_CPU_SHARE);
	for (size_t i = 0; i < COUNT(host->load_centi); i++)
		gate_bound(&host->load_centi[i], GK_BOUND_LOAD);
	gate_bound(&host->mem_total, GK_BOUND_HOST_BYTES);
	gate_bound(&host->mem_available, GK_BOUND_HOST_BYTES);
	gate_bound(&host->swap_total, GK_BOUND_HOST_BYTES);
	gate_bound(&host->swap_free, GK_BOUND_HOST_BYTES);
}

const struct gk_range *gk_metric_range(enum gk_metric metric)
{
	return (unsigned)metric < GK_M_COUNT ? &gk_metric_ranges[metric] : NULL;
}

const struct gk_range *gk_process_metric_range(enum gk_process_metric metric)
{
	return (unsigned)metric < GK_PM_COUNT
		   ? &gk_process_metric_ranges[metric]
		   : NULL;
}

const struct gk_range *gk_link_metric_range(enum gk_link_metric metric)
{
	return (unsigned)metric < GK_L_COUNT ? &gk_link_metric_ranges[metric]
					     : NULL;
}

/* ---- reasons ---- */

/* Texts for the special values that are not numbers. */
static const struct {
	int64_t told;
	const char *words;
} no_numbers[] = {
    {GK_TOLD_NO_NUMBER, "no number"},
    {GK_TOLD_TOO_LARGE, "beyond 9.2e18"},
    {GK_TOLD_TOO_SMALL, "beyond -9.2e18"},
};

static void told_text(char *dst, size_t cap, int64_t v, int64_t scale)
{
	for (size_t i = 0; i < COUNT(no_numbers); i++)
		if (no_numbers[i].told == v) {
			snprintf(dst, cap, "%s", no_numbers[i].words);
			return;
		}
	if (v % scale == 0)
		snprintf(dst, cap, "%" PRId64, v / scale);
	else
		snprintf(dst, cap, "%.15g", (double)v / (double)scale);
}

static int64_t read_told(const char *text, int64_t scale)
{
	char *end;
	int64_t whole;

	for (size_t i = 0; i < COUNT(no_numbers); i++)
		if (!strcmp(no_numbers[i].words, text))
			return no_numbers[i].told;
	whole = strtoll(text, &end, 10);
	if (!*end)
		return gk_scaled(whole, scale);
	return gk_to_int64(strtod(text, &end) * (double)scale);
}

const char *gk_reason(char *dst, struct gk_value value, enum gk_unit unit)
{
	char told[GK_REASON_MAX / 2];

	if (value.why != GK_ABSENT_NONSENSE) {
		snprintf(dst, GK_REASON_MAX, "%s", gk_absence_text(value.why));
		return dst;
	}
	told_text(told, sizeof told, value.v, gk_unit_scale(unit));
	snprintf(dst, GK_REASON_MAX, "%s: %s", gk_absence_text(value.why),
		 told);
	return dst;
}

struct gk_value gk_reason_read(const char *text, enum gk_unit unit)
{
	const char *nonsense = gk_absence_text(GK_ABSENT_NONSENSE);
	size_t len = strlen(nonsense);

	for (int i = GK_ABSENT_NOT_READ; i < GK_ABSENCE_COUNT; i++)
		if (!strcmp(gk_absence_text((enum gk_absence)i), text))
			return (struct gk_value){GK_TOLD_NO_NUMBER,
						 (enum gk_absence)i};
	if (!strncmp(text, nonsense, len) && !strncmp(text + len, ": ", 2))
		return (struct gk_value){
		    read_told(text + len + 2, gk_unit_scale(unit)),
		    GK_ABSENT_NONSENSE};
	return (struct gk_value){.why = GK_ABSENT_NOT_READ};
}
