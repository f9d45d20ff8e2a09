/* SPDX-License-Identifier: Apache-2.0 */
/* group_bury.c - removes dead processes from a group and from HAMi's region. */
#include "limit/group.h"
#include "limit/region.h"

#include <string.h>

/* Processes that own a slot of the region, but none of the ledger. */
struct gone {
	int32_t pids[GKL_PROCESSES];
};

static void strike_living(const struct gkl_process *process, void *arg)
{
	struct gone *gone = arg;
	int slot = process->slot;

	if (slot >= 0 && slot < GKL_PROCESSES &&
	    gone->pids[slot] == process->pid)
		gone->pids[slot] = 0;
}

/* Shows in the region the memory of an ended process that others still hold. */
static void show_ended(const struct gkl_process *process, void *arg)
{
	struct gkl_region *region = arg;
	unsigned slot = (unsigned)process->slot;

	if (!process->ended)
		return;
	if (gkl_region_pid(region, slot) != process->pid)
		gkl_region_join(region, slot, process->pid, process->host_pid);
	for (unsigned d = 0; d < GKL_DEVICES; d++) {
		uint64_t bytes[GKL_REGION_CLASSES] = {[GKL_REGION_DATA] =
							  process->held[d]};

		gkl_region_set_used(region, slot, d, bytes);
		gkl_region_set_busy(region, slot, d, 0);
	}
}

/*
 * Reads the region's owners before the ledger's. A process enters the ledger
 * first, so an owner that only the region names has ended.
 */
static void drop_dead(const struct gkl_group *group)
{
	unsigned count = gkl_region_slots(group->region);
	struct gone gone;

	memset(&gone, 0, sizeof gone);
	for (unsigned i = 0; i < count; i++)
		gone.pids[i] = gkl_region_pid(group->region, i);
	gkl_ledger_each(group->ledger, strike_living, &gone);
	for (unsigned i = 0; i < count; i++)
		if (gone.pids[i])
			gkl_region_leave(group->region, i, gone.pids[i]);
	gkl_ledger_each(group->ledger, show_ended, group->region);
}

void gkl_group_bury(const struct gkl_group *group)
{
	gkl_ledger_bury(group->ledger);
	if (group->region)
		drop_dead(group);
}

void gkl_group_refresh(const struct gkl_group *group)
{
	struct gkl_policy policy;

	gkl_group_bury(group);
	if (!group->region)
		return;
	gkl_policy_read(group->policy, &policy);
	gkl_region_set_policy(group->region, &policy);
}
