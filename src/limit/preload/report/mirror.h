/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mirror.h - writes this process to HAMi's region, and removes dead processes
 * from it.
 */
#ifndef GKL_PRELOAD_MIRROR_H
#define GKL_PRELOAD_MIRROR_H

#include "limit/preload/limited.h"
#include "limit/region.h"

/* Writes policy and devices of a newly opened group to its region. */
void mirror_begin(struct gkl_group *group);

/* Writes the group's limits, if it has a region. */
void mirror_policy(struct gkl_group *group, const struct gkl_policy *policy);

/* Writes the devices of the ledger's table. */
void mirror_devices(struct gkl_group *group);

/* Removes dead processes from the region, at most every 50 ms. */
void mirror_bury(struct gkl_group *group);

/* This process's slot of the region; negative: it has none. */
enum { MIRROR_NOT_JOINED = -1, MIRROR_LEFT = -2 };
extern _Atomic int mirror_own_slot;

static inline int mirror_slot(void)
{
	return atomic_load_explicit(&mirror_own_slot, memory_order_acquire);
}

/* Writes the process's status: waiting in a suspended group, or running. */
void mirror_suspended(struct gkl_group *group, bool suspended);

/*
 * Forgets the time counted so far. Called in a forked child, where that time is
 * the parent's.
 */
void mirror_busy_forget(void);

void mirror_launch_slowly(struct gkl_region *region, uint64_t priority);

/*
 * The value that a launch leaves in recent_kernel; before this process's first
 * launch, a value that never occurs there.
 */
extern _Atomic int32_t mirror_launched;

/*
 * Call at each launch. The monitor lowers recent_kernel every few seconds. In
 * between, only the first launch has to write it: later launches find the value
 * that the first one left.
 */
static inline void mirror_launch(struct gkl_region *region, uint64_t priority)
{
	int32_t recent =
	    atomic_load_explicit(&region->recent_kernel, memory_order_relaxed);

	if (__builtin_expect(recent !=
				 atomic_load_explicit(&mirror_launched,
						      memory_order_relaxed),
			     0))
		mirror_launch_slowly(region, priority);
}

#endif
