/* SPDX-License-Identifier: Apache-2.0 */
/*
 * util.h - reads the utilisation of single processes from the driver's sample
 * buffer; owns the type of the buffer in which lists are read.
 */
#ifndef GK_CORE_UTIL_H
#define GK_CORE_UTIL_H

#include "core/driver/nvml.h"

/* A buffer for records of GK_STRIDE_MAX bytes each. */
struct gk_records {
	void *bytes;
	unsigned cap; /* records */
};

/* Provides zeroed space for `cap` records. Returns 0, GK_ERR_NOMEM or
 * GK_ERR_TOO_MANY. */
int gk_records_reserve(struct gk_records *records, unsigned cap);

/* The newest sample of each process on one device. Initialise it to zeros. */
struct gk_util {
	nvmlProcessUtilizationSample_t *samples;
	unsigned count, cap;
	unsigned long long seen_us; /* newest time stamp; 0: none */
	/*
	 * Samples up to this time are out of date; a process without a newer
	 * one counts as idle.
	 */
	unsigned long long asked_us;
	enum gk_absence why; /* why the last request failed */
};

void gk_util_free(struct gk_util *util);

/*
 * Reads the samples since the last call (at the first call, those of the last
 * second) and keeps the newest one of each process. now_us: microseconds since
 * 1970.
 */
nvmlReturn_t gk_util_read(struct gk_util *util, const struct gk_nvml *nvml,
			  nvmlDevice_t dev, struct gk_records *scratch,
			  unsigned long long now_us);

/*
 * Sets the four utilisations of a process: those of a recent sample, 0 if the
 * driver has none for this process, absent if the driver has no samples at all.
 */
void gk_util_apply(const struct gk_util *util, pid_t pid,
		   struct gk_value m[GK_PM_COUNT]);

#endif
