/* SPDX-License-Identifier: Apache-2.0 */
/* clock_at.h - converts real time to machine time; for clock*.c alone. */
#ifndef GKF_CLOCK_AT_H
#define GKF_CLOCK_AT_H

#include "machine/file/clock_state.h"

#include <stdint.h>

#define GKF_REAL_SPEED 1000

/* Machine time at a moment of real time. */
static inline uint64_t gkf_clock_at(const struct gkf_clock *c, uint64_t real_ns)
{
	/* The clock may be ahead if it was set in another time namespace. */
	uint64_t passed = real_ns > c->real_ns ? real_ns - c->real_ns : 0;

	if (c->speed == GKF_REAL_SPEED)
		return c->machine_ns + passed;
	return c->machine_ns +
	       (uint64_t)((__uint128_t)passed * c->speed / GKF_REAL_SPEED);
}

#endif
