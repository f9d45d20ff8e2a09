/* SPDX-License-Identifier: Apache-2.0 */
/*
 * power.h - power, for the getters and the fields by id.
 */
#ifndef GKF_NVML_POWER_H
#define GKF_NVML_POWER_H

#include "fronts/nvml/front.h"
#include "machine/file/profile.h"

struct gkf_profile;

/* The requested limit, or the limit of a power profile if that is lower; in mW.
 */
nvmlReturn_t power_limit_in_force(const struct call *c, uint64_t *ret_mw);

/*
 * Whether the board reports its mean power over the last second. Boards since
 * Ampere do, except those with Ampere's first chip, GA100 (8.0).
 */
static inline bool power_has_average(const struct gkf_profile *p)
{
	return p->compute_major * 10 + p->compute_minor > 80;
}

#endif
