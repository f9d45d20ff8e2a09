/*
 * measure_clock.h - the clock of a context's GPU, as its events tell it. Used
 * by measure.c, under its lock.
 */
#ifndef GKL_PRELOAD_MEASURE_CLOCK_H
#define GKL_PRELOAD_MEASURE_CLOCK_H

#include "abi/cuda_abi.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Positions are nanoseconds behind the base event. Nothing is reached before it
 * was recorded, and most of it at once: so the latest that the base may have
 * been is when it was, or later than it was by less than a look at the clock.
 */
struct measure_clock {
	CUevent base;
	uint64_t based_ns;         /* when it was made the base */
	int64_t offset, offset_at; /* of the base in CLOCK_MONOTONIC */
	int64_t offset_before;     /* as it was found in the time before */
};

/* Events around work, made at the first use; when the first was recorded, and
 * when that call had returned. */
struct measure_marks {
	CUevent begin, end;
	uint64_t begun_ns, called_ns;
};

/* When work ran whose events were reached; false: it cannot be known. */
bool measure_clock_read(struct measure_clock *clock,
			struct measure_marks *marks, uint64_t now,
			uint64_t *ret_begin, uint64_t *ret_end);

#endif
