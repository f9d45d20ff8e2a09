/*
 * util.h - utilisation of single processes, drained from the driver's sample
 * buffer, and the buffer that list calls write to.
 */
#ifndef GK_CORE_UTIL_H
#define GK_CORE_UTIL_H

#include "core/nvml.h"

/* Room for records of GK_STRIDE_MAX bytes each. */
struct gk_records {
	void *bytes;
	unsigned cap; /* records */
};

/* Zeroed room for cap records. 0, GK_ERR_NOMEM or GK_ERR_TOO_MANY. */
int gk_records_reserve(struct gk_records *records, unsigned cap);

/* The newest sample of each process of one device. Zero it to start. */
struct gk_util {
	nvmlProcessUtilizationSample_t *samples;
	unsigned count, cap;
	unsigned long long seen_us;  /* newest time stamp; 0 none */
	unsigned long long asked_us; /* lower end of the last question */
	enum gk_absence why;         /* of the last question */
};

void gk_util_free(struct gk_util *util);

/*
 * Asks for the samples since the last question (the first: since one second
 * ago) and keeps the newest of each process. now_us: microseconds since 1970.
 */
nvmlReturn_t gk_util_read(struct gk_util *util, const struct gk_nvml *nvml,
			  nvmlDevice_t dev, struct gk_records *scratch,
			  unsigned long long now_us);

/*
 * Writes the four utilisations of a process: those of a fresh sample, 0 when
 * the driver has none, absent when it keeps none at all.
 */
void gk_util_apply(const struct gk_util *util, pid_t pid,
		   struct gk_value m[GK_PM_COUNT]);

#endif
