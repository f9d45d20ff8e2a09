/*
 * partners.c - asks the shares of a group's devices which of them go together.
 */
#include "limit/preload/partners.h"
#include "base/clock.h"

_Static_assert((int)GKL_DEVICES <= (int)GKL_SHARE_PARTNERS, "each may be one");

/* Partners that are let in at the same time come so far apart. */
#define APART_NS (100 * GK_NS_PER_US)

static void find_shares(struct gkl_group *group,
			struct gkl_share *ret_share[GKL_DEVICES])
{
	for (unsigned i = 0; i < GKL_DEVICES; i++)
		ret_share[i] = place_share(group, i);
}

unsigned partners_meet(const struct place *p, uint64_t begin_ns,
		       uint64_t end_ns, uint64_t least_ns)
{
	struct gkl_share *share[GKL_DEVICES];

	find_shares(p->group, share);
	return gkl_share_meet(share, GKL_DEVICES, p->device, begin_ns, end_ns,
			      least_ns);
}

static uint64_t find_wait(const struct place *p, struct gkl_share *share,
			  unsigned device, uint64_t since_ns, uint64_t saved_ns)
{
	unsigned percent = place_percent(p->group, device, p->now_ns);

	if (!percent || gkl_share_launched(share) > since_ns + APART_NS)
		return 0;
	return gkl_share_wait(share, percent, p->now_ns, saved_ns);
}

uint64_t partners_wait(const struct place *p, uint64_t since_ns,
		       uint64_t saved_ns)
{
	struct gkl_share *share[GKL_DEVICES];
	uint64_t most = 0, ns;

	find_shares(p->group, share);
	for (unsigned i = 0; i < GKL_DEVICES; i++) {
		if (i == p->device ||
		    gkl_share_partners(share, p->device, i, p->now_ns) !=
			GKL_PARTNERS)
			continue;
		ns = find_wait(p, share[i], i, since_ns, saved_ns);
		most = ns > most ? ns : most;
	}
	return most;
}

bool partners_are(const struct place *p)
{
	struct gkl_share *share[GKL_DEVICES];
	bool found = false;

	find_shares(p->group, share);
	for (unsigned i = 0; i < GKL_DEVICES && !found; i++)
		found = i != p->device &&
			gkl_share_partners(share, p->device, i, p->now_ns);
	return found;
}
