/*
 * power.h - what the getters of power and the fields by id have in common.
 */
#ifndef GKF_NVML_POWER_H
#define GKF_NVML_POWER_H

#include "fronts/nvml/front.h"
#include "machine/file/profile.h"

struct gkf_profile;

/* The limit asked for, or a lower one that a power profile brings; mW. */
nvmlReturn_t power_limit_in_force(const struct call *c, uint64_t *ret_mw);

/*
 * Does this board tell its mean power over the last second? That came with
 * Ampere, but not with its first chip, GA100 (8.0).
 */
static inline bool power_has_average(const struct gkf_profile *p)
{
	return p->compute_major * 10 + p->compute_minor > 80;
}

#endif
