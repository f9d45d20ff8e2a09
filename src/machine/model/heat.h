/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heat.h - temperatures, fans, and what heat does to the clocks. The formulas
 * and their constants: docs/MACHINE.md.
 */
#ifndef GKF_HEAT_H
#define GKF_HEAT_H

#include <stdint.h>

struct gkf_drive;
struct gkf_profile;
struct gkf_state;

/*
 * Returns the SM clock that heat allows, as permille of the wanted clock, and
 * the throttle reasons that apply. `state` is the state after the previous bin:
 * it is needed because a slowdown ends only when the GPU is a little cooler
 * than when it began.
 */
int64_t gkf_heat_limit(const struct gkf_profile *profile,
		       const struct gkf_drive *drive,
		       const struct gkf_state *state, int64_t *ret_reasons);

/* Heats or cools for a bin, at the power and fan speed of the state. */
void gkf_heat_step(const struct gkf_profile *profile,
		   const struct gkf_drive *drive, struct gkf_state *state);

/* Moves the fan speed towards its target for a bin. */
void gkf_fan_step(const struct gkf_profile *profile,
		  const struct gkf_drive *drive, struct gkf_state *state);

#endif
