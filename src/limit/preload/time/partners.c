/* SPDX-License-Identifier: Apache-2.0 */
/*
 * partners.c - finds out from the shares of a group's devices which devices
 * belong together, and which of these wait for another.
 */
#include "limit/preload/time/partners.h"
#include "base/clock.h"
#include "limit/pace.h"

_Static_assert((int)GKL_DEVICES <= (int)GKL_SHARE_PARTNERS, "each may be one");

/*
 * SLACK_NS: how much longer than its least time a partner's work may take.
 * Beyond that, the work may be waiting for a launch here, so the launch
 * proceeds. STRANGE_SLACK_NS: the same for a device that is not known to be a
 * partner; launches then proceed to find out whether it is one.
 */
#define SLACK_NS         (150 * GK_NS_PER_US)
#define STRANGE_SLACK_NS (2 * GK_NS_PER_MS)

/*
 * The maximum debt at which a launch still proceeds because work on other
 * devices may be waiting for it.
 */
#define OWED_NS (25 * GK_NS_PER_MS)

/*
 * A gang is a device and its partners. `share` has the shares of these devices,
 * and NULL for all others.
 */
struct gang {
	struct gkl_share *share[GKL_DEVICES];
};

static void find_shares(struct gkl_group *group, struct gang *ret)
{
	for (unsigned i = 0; i < GKL_DEVICES; i++)
		ret->share[i] = quota_share(group, i);
}

/*
 * Partners of partners are partners: the kernels of all of them wait for the
 * last kernel to start.
 */
static bool find_gang(const struct quota *q, enum gkl_partners least,
		      struct gang *ret)
{
	unsigned found[GKL_DEVICES] = {q->device}, count = 1;
	struct gang all;

	find_shares(q->group, &all);
	*ret = (struct gang){0};
	ret->share[q->device] = q->share;
	for (unsigned at = 0; at < count; at++)
		for (unsigned i = 0; i < GKL_DEVICES; i++)
			if (!ret->share[i] &&
			    gkl_share_partners(all.share, found[at], i,
					       q->now_ns) >= least) {
				ret->share[i] = all.share[i];
				found[count++] = i;
			}
	return count > 1;
}

unsigned partners_meet(const struct quota *q, uint64_t begin_ns,
		       uint64_t end_ns, uint64_t least_ns)
{
	struct gang all;

	find_shares(q->group, &all);
	return gkl_share_meet(all.share, GKL_DEVICES, q->device, begin_ns,
			      end_ns, least_ns);
}

uint64_t partners_wait(const struct quota *q, uint64_t saved_ns)
{
	struct gang gang;
	uint64_t most = 0, ns;

	if (!find_gang(q, GKL_PARTNERS, &gang))
		return 0;
	for (unsigned i = 0; i < GKL_DEVICES; i++) {
		unsigned percent = quota_percent(q->group, i, q->now_ns);

		if (i == q->device || !gang.share[i] || !percent)
			continue;
		ns =
		    gkl_share_wait(gang.share[i], percent, q->now_ns, saved_ns);
		most = ns > most ? ns : most;
	}
	return most;
}

/*
 * Whether work of another device in the gang is overdue. slack_ns allows for
 * the end of work being noticed slightly late.
 */
static bool is_one_overdue(const struct quota *q, const struct gang *gang,
			   uint64_t since_ns, uint64_t slack_ns)
{
	bool found = false;

	if (q->now_ns < since_ns + slack_ns)
		return false;
	for (unsigned i = 0; i < GKL_DEVICES && !found; i++)
		found =
		    i != q->device && gang->share[i] &&
		    gkl_pace_is_overdue(gang->share[i], q->now_ns, slack_ns);
	return found;
}

bool partners_need(const struct quota *q, uint64_t since_ns)
{
	int64_t level = gkl_share_level(q->share, q->percent, q->now_ns);
	struct gang gang;

	if (level < -(int64_t)OWED_NS)
		return false;
	if (find_gang(q, GKL_PARTNERS, &gang) &&
	    (gkl_pace_behind(gang.share, GKL_DEVICES, q->device) ||
	     is_one_overdue(q, &gang, since_ns, SLACK_NS)))
		return true;
	if (level < -(int64_t)(GKL_SHARE_SAVED_NS / 2 * q->percent / 100))
		return false;
	find_shares(q->group, &gang);
	return is_one_overdue(q, &gang, since_ns, STRANGE_SLACK_NS);
}

void partners_let_in(const struct quota *q, bool opened, uint64_t since_ns)
{
	struct gang gang;

	if (find_gang(q, GKL_PARTNERS, &gang)) {
		if (opened)
			gkl_pace_open(gang.share, GKL_DEVICES, q->device,
				      since_ns, q->now_ns);
		gkl_pace_step(gang.share, GKL_DEVICES, q->device);
	}
}

bool partners_are(const struct quota *q)
{
	struct gang gang;

	return find_gang(q, GKL_WERE_PARTNERS, &gang);
}
