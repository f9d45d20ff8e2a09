/* SPDX-License-Identifier: Apache-2.0 */
/* thermal.h - which boards tell how far they are below their limit. */
#ifndef GKF_NVML_THERMAL_H
#define GKF_NVML_THERMAL_H

#include "machine/file/profile.h"

#include <stdbool.h>

/* Whether thresholds are distances to a limit: of most boards since Ada. */
bool thermal_has_margin(const struct gkf_profile *p);

#endif
