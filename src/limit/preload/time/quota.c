/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quota.c - finds out from the policy, HAMi's monitor and other groups which
 * limit applies.
 */
#include "limit/preload/time/quota.h"
#include "base/assert.h"
#include "base/clock.h"
#include "limit/preload/limited.h"
#include "limit/preload/time/others.h"

unsigned quota_percent(struct gkl_group *group, unsigned device,
		       uint64_t now_ns)
{
	const struct gkl_policy *policy = limited_policy();
	uint64_t percent;

	GK_ASSERT(device < GKL_DEVICES);
	percent = policy->compute[device];
	if (!percent || percent >= 100 || policy->rule == GKL_OFF)
		return 0;
	if (policy->rule == GKL_MONITOR && !limited_monitor_wants_shares())
		return 0;
	if (policy->rule == GKL_ELASTIC && !others_want(group, device, now_ns))
		return GKL_SHARE_ALONE;
	return (unsigned)percent;
}

bool quota_is_off_by_monitor(const struct quota *q)
{
	const struct gkl_policy *policy = limited_policy();
	uint64_t percent = policy->compute[q->device];

	return !q->percent && policy->rule == GKL_MONITOR && percent &&
	       percent < 100;
}

void quota_look_again(struct quota *q)
{
	q->now_ns = gk_mono_ns();
	q->percent = quota_percent(q->group, q->device, q->now_ns);
	q->observed = !q->percent && q->group->region;
}

void quota_count(const struct quota *q, enum gkl_count which, uint64_t add)
{
	gkl_ledger_count(q->group->ledger, q->device, which, add);
}

void quota_count_busy(const struct quota *q, uint64_t ns)
{
	quota_count(q, GKL_BUSY_NS, ns);
	limited_mirror_busy((int)q->device, ns);
}
