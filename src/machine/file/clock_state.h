/* SPDX-License-Identifier: Apache-2.0 */
/* clock_state.h - the clock of a machine; store/clock.h reads and sets it. */
#ifndef GKF_CLOCK_STATE_H
#define GKF_CLOCK_STATE_H

#include <stdint.h>

/*
 * Machine time was machine_ns when CLOCK_BOOTTIME was real_ns. Since then it
 * has passed at speed / 1000 of real time. All members are words.
 */
struct gkf_clock {
	uint64_t real_ns, machine_ns;
	uint64_t wall_ns; /* wall time at real_ns, ns since 1970 */
	uint64_t speed;   /* permille; 0: stopped */
};
#define GKF_SPEED_MAX 1000000

#endif
