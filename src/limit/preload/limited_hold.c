/* SPDX-License-Identifier: Apache-2.0 */
/*
 * limited_hold.c - delays or refuses calls while the group is broken or
 * suspended, or while HAMi's monitor demands it.
 */
#include "limit/preload/limited_policy.h"
#include "base/clock.h"
#include "limit/preload/report/mirror.h"
#include "limit/preload/report/refusal.h"

bool limited_broken(void)
{
	struct gkl_group *group = limited();
	bool broken = group ? gkl_policy_is_damaged(group->policy) ||
				  gkl_ledger_is_damaged(group->ledger)
			    : limited_is_unreadable();

	if (__builtin_expect(broken, 0))
		refusal_broken();
	return broken;
}

__attribute__((noinline)) static void sleep_while_suspended(void)
{
	struct gkl_group *group = limited();

	mirror_suspended(group, true);
	while (limited_read_policy(group)->suspended)
		gkl_policy_wait(group->policy, limited_copy.version,
				GK_NS_PER_S);
	mirror_suspended(group, false);
}

void limited_wait_while_suspended(void)
{
	if (__builtin_expect(limited_policy()->suspended != 0, 0))
		sleep_while_suspended();
}

void limited_before_launch(void)
{
	struct gkl_group *group = limited();

	if (!group)
		return;
	if (__builtin_expect(limited_read_policy(group)->suspended != 0, 0))
		sleep_while_suspended();
	if (group->region)
		mirror_launch(group->region, limited_copy.policy.priority);
}
