/* SPDX-License-Identifier: Apache-2.0 */
/*
 * controls.h - the power limit and the workload power profiles in force on a
 * GPU.
 */
#ifndef GKF_CONTROLS_H
#define GKF_CONTROLS_H

#include "base/export.h"

#include <stdint.h>

struct gkf_profile;

/* Indexed by nvmlPowerProfileType_t. */
struct gkf_power_profile {
	unsigned priority;  /* lower numbers win */
	uint32_t conflicts; /* bits of profiles that conflict with this one */
	unsigned limit;     /* percent of the highest power limit */
	const char *name;
};
#define GKF_POWER_PROFILES 15
GKF_API extern const struct gkf_power_profile
    gkf_power_profiles[GKF_POWER_PROFILES];

/* The requested profiles that are in force: no two of them conflict. */
GKF_API uint32_t gkf_power_profiles_enforced(uint32_t requested);

/* The power limit in force, mW, given the requested limit and profiles. */
GKF_API int64_t gkf_power_limit_in_force(const struct gkf_profile *profile,
					 int64_t limit_mw, uint32_t requested);

#endif
