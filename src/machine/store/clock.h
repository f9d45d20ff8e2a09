/* SPDX-License-Identifier: Apache-2.0 */
/* clock.h - machine time: reads it and changes its speed. */
#ifndef GKF_CLOCK_H
#define GKF_CLOCK_H

#include "base/export.h"

#include <stdint.h>

struct gkf_clock;
struct gkf_machine;

/* Machine time: nanoseconds since the machine was made, and its bin. */
GKF_API uint64_t gkf_machine_ns(const struct gkf_machine *m);
GKF_API uint64_t gkf_machine_bin(const struct gkf_machine *m);

/* The speed of machine time, permille of real time; 0: stopped. */
GKF_API uint64_t gkf_speed(const struct gkf_machine *m);

/* A consistent copy of the clock's words. */
struct gkf_clock gkf_clock_get(const struct gkf_machine *m);

/*
 * Converts a moment of machine time to wall time, in microseconds since 1970:
 * the current wall time minus the real time since that moment. A stopped clock
 * shows the time at which it was stopped, plus all steps since. If the clock
 * was ever stopped or its speed changed, the past is computed as if it had
 * always run as it does now.
 */
GKF_API uint64_t gkf_wall_us(const struct gkf_machine *m, uint64_t machine_ns);

/* Real nanoseconds until a moment of machine time; UINT64_MAX: never. */
GKF_API uint64_t gkf_real_until(const struct gkf_machine *m,
				uint64_t machine_ns);

/*
 * Changes the speed; GK_ERR_RANGE above GKF_SPEED_MAX permille. Stopping the
 * clock saves its speed in run_speed.
 */
int gkf_clock_speed(struct gkf_machine *m, uint64_t speed);

/*
 * Stops the clock of a copy at a moment of its past. The caller holds the lock
 * (writers_lock.h).
 */
void gkf_clock_stop_copy(struct gkf_machine *m, uint64_t machine_ns);

/*
 * Advances machine time by ns at once, with all effects that the processes
 * would have had on clocks and temperatures.
 */
int gkf_machine_age(struct gkf_machine *m, uint64_t ns);

/*
 * Computes the current state of all devices, waiting for the lock, so that
 * later readings of a stopped machine are never older.
 */
int gkf_machine_settle(struct gkf_machine *m);

/* Machine time of the scenario's next step; UINT64_MAX: there is none. */
GKF_API uint64_t gkf_scenario_next_ns(const struct gkf_machine *m);

#endif
