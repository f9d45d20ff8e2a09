/* SPDX-License-Identifier: Apache-2.0 */
/* subject.c - turns the values at one time into lines, events and sums. */
#include "plot/subject.h"

#include "base/assert.h"
#include "base/err.h"

#include <math.h>
#include <stdlib.h>

/* The maximum number of runs of events of a subject. Later ones are not
 * drawn. */
#define RUNS_MAX 512

/* A power limit counts as an event if the clock is below this part of the
 * maximum. */
#define HELD_LEAST 0.9

/*
 * Without data on processes, a GPU counts as allocated if it uses at least this
 * much memory, in MiB. Only an allocated GPU can count as idle.
 */
#define HELD_MIB 1024

enum {
	BY_POWER_CAP = 0x4,
	BY_HARDWARE = 0x8,
	BY_DRIVER_HEAT = 0x20,
	BY_CHIP_HEAT = 0x40,
	BY_BRAKE = 0x80,
};

const struct gk_plot_reason gk_plot_reasons[GK_PLOT_REASON_COUNT] = {
    {BY_POWER_CAP, "power_cap", "power cap"},
    {BY_BRAKE, "power_brake", "power brake"},
    {BY_HARDWARE, "hardware_slowdown", "hw slowdown"},
    {BY_DRIVER_HEAT, "software_thermal", "heat (driver)"},
    {BY_CHIP_HEAT, "hardware_thermal", "heat (chip)"},
};

void gk_plot_subject_free(struct gk_plot_subject *subject)
{
	for (int q = 0; q < GK_PLOT_QUANTITIES; q++) {
		if (subject->tracks[q])
			gk_plot_track_free(subject->tracks[q]);
		free(subject->tracks[q]);
	}
	free(subject->label);
	free(subject->model);
	free(subject->runs);
	*subject = (struct gk_plot_subject){0};
}

static bool has_quantity(const struct gk_plot_subject *subject,
			 enum gk_plot_quantity q)
{
	return subject->filled & GK_PLOT_BIT(q);
}

/* ---- events ---- */

static int add_run(struct gk_plot_subject *subject, struct gk_plot_run run)
{
	size_t cap = subject->run_cap ? subject->run_cap * 2 : 8;
	void *more;

	if (subject->run_count == RUNS_MAX)
		return 0;
	if (subject->run_count == subject->run_cap) {
		more = realloc(subject->runs, cap * sizeof *subject->runs);
		if (!more)
			return GK_ERR_NOMEM;
		subject->runs = more;
		subject->run_cap = cap;
	}
	subject->runs[subject->run_count++] = run;
	return 0;
}

/*
 * Adds an event, or extends the last run of events. Runs closer together than
 * two columns of pixels are merged, so that there are not too many.
 */
static int add_event(struct gk_plot_subject *subject, enum gk_plot_event event,
		     const struct gk_plot_moment *moment, int number)
{
	int64_t from = moment->ms - (int64_t)(moment->seconds * 1000);
	int64_t near = from - ((int64_t)2 << moment->shift);

	near = moment->before_ms < near ? moment->before_ms : near;
	if (event >= GK_PLOT_LOST)
		from = moment->ms;
	for (size_t i = subject->run_count; i--;) {
		struct gk_plot_run *run = &subject->runs[i];

		if (run->event != event)
			continue;
		if (run->to_ms < near || run->number != number)
			break;
		run->to_ms = moment->ms;
		return 0;
	}
	return add_run(subject,
		       (struct gk_plot_run){event, from, moment->ms, number});
}

static bool is_held_by_power(const struct gk_plot_subject *subject,
			     unsigned reasons)
{
	if (reasons & (BY_BRAKE | BY_HARDWARE))
		return !(reasons & BY_CHIP_HEAT);
	if (!(reasons & BY_POWER_CAP))
		return false;
	return !has_quantity(subject, GK_PLOT_CLOCK) ||
	       !has_quantity(subject, GK_PLOT_CLOCK_MAX) ||
	       subject->now[GK_PLOT_CLOCK] <=
		   HELD_LEAST * subject->now[GK_PLOT_CLOCK_MAX];
}

/*
 * Whether a counter has increased since the previous moment. For the counter's
 * first value: whether that value exceeds `at_first`.
 */
static bool has_grown(const struct gk_plot_subject *subject,
		      enum gk_plot_quantity q, double at_first)
{
	const struct gk_plot_track *track = subject->tracks[q];

	return has_quantity(subject, q) &&
	       subject->now[q] > (track ? track->last : at_first);
}

static unsigned reasons_of(const struct gk_plot_subject *subject)
{
	return has_quantity(subject, GK_PLOT_REASONS)
		   ? (unsigned)(uint64_t)subject->now[GK_PLOT_REASONS]
		   : 0;
}

/*
 * Adds each Xid that has occurred since the previous moment. If the row does
 * not list the Xids, adds only the last one.
 */
static int add_xids(struct gk_plot_subject *subject,
		    const struct gk_plot_moment *moment)
{
	const struct gk_plot_track *track = subject->tracks[GK_PLOT_XIDS];
	double grown = subject->now[GK_PLOT_XIDS] - (track ? track->last : 0);
	unsigned count = subject->xid_count;
	int last = has_quantity(subject, GK_PLOT_XID)
		       ? (int)subject->now[GK_PLOT_XID]
		       : 0;
	int r = 0;

	if (!count)
		return add_event(subject, GK_PLOT_XID_CAME, moment, last);
	for (unsigned i = grown < count ? count - (unsigned)grown : 0;
	     i < count && !r; i++)
		r = add_event(subject, GK_PLOT_XID_CAME, moment,
			      subject->xids[i]);
	return r;
}

