/* SPDX-License-Identifier: Apache-2.0 */
/*
 * smoothing.h - power smoothing: presets that limit how fast power rises and
 * falls. Profiles and parameters have NVML's numbers
 * (NVML_POWER_SMOOTHING_PROFILE_PARAM_...), values are thousandths of the
 * parameter's unit.
 */
#ifndef GKF_SMOOTHING_H
#define GKF_SMOOTHING_H

#include "base/export.h"
#include "machine/file/numbers.h"

#include <stdbool.h>
#include <stdint.h>

struct gkf_machine;

/* The value of a parameter; the factory value if it was not set. */
GKF_API int64_t gkf_smoothing_get(const struct gkf_machine *m, unsigned device,
				  unsigned profile, unsigned param);

/* GK_ERR_RANGE for an invalid profile, parameter or value. */
GKF_API int gkf_smoothing_set(struct gkf_machine *m, unsigned device,
			      unsigned profile, unsigned param, int64_t value);

/* The greatest value of a parameter; -1: no such parameter. */
int64_t gkf_smoothing_max(unsigned profile, unsigned param);

/*
 * The effect of the active preset, which `set` (gkf_values_forced()) chooses:
 * the floor in permille of the power limit, and the number of bins for which it
 * applies after the last work. Both are 0 when smoothing is off.
 */
void gkf_smoothing_floor(const struct gkf_machine *m, unsigned device,
			 const int64_t set[GKF_VALUES_MAX],
			 int64_t *ret_permille, int64_t *ret_bins);

/* Restores the factory's presets. The caller holds the writers' lock. */
void gkf_smoothing_reset(struct gkf_machine *m, unsigned device);

#endif
