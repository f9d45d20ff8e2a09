/* clock_state.h - the clock of a machine; store/clock.h reads and sets it. */
#ifndef GKF_CLOCK_STATE_H
#define GKF_CLOCK_STATE_H

#include <stdint.h>

/*
 * Machine time passes at speed / 1000 of real time since real_ns of
 * CLOCK_BOOTTIME, when it was machine_ns. Words only, as gkf_state.
 */
struct gkf_clock {
	uint64_t real_ns, machine_ns;
	uint64_t wall_ns; /* since 1970, at real_ns */
	uint64_t speed;   /* permille; 0: it stands still */
};
#define GKF_SPEED_MAX 1000000

#endif
