/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select.h - selects the devices to use: those that meet the constraints, the
 * least used ones first. Pure functions.
 */
#ifndef GK_CORE_SELECT_H
#define GK_CORE_SELECT_H

#include <gpukit/gpukit.h>

/* The requested devices. Start from GK_SELECT_ANY. */
struct gk_select {
	/* Positions of the devices from which to choose, in order of preference
	 * if `unsorted` is set. NULL: all devices. A GPU with MIG represents
	 * its MIG devices. */
	const unsigned *pool;
	size_t pool_count;
	size_t least, most; /* devices */
	/* Constraints, in bytes and percent; a negative one is not checked. */
	int64_t min_free, min_total, max_gpu_util, max_mem_util;
	/* The percentage by which a device may miss a constraint; for
	 * utilisation, percentage points. Such devices are ranked last. */
	int64_t tolerance;
	/* Memory that processes of these users hold counts as free. */
	const char *const *free_users;
	size_t free_user_count;
	/* Per device of the snapshot: whether others use it. May be NULL. */
	const bool *taken;
	bool unsorted;
	/* Prefer GPUs joined by NVLinks, then those on one NUMA node; needs
	 * the snapshot's topology. */
	bool topology;
};

#define GK_SELECT_ANY                                                          \
	((struct gk_select){.most = SIZE_MAX,                                  \
			    .min_free = -1,                                    \
			    .min_total = -1,                                   \
			    .max_gpu_util = -1,                                \
			    .max_mem_util = -1})

/* Why a device cannot be chosen. */
enum gk_refusal {
	GK_REFUSAL_NONE,
	GK_REFUSAL_HEALTH, /* lost, or does not answer */
	GK_REFUSAL_TAKEN,
	/* The constraint is not met, or the value is unknown. */
	GK_REFUSAL_FREE,
	GK_REFUSAL_TOTAL,
	GK_REFUSAL_GPU_UTIL,
	GK_REFUSAL_MEM_UTIL,
	GK_REFUSAL_COUNT
};

struct gk_selectable {
	unsigned device; /* position in devices */
	enum gk_refusal why;
	unsigned missed; /* constraints missed within the tolerance */
	struct gk_value free, used; /* bytes, after applying free_users */
};

/*
 * All candidates in this order: chosen devices (the best first), other usable
 * devices, refused devices.
 */
struct gk_selection {
	struct gk_selectable *all;
	size_t count;
	size_t usable; /* not refused */
	size_t chosen; /* less than `least` if there are too few devices */
};

/* 0 or GK_ERR_NOMEM. Free *ret_selection with gk_selection_free(). */
int gk_select(const struct gk_snapshot *snap, const struct gk_select *wanted,
	      struct gk_selection *ret_selection);
void gk_selection_free(struct gk_selection *selection);

/*
 * Finds the group of `least` to `most` usable devices that are closest to each
 * other, and moves it to the front; the order within the group stays the same.
 * Returns the group's size.
 */
size_t gk_select_near(const struct gk_snapshot *snap,
		      struct gk_selectable *usable, size_t count, size_t least,
		      size_t most);

#endif
