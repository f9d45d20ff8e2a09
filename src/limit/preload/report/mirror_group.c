/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mirror_group.c - writes a group's policy and devices to HAMi's region, and
 * removes dead processes from it.
 */
#include "limit/preload/report/mirror.h"
#include "base/clock.h"

_Atomic int mirror_own_slot = MIRROR_NOT_JOINED;

void mirror_bury(struct gkl_group *group)
{
	static _Atomic uint64_t last;
	uint64_t now, then;

	if (!group->region)
		return;
	now = gk_mono_ns();
	then = atomic_load_explicit(&last, memory_order_relaxed);
	if (now - then < 50 * GK_NS_PER_MS ||
	    !atomic_compare_exchange_strong(&last, &then, now))
		return;
	gkl_group_bury(group);
}

void mirror_begin(struct gkl_group *group)
{
	struct gkl_policy policy;

	gkl_policy_read(group->policy, &policy);
	mirror_policy(group, &policy);
	mirror_devices(group);
}

void mirror_policy(struct gkl_group *group, const struct gkl_policy *policy)
{
	if (group->region)
		gkl_region_set_policy(group->region, policy);
}

void mirror_devices(struct gkl_group *group)
{
	struct gkl_device device;

	for (unsigned i = 0; group->region && i < GKL_DEVICES; i++)
		if (gkl_ledger_device(group->ledger, i, &device))
			gkl_region_set_device(group->region, i, device.uuid);
}
