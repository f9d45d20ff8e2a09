/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measure_clock.h - the clock of a context's GPU, as its events show it. Used
 * by measure.c, under its lock.
 */
#ifndef GKL_PRELOAD_MEASURE_CLOCK_H
#define GKL_PRELOAD_MEASURE_CLOCK_H

#include "abi/cuda/cuda_abi.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * The position of an event is its time in nanoseconds after the base event. No
 * event is reached before it is recorded, and most are reached at once. So the
 * best estimate of the base event's time is the latest time that is possible
 * given all events. It is late by less than the time that reading the clock
 * takes.
 */
struct measure_clock {
	CUevent base;
	uint64_t based_ns; /* when `base` became the base event */
	/*
	 * The base event's time in CLOCK_MONOTONIC, and when the period of this
	 * estimate began.
	 */
	int64_t offset, offset_at;
	int64_t offset_before; /* the offset of the previous period */
};

/*
 * The events before and after work, created at first use; when the first event
 * was recorded, and when the call that recorded it had returned.
 */
struct measure_marks {
	CUevent begin, end;
	uint64_t begun_ns, called_ns;
};

/* Finds when the work between two reached events ran; false: unknown. */
bool measure_clock_read(struct measure_clock *clock,
			struct measure_marks *marks, uint64_t now,
			uint64_t *ret_begin, uint64_t *ret_end);

#endif
