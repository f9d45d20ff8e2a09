/*
 * listed.h - which GPUs are there: one that was removed or that the driver
 * was told to leave out is in no list and has no handle. Values of values.def
 * say so ("removed", "excluded"), so `ctl clear` brings it back.
 */
#ifndef GKF_LISTED_H
#define GKF_LISTED_H

#include "base/export.h"

#include <stdbool.h>

struct gkf_machine;

/* Does the driver list it? device must exist. */
bool gkf_is_listed(const struct gkf_machine *m, unsigned device);

/* How many are listed, and the n-th of them; -1: there are not so many. */
GKF_API unsigned gkf_listed_count(const struct gkf_machine *m);
GKF_API int gkf_listed(const struct gkf_machine *m, unsigned n);

/* How many are listed before a device. */
GKF_API unsigned gkf_listed_before(const struct gkf_machine *m,
				   unsigned device);

#endif
