/*
 * place.c - asks the policy, HAMi's monitor and other groups what counts.
 */
#include "limit/preload/place.h"
#include "base/clock.h"
#include "limit/preload/limited.h"
#include "limit/preload/others.h"

unsigned place_percent(struct gkl_group *group, unsigned device,
		       uint64_t now_ns)
{
	const struct gkl_policy *policy = limited_policy();
	uint64_t percent = policy->compute[device];

	if (!percent || percent >= 100 || policy->rule == GKL_OFF)
		return 0;
	if (policy->rule == GKL_MONITOR && !limited_monitor_wants_shares())
		return 0;
	if (policy->rule == GKL_ELASTIC && !others_want(group, device, now_ns))
		return GKL_SHARE_ALONE;
	return (unsigned)percent;
}

bool place_is_off_by_monitor(const struct place *p)
{
	const struct gkl_policy *policy = limited_policy();
	uint64_t percent = policy->compute[p->device];

	return !p->percent && policy->rule == GKL_MONITOR && percent &&
	       percent < 100;
}

void place_look_again(struct place *p)
{
	p->now_ns = gk_mono_ns();
	p->percent = place_percent(p->group, p->device, p->now_ns);
}

void place_count(const struct place *p, enum gkl_count which, uint64_t add)
{
	gkl_ledger_count(p->group->ledger, p->device, which, add);
}

void place_count_busy(const struct place *p, uint64_t ns)
{
	place_count(p, GKL_BUSY_NS, ns);
	limited_mirror_busy((int)p->device, ns);
}
