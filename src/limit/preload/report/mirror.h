/*
 * mirror.h - this process in HAMi's region, and the dead out of it.
 */
#ifndef GKL_PRELOAD_MIRROR_H
#define GKL_PRELOAD_MIRROR_H

#include "limit/preload/limited.h"
#include "limit/region.h"

/* All that stands in the region of a group that was just opened. */
void mirror_begin(struct gkl_group *group);

/* The group's limits, where it has a region. */
void mirror_policy(struct gkl_group *group, const struct gkl_policy *policy);

/* The devices of the ledger's table. */
void mirror_devices(struct gkl_group *group);

/* Takes the dead out of the region, every 50 ms at most. */
void mirror_bury(struct gkl_group *group);

/* This process's slot of the region; negative: it has none. */
int mirror_slot(void);

/* Its status: it waits as the operator has suspended the group, or it runs. */
void mirror_suspended(struct gkl_group *group, bool suspended);

/* In a forked child: the time is the parent's. */
void mirror_busy_forget(void);

void mirror_launch_slowly(struct gkl_region *region, uint64_t priority);

/*
 * One launch. The monitor lowers recent_kernel every few seconds, so that all
 * launches but one in that time find it as the one before left it.
 */
static inline void mirror_launch(struct gkl_region *region, uint64_t priority)
{
	int32_t recent =
	    atomic_load_explicit(&region->recent_kernel, memory_order_relaxed);

	if (__builtin_expect(recent != GKL_REGION_JUST_LAUNCHED, 0))
		mirror_launch_slowly(region, priority);
}

#endif
