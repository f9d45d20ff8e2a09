/* SPDX-License-Identifier: Apache-2.0 */
/* sums.h - how many GPUs are in which state, and totals of their values. */
#ifndef GK_FORMAT_SUMS_H
#define GK_FORMAT_SUMS_H

#include <gpukit/gpukit.h>

/*
 * Sums over the GPUs that answer. MIG devices are part of their GPU and not
 * added again.
 */
struct gk_sums {
	int gpus, well, lost, error, hung, stale;
	double used, total;  /* bytes */
	double watts, limit; /* mW */
	double joules;       /* mJ */
	/* percent, mean over the GPUs that report it; -1: none reports it */
	double busy;
};

struct gk_sums gk_sums_of(const struct gk_snapshot *snap);

#endif
