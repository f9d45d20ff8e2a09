/* SPDX-License-Identifier: Apache-2.0 */
/*
 * past.h - reads the sample buffers that the driver keeps for a GPU. They also
 * cover the last seconds before the program started.
 */
#ifndef GK_CORE_PAST_H
#define GK_CORE_PAST_H

#include "core/driver/nvml.h"

struct gk_sample {
	enum gk_metric metric;
	uint64_t wall_ns; /* time since 1970, as returned by the driver */
	int64_t value;    /* value in the unit of the metric */
};

/* Sorted by metric, then by time, oldest first. The caller frees it. */
struct gk_past {
	size_t count;
	struct gk_sample samples[];
};

/* Reads all buffers of a GPU. NULL: it has none, or out of memory. */
struct gk_past *gk_past_read(const struct gk_nvml *nvml, nvmlDevice_t gpu);

/*
 * While watching: starts reading a GPU's sample buffers, without waiting. The
 * driver may take milliseconds, so they are available with a later frame.
 * Returns 0 or a gk_err.
 */
int gk_watch_ask_past(struct gk *gk, unsigned index);

/*
 * Hands over the samples that were read, for the caller to free. NULL: none
 * yet.
 */
struct gk_past *gk_watch_take_past(struct gk *gk, unsigned index);

#endif
