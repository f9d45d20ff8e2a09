/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thermal.h - which boards report how far they are below their temperature
 * limit.
 */
#ifndef GKF_NVML_THERMAL_H
#define GKF_NVML_THERMAL_H

#include "machine/file/profile.h"

#include <stdbool.h>

/*
 * Whether the board reports thresholds as distances to its limit ("T.Limit").
 * Most boards since Ada do.
 */
bool thermal_has_margin(const struct gkf_profile *p);

#endif
