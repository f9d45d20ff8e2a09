/*
 * bins.h - bins of machine time as the stamps that a caller of NVML sees:
 * microseconds of wall time at the end of a bin.
 */
#ifndef GKF_NVML_BINS_H
#define GKF_NVML_BINS_H

#include "fronts/nvml/front.h"
#include "machine/file/numbers.h"
#include "machine/store/clock.h"

/*
 * Two clocks are read to place a bin in wall time, so the stamp of one bin
 * wavers. Only what is newer by more than this is another bin; at high speeds
 * bins are close to one another. When the clock stands nothing wavers.
 */
static inline uint64_t bin_waver_us(const struct call *c)
{
	uint64_t speed = gkf_speed(c->machine);
	uint64_t quarter = speed ? GKF_BIN_NS / 4 / speed : 0;

	return quarter < 1000 ? quarter : 1000;
}

/* The stamp of a bin: its end. */
static inline uint64_t bin_stamp_us(const struct call *c, uint64_t bin)
{
	return gkf_wall_us(c->machine, (bin + 1) * GKF_BIN_NS);
}

/*
 * How long the clock has been standing still: stamps are of when it stopped,
 * while callers reckon with a wall clock that goes on.
 */
static inline uint64_t bin_stood_us(const struct call *c)
{
	uint64_t now = gkf_wall_us(c->machine, gkf_machine_ns(c->machine));
	uint64_t wall = front_wall_us();

	return gkf_speed(c->machine) || wall < now ? 0 : wall - now;
}

#endif
