/* SPDX-License-Identifier: Apache-2.0 */
/* measure_clock.c - converts the times of events to CLOCK_MONOTONIC. */
#include "limit/preload/time/measure_clock.h"
#include "base/clock.h"
#include "limit/preload/entry/driver.h"

/*
 * BASE_NS: how long one base event is used. Times are measured from it as
 * floats of milliseconds, which become less exact as they grow. CLOCK_NS: how
 * long the GPU's clock and CLOCK_MONOTONIC are assumed to run at the same
 * speed.
 */
#define BASE_NS  (10 * GK_NS_PER_S)
#define CLOCK_NS (2 * GK_NS_PER_S)

static bool read_elapsed(CUevent from, CUevent to, int64_t *ret_ns)
{
	__typeof__(cuEventElapsedTime) *call = REAL(cuEventElapsedTime_v2)
						   ? REAL(cuEventElapsedTime_v2)
						   : REAL(cuEventElapsedTime);
	float ms;

	if (call(&ms, from, to))
		return false;
	*ret_ns = (int64_t)((double)ms * (double)GK_NS_PER_MS);
	return true;
}

static void swap_events(CUevent *a, CUevent *b)
{
	CUevent was = *a;

	*a = *b;
	*b = was;
}

/* Makes the marks' first event the new base. */
static void set_base(struct measure_clock *c, struct measure_marks *marks,
		     int64_t offset)
{
	int64_t moved = offset - c->offset;

	if (c->base)
		c->offset_before += moved;
	else
		c->offset_before = offset;
	c->offset = offset;
	c->based_ns = marks->begun_ns;
	swap_events(&c->base, &marks->begin);
}

/*
 * The GPU's clock and CLOCK_MONOTONIC drift apart, so only the offsets of this
 * period and the previous one count; the result is the greater one.
 */
static int64_t learn_offset(struct measure_clock *c, int64_t found, int64_t now)
{
	if (now - c->offset_at > (int64_t)CLOCK_NS) {
		c->offset_before = c->offset;
		c->offset = found;
		c->offset_at = now;
	} else if (found > c->offset) {
		c->offset = found;
	}
	return c->offset > c->offset_before ? c->offset : c->offset_before;
}

/*
 * Finds when the marks' work ran. Work cannot have begun before its launch was
 * called, even if the idle stream had reached the first event much earlier.
 */
bool measure_clock_read(struct measure_clock *c, struct measure_marks *marks,
			uint64_t now, uint64_t *ret_begin, uint64_t *ret_end)
{
	int64_t from = 0, length, begin, end, called;

	if (!read_elapsed(marks->begin, marks->end, &length))
		return false;
	if (c->base && !read_elapsed(c->base, marks->begin, &from))
		return false;
	begin =
	    from + (c->base ? learn_offset(c, (int64_t)marks->begun_ns - from,
					   (int64_t)now)
			    : (int64_t)marks->begun_ns);
	if (!c->base || now - c->based_ns > BASE_NS)
		set_base(c, marks, begin);
	end = begin + length;
	if (end > (int64_t)now) {
		begin -= end - (int64_t)now;
		end = (int64_t)now;
	}
	called = (int64_t)marks->called_ns;
	*ret_begin =
	    (uint64_t)(begin < called && called < end ? called : begin);
	*ret_end = (uint64_t)end;
	return true;
}
