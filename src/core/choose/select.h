/*
 * select.h - which devices somebody should use: those that meet constraints,
 * the emptiest first. Pure.
 */
#ifndef GK_CORE_SELECT_H
#define GK_CORE_SELECT_H

#include <gpukit/gpukit.h>

/* The devices that are wanted. Start from GK_SELECT_ANY. */
struct gk_select {
	/* Positions in devices to choose from, in the order of unsorted; NULL:
	 * all. Of a GPU that is split its MIG devices are chosen from. */
	const unsigned *pool;
	size_t pool_count;
	size_t least, most; /* devices */
	/* Constraints; below 0: none. Bytes, percent. */
	int64_t min_free, min_total, max_gpu_util, max_mem_util;
	/* Percent by which a constraint may be missed, for utilisation percent
	 * points; who misses one comes after all who do not. */
	int64_t tolerance;
	/* Memory that processes of these users hold counts as free. */
	const char *const *free_users;
	size_t free_user_count;
	const bool *taken; /* by position: somebody else's; NULL: none is */
	bool unsorted;
	/* GPUs that NVLinks join, then of one NUMA node; needs the topology of
	 * the snapshot. */
	bool topology;
};

#define GK_SELECT_ANY                                                          \
	((struct gk_select){.most = SIZE_MAX,                                  \
			    .min_free = -1,                                    \
			    .min_total = -1,                                   \
			    .max_gpu_util = -1,                                \
			    .max_mem_util = -1})

/* Why a device is not among those to choose from. */
enum gk_refusal {
	GK_REFUSAL_NONE,
	GK_REFUSAL_HEALTH, /* lost, or does not answer */
	GK_REFUSAL_TAKEN,
	/* A constraint is not met, or the value is unknown. */
	GK_REFUSAL_FREE,
	GK_REFUSAL_TOTAL,
	GK_REFUSAL_GPU_UTIL,
	GK_REFUSAL_MEM_UTIL,
	GK_REFUSAL_COUNT
};

struct gk_selectable {
	unsigned device; /* position in devices */
	enum gk_refusal why;
	unsigned missed;            /* constraints met only by the tolerance */
	struct gk_value free, used; /* bytes, by free_users */
};

/*
 * All devices that could be chosen from: first the chosen ones, best first,
 * then the others that would do, then the refused ones.
 */
struct gk_selection {
	struct gk_selectable *all;
	size_t count;
	size_t usable; /* not refused */
	size_t chosen; /* less than least: not enough */
};

/* 0 or GK_ERR_NOMEM. Free *ret_selection with gk_selection_free(). */
int gk_select(const struct gk_snapshot *snap, const struct gk_select *wanted,
	      struct gk_selection *ret_selection);
void gk_selection_free(struct gk_selection *selection);

/*
 * Puts those of the usable ones first that belong together most, from least to
 * most of them, in their order. Returns how many.
 */
size_t gk_select_near(const struct gk_snapshot *snap,
		      struct gk_selectable *usable, size_t count, size_t least,
		      size_t most);

#endif
