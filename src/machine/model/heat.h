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
 * The part of the SM clock that heat leaves, permille, and the reasons that it
 * adds. Both follow from the state after the bin before: a slowdown that was
 * begun then ends a little cooler.
 */
int64_t gkf_heat_limit(const struct gkf_profile *profile,
		       const struct gkf_drive *drive,
		       const struct gkf_state *state, int64_t *ret_reasons);

/* A bin of heating and cooling at the power and fan speed of the state. */
void gkf_heat_step(const struct gkf_profile *profile,
		   const struct gkf_drive *drive, struct gkf_state *state);

/* A bin of the fan. */
void gkf_fan_step(const struct gkf_profile *profile,
		  const struct gkf_drive *drive, struct gkf_state *state);

#endif
