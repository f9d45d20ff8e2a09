/* SPDX-License-Identifier: Apache-2.0 */
/*
 * listed.h - the GPUs that the driver lists. A GPU that was removed or excluded
 * is in no list and has no handle. Removal and exclusion are values of
 * values.def ("removed", "excluded"), so `ctl clear` brings the GPU back.
 */
#ifndef GKF_LISTED_H
#define GKF_LISTED_H

#include "base/export.h"

#include <stdbool.h>

struct gkf_machine;

/* Whether the driver lists a device, which must exist. */
bool gkf_is_listed(const struct gkf_machine *m, unsigned device);

/*
 * The number of listed devices, and the n-th of them; -1: there are not that
 * many.
 */
GKF_API unsigned gkf_listed_count(const struct gkf_machine *m);
GKF_API int gkf_listed(const struct gkf_machine *m, unsigned n);

/* How many listed devices come before a device. */
GKF_API unsigned gkf_listed_before(const struct gkf_machine *m,
				   unsigned device);

#endif
