/* SPDX-License-Identifier: Apache-2.0 */
/* flag.h - values of values.def that are on (1) or off. */
#ifndef GKF_FLAG_H
#define GKF_FLAG_H

#include "base/export.h"
#include "machine/file/value.h"

#include <stdbool.h>

struct gkf_machine;

/* Whether a value was set to 1. device must exist. */
GKF_API bool gkf_is_set(const struct gkf_machine *m, unsigned device,
			enum gkf_value flag);

#endif
