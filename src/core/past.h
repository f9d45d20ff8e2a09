/*
 * past.h - what the driver itself remembers of the last seconds of a GPU, from
 * before anybody asked: its buffers of samples.
 */
#ifndef GK_CORE_PAST_H
#define GK_CORE_PAST_H

#include "core/nvml.h"

struct gk_sample {
	enum gk_metric metric;
	uint64_t wall_ns; /* since 1970, as the driver says it */
	int64_t value;    /* in the unit of the metric */
};

/* By metric, the oldest first. free() it. */
struct gk_past {
	size_t count;
	struct gk_sample samples[];
};

/* Asks a GPU for all of its buffers, once. NULL: it has none, or no memory. */
struct gk_past *gk_past_read(const struct gk_nvml *nvml, nvmlDevice_t gpu);

/*
 * While watching: has the GPU of an NVML index tell its samples, without
 * waiting: 0 or a gk_err. They are there with a later frame; the driver may
 * take milliseconds for them.
 */
int gk_watch_ask_past(struct gk *gk, unsigned index);

/* Takes what it told; NULL: nothing yet. free() it. */
struct gk_past *gk_watch_take_past(struct gk *gk, unsigned index);

#endif
