/*
 * power.h - the power limit in force, for the getter and for fields by id.
 */
#ifndef GKF_NVML_POWER_H
#define GKF_NVML_POWER_H

#include "fake/nvml/front.h"

/* The limit asked for, or a lower one that a power profile brings; mW. */
nvmlReturn_t power_limit_in_force(const struct call *c, uint64_t *ret_mw);

#endif
