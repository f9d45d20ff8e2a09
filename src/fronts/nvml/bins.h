/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bins.h - converts bins, the equal periods into which machine time is divided,
 * into the time stamps of NVML: microseconds of wall time at the end of a bin.
 */
#ifndef GKF_NVML_BINS_H
#define GKF_NVML_BINS_H

#include "fronts/nvml/front.h"
#include "machine/file/numbers.h"
#include "machine/store/clock.h"

/*
 * Converting a bin to wall time reads two clocks, so two stamps of the same bin
 * may differ by up to this much. If the difference is larger, the stamps belong
 * to different bins. At high speeds bins are close together, so this limit is
 * small. It is 0 if the clock is stopped.
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
 * How long the clock has been stopped. Stamps stay at the time when it stopped,
 * while the caller's wall clock continues.
 */
static inline uint64_t bin_stood_us(const struct call *c)
{
	uint64_t now = gkf_wall_us(c->machine, gkf_machine_ns(c->machine));
	uint64_t wall = front_wall_us();

	return gkf_speed(c->machine) || wall < now ? 0 : wall - now;
}

#endif
