/*
 * controls.h - what the controls of a GPU amount to: the power limit in force,
 * the workload power profiles that are at work.
 */
#ifndef GKF_CONTROLS_H
#define GKF_CONTROLS_H

#include "base/export.h"

#include <stdint.h>

struct gkf_profile;

/* By the numbers of nvmlPowerProfileType_t. */
struct gkf_power_profile {
	unsigned priority;  /* the lower, the more it counts */
	uint32_t conflicts; /* profiles that it cannot be used with */
	unsigned limit;     /* percent of the power limit that it leaves */
	const char *name;
};
#define GKF_POWER_PROFILES 15
GKF_API extern const struct gkf_power_profile
    gkf_power_profiles[GKF_POWER_PROFILES];

/* The requested profiles that are at work: no two of them conflict. */
GKF_API uint32_t gkf_power_profiles_enforced(uint32_t requested);

/* The power limit in force, mW, of what is asked for. */
GKF_API int64_t gkf_power_limit_in_force(const struct gkf_profile *profile,
					 int64_t limit_mw, uint32_t requested);

#endif
