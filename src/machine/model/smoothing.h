/*
 * smoothing.h - power smoothing: presets of how fast power may rise and fall.
 * Profiles and parameters are NVML's numbers (NVML_POWER_SMOOTHING_PROFILE_
 * PARAM_...), values are thousandths of the parameter's unit.
 */
#ifndef GKF_SMOOTHING_H
#define GKF_SMOOTHING_H

#include "base/export.h"

#include <stdbool.h>
#include <stdint.h>

struct gkf_machine;

/* The value of a parameter, that of the factory if nobody has set it. */
GKF_API int64_t gkf_smoothing_get(const struct gkf_machine *m, unsigned device,
				  unsigned profile, unsigned param);

/* GK_ERR_RANGE for a profile, a parameter or a value that cannot be. */
GKF_API int gkf_smoothing_set(struct gkf_machine *m, unsigned device,
			      unsigned profile, unsigned param, int64_t value);

/*
 * Reads what the active preset does: the floor, permille of the power limit,
 * and how many bins after the last work it holds. 0 and 0 when smoothing is
 * off.
 */
void gkf_smoothing_floor(struct gkf_machine *m, unsigned device,
			 int64_t *ret_permille, int64_t *ret_bins);

/* All as from the factory. The caller holds the writers' lock. */
void gkf_smoothing_reset(struct gkf_machine *m, unsigned device);

#endif
