/*
 * sums.h - what the GPUs of a machine are and do together.
 */
#ifndef GK_FORMAT_SUMS_H
#define GK_FORMAT_SUMS_H

#include <gpukit/gpukit.h>

/* Values are of the GPUs that answer; MIG devices are parts of these. */
struct gk_sums {
	int gpus, well, lost, hung, stale;
	double used, total;  /* bytes */
	double watts, limit; /* mW */
	double joules;       /* mJ */
	double busy;         /* percent, their mean; -1: none tells it */
};

struct gk_sums gk_sums_of(const struct gk_snapshot *snap);

#endif
