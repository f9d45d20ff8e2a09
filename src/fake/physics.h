/*
 * physics.h - one bin of a GPU's life: from what its processes want to
 * clocks, power, heat and energy. Pure integer arithmetic: the same input
 * gives the same state on every machine.
 */
#ifndef GKF_PHYSICS_H
#define GKF_PHYSICS_H

#include "fake/machine.h"

/* What bears on a device during a bin. Permille of the bin. */
struct gkf_drive {
	uint32_t attached; /* processes on the device */
	uint32_t demand;   /* sum of busy time wanted, may pass 1000 */
	uint32_t mem, enc, dec;
	/*
	 * What a broken board does to itself: reasons that hold whatever the
	 * heat is, and what is left of the clocks, permille (1000: all).
	 */
	uint64_t fault_reasons;
	int64_t fault_clock;
	/* What is set of the device's values; GKF_UNSET: nothing. */
	int64_t set[GKF_V_COUNT];
};

static inline int64_t gkf_clamp(int64_t v, int64_t low, int64_t high)
{
	return v < low ? low : v > high ? high : v;
}

/* Advances a state by one bin of 1/6 s. */
void gkf_physics_step(const struct gkf_profile *profile,
		      const struct gkf_drive *drive, struct gkf_state *state);

/* Fan speed that is aimed at, in percent, at a core temperature. */
int64_t gkf_physics_fan(const struct gkf_profile *profile, int64_t temp_c);

#endif
