/* SPDX-License-Identifier: Apache-2.0 */
/* controls.c - finds the power limit and the profiles in force. */
#include "machine/model/controls.h"
#include "machine/file/profile.h"

#include <stdint.h>

#define P(n) (1U << (n))
/* Profiles for one kind of work; they exclude one another. */
#define WORK                                                                   \
	(P(2) | P(3) | P(4) | P(5) | P(6) | P(7) | P(10) | P(11) | P(12) |     \
	 P(13))

/*
 * Priorities, conflicts and limits are our own: NVIDIA publishes only the
 * names.
 */
const struct gkf_power_profile gkf_power_profiles[GKF_POWER_PROFILES] = {
    [0] = {0, P(1), 100, "max-p"},
    [1] = {1, P(0), 80, "max-q"},
    [2] = {10, WORK & ~P(2), 100, "compute"},
    [3] = {11, WORK & ~P(3), 90, "memory-bound"},
    [4] = {12, WORK & ~P(4), 90, "network"},
    [5] = {13, WORK & ~P(5), 95, "balanced"},
    [6] = {14, WORK & ~P(6), 90, "llm-inference"},
    [7] = {15, WORK & ~P(7), 100, "llm-training"},
    [8] = {30, 0, 100, "rbm"},
    [9] = {31, 0, 100, "dcpcie"},
    [10] = {16, WORK & ~P(10), 100, "hmma-sparse"},
    [11] = {17, WORK & ~P(11), 100, "hmma-dense"},
    [12] = {18, WORK & ~P(12), 95, "sync-balanced"},
    [13] = {19, WORK & ~P(13), 100, "hpc"},
    [14] = {32, 0, 100, "mig"},
};

/* The requested profile of the highest priority. */
static unsigned first_of(uint32_t wanted)
{
	unsigned best = GKF_POWER_PROFILES;

	for (unsigned i = 0; i < GKF_POWER_PROFILES; i++)
		if (wanted & P(i) && (best == GKF_POWER_PROFILES ||
				      gkf_power_profiles[i].priority <
					  gkf_power_profiles[best].priority))
			best = i;
	return best;
}

uint32_t gkf_power_profiles_enforced(uint32_t requested)
{
	uint32_t left = requested & (P(GKF_POWER_PROFILES) - 1), enforced = 0;

	while (left) {
		unsigned i = first_of(left);

		enforced |= P(i);
		left &= ~(P(i) | gkf_power_profiles[i].conflicts);
	}
	return enforced;
}

int64_t gkf_power_limit_in_force(const struct gkf_profile *profile,
				 int64_t limit_mw, uint32_t requested)
{
	uint32_t enforced = gkf_power_profiles_enforced(requested);

	for (unsigned i = 0; profile->power_max_mw && i < GKF_POWER_PROFILES;
	     i++) {
		int64_t most =
		    profile->power_max_mw / 100 * gkf_power_profiles[i].limit;

		if (enforced & P(i) && most < limit_mw)
			limit_mw = most;
	}
	return limit_mw;
}
