/* SPDX-License-Identifier: Apache-2.0 */
/* sums.h - how many GPUs are in which state, and totals of their values. */
#ifndef GK_FORMAT_SUMS_H
#define GK_FORMAT_SUMS_H

#include <gpukit/gpukit.h>

/*
 * Only GPUs that answer count in the values; MIG devices do not count
 * separately.
 */
struct gk_sums {
	int gpus, well, lost, error, hung, stale;
	double used, total;  /* bytes */
	double watts, limit; /* mW */
	double joules;       /* mJ */
	double busy;         /* mean of the GPUs that report it, percent; -1:
			      * none does */
};

struct gk_sums gk_sums_of(const struct gk_snapshot *snap);

#endif