/*
 * The first count of Xids is an event if it is not 0, because Xids are counted
 * from the start of the recording. ECC errors may be older, so their first
 * count is not an event.
 */
static int add_events(struct gk_plot_subject *subject,
		      const struct gk_plot_moment *moment)
{
	unsigned reasons = reasons_of(subject);
	const bool now[GK_PLOT_EVENTS] = {
	    [GK_PLOT_BY_POWER] = is_held_by_power(subject, reasons),
	    [GK_PLOT_BY_HEAT] = reasons & (BY_DRIVER_HEAT | BY_CHIP_HEAT),
	    [GK_PLOT_LOST] = subject->lost_now,
	    [GK_PLOT_XID_CAME] = has_grown(subject, GK_PLOT_XIDS, 0),
	    [GK_PLOT_ECC_CAME] = has_grown(subject, GK_PLOT_ECC, HUGE_VAL),
	};
	int r = 0;

	for (int e = 0; e < GK_PLOT_EVENTS && !r; e++) {
		if (!now[e])
			continue;
		r = e == GK_PLOT_XID_CAME
			? add_xids(subject, moment)
			: add_event(subject, (enum gk_plot_event)e, moment, 0);
	}
	return r;
}

/* ---- sums ---- */

static bool is_idle(const struct gk_plot_subject *subject)
{
	return has_quantity(subject, GK_PLOT_BUSY) && subject->allocated &&
	       subject->now[GK_PLOT_BUSY] < GK_PLOT_BUSY_LEAST;
}

static void add_sums(struct gk_plot_subject *subject, double seconds)
{
	unsigned reasons = reasons_of(subject);
	bool any = false;

	if (!subject->silent_now)
		subject->seconds += seconds;
	if (is_idle(subject))
		subject->idle += seconds;
	if (has_quantity(subject, GK_PLOT_POWER))
		subject->watt_seconds += seconds * subject->now[GK_PLOT_POWER];
	for (int i = 0; i < GK_PLOT_REASON_COUNT; i++) {
		if (!(reasons & gk_plot_reasons[i].bit))
			continue;
		subject->by_reason[i] += seconds;
		any = true;
	}
	if (any)
		subject->throttled += seconds;
}

static int add_value(struct gk_plot_subject *subject, int q,
		     const struct gk_plot_moment *moment)
{
	bool line = q < GK_PLOT_PANELS &&
		    (moment->process_lines || subject->kind != GK_PLOT_PROCESS);
	struct gk_plot_track *track = subject->tracks[q];

	if (!track)
		track = subject->tracks[q] = calloc(1, sizeof *track);
	if (!track)
		return GK_ERR_NOMEM;
	gk_plot_track_add(track, moment->ms, subject->now[q], moment->seconds);
	return line ? gk_plot_series_add(&track->series, moment->shift,
					 moment->ms, subject->now[q])
		    : 0;
}

static int add_values(struct gk_plot_subject *subject,
		      const struct gk_plot_moment *moment)
{
	int r = 0;

	for (uint32_t left = subject->filled; left && !r; left &= left - 1)
		r = add_value(subject, __builtin_ctz(left), moment);
	return r;
}

/* Adds a process's values to its GPU's. */
static void tell_gpu(struct gk_plot_subject *process)
{
	if (has_quantity(process, GK_PLOT_MEMORY) &&
	    process->now[GK_PLOT_MEMORY] > 0)
		process->allocated = process->gpu->allocated = true;
	if (has_quantity(process, GK_PLOT_BUSY))
		process->gpu->busy_of_processes += process->now[GK_PLOT_BUSY];
}

int gk_plot_subject_end(struct gk_plot_subject *subject,
			const struct gk_plot_moment *moment)
{
	int r;

	if (subject->gpu)
		tell_gpu(subject);
	else if (!moment->processes_known)
		subject->allocated = has_quantity(subject, GK_PLOT_MEMORY) &&
				     subject->now[GK_PLOT_MEMORY] >= HELD_MIB;
	r = add_events(subject, moment);
	add_sums(subject, moment->seconds);
	if (!subject->seen || moment->ms < subject->first_ms)
		subject->first_ms = moment->ms;
	subject->seen = true;
	subject->last_ms = moment->ms;
	subject->lost = subject->lost_now;
	return r ? r : add_values(subject, moment);
}

void gk_plot_subject_share(struct gk_plot_subject *process,
			   const struct gk_plot_moment *moment)
{
	const struct gk_plot_subject *gpu = process->gpu;

	GK_ASSERT(process->kind == GK_PLOT_PROCESS && gpu);
	if (has_quantity(process, GK_PLOT_BUSY) &&
	    has_quantity(gpu, GK_PLOT_POWER) && gpu->busy_of_processes > 0)
		process->watt_seconds +=
		    moment->seconds * gpu->now[GK_PLOT_POWER] *
		    process->now[GK_PLOT_BUSY] / gpu->busy_of_processes;
}

void gk_plot_subject_clear(struct gk_plot_subject *subject)
{
	subject->touched = subject->allocated = false;
	subject->lost_now = subject->silent_now = false;
	subject->filled = subject->xid_count = 0;
	subject->busy_of_processes = 0;
}

double gk_plot_subject_energy(const struct gk_plot_subject *subject)
{
	const struct gk_plot_track *counter = subject->tracks[GK_PLOT_ENERGY];

	if (counter && counter->count > 1)
		return counter->grown / 3600;
	if (subject->gpu ? subject->gpu->tracks[GK_PLOT_POWER]
			 : subject->tracks[GK_PLOT_POWER])
		return subject->watt_seconds / 3600;
	return (double)NAN;
}
