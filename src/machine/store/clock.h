/* clock.h - machine time: reading it and changing how it passes. */
#ifndef GKF_CLOCK_H
#define GKF_CLOCK_H

#include "base/export.h"

#include <stdint.h>

struct gkf_clock;
struct gkf_machine;

/* Machine time: nanoseconds since the machine was made, and its bin. */
GKF_API uint64_t gkf_machine_ns(const struct gkf_machine *m);
GKF_API uint64_t gkf_machine_bin(const struct gkf_machine *m);

/* How fast it passes, permille of real time; 0: it stands. */
GKF_API uint64_t gkf_speed(const struct gkf_machine *m);

/* The clock as it is set. */
struct gkf_clock gkf_clock_get(const struct gkf_machine *m);

/*
 * Wall time, microseconds since 1970, of a moment of machine time: now minus
 * what lies between in real time. A clock that stands shows the moment at
 * which it was stopped, and each step makes that later; its past, and that of
 * a clock whose speed was changed, is told as if it had always run so.
 */
GKF_API uint64_t gkf_wall_us(const struct gkf_machine *m, uint64_t machine_ns);

/* Real nanoseconds until a moment of machine time; UINT64_MAX: never. */
GKF_API uint64_t gkf_real_until(const struct gkf_machine *m,
				uint64_t machine_ns);

/*
 * Changes the speed; GK_ERR_RANGE above GKF_SPEED_MAX permille. A clock that
 * is stopped remembers in run_speed how fast it went.
 */
int gkf_clock_speed(struct gkf_machine *m, uint64_t speed);

/*
 * Makes the machine older at once, as if it had run for ns longer: what its
 * processes would have done to clocks and temperatures is done.
 */
int gkf_machine_age(struct gkf_machine *m, uint64_t ns);

/*
 * Computes what all devices have come to by now, waiting for whoever changes
 * them: who reads then, of a clock that stands, gets nothing older.
 */
int gkf_machine_settle(struct gkf_machine *m);

/* Machine time of the next step; UINT64_MAX: there is none. */
GKF_API uint64_t gkf_scenario_next_ns(const struct gkf_machine *m);

#endif
