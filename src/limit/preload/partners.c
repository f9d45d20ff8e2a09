/*
 * partners.c - asks the shares of a group's devices which of them go together,
 * and who of them waits for whom.
 */
#include "limit/preload/partners.h"
#include "base/clock.h"
#include "limit/pace.h"

_Static_assert((int)GKL_DEVICES <= (int)GKL_SHARE_PARTNERS, "each may be one");

/* How much longer than it takes by itself a partner's work may last before
 * others go on for it; and somebody else's, to find out. */
#define SLACK_NS         (150 * GK_NS_PER_US)
#define STRANGE_SLACK_NS (2 * GK_NS_PER_MS)

/* Who goes on for others owes this much after it, at most. */
#define OWED_NS (25 * GK_NS_PER_MS)

/* The shares of a group; of a gang: NULL where it does not belong to it. */
struct gang {
	struct gkl_share *share[GKL_DEVICES];
};

static void find_shares(struct gkl_group *group, struct gang *ret)
{
	for (unsigned i = 0; i < GKL_DEVICES; i++)
		ret->share[i] = place_share(group, i);
}

/* Partners of partners are, too: kernels of all wait for the last. */
static bool find_gang(const struct place *p, enum gkl_partners least,
		      struct gang *ret)
{
	unsigned found[GKL_DEVICES] = {p->device}, count = 1;
	struct gang all;

	find_shares(p->group, &all);
	*ret = (struct gang){0};
	ret->share[p->device] = p->share;
	for (unsigned at = 0; at < count; at++)
		for (unsigned i = 0; i < GKL_DEVICES; i++)
			if (!ret->share[i] &&
			    gkl_share_partners(all.share, found[at], i,
					       p->now_ns) >= least) {
				ret->share[i] = all.share[i];
				found[count++] = i;
			}
	return count > 1;
}

unsigned partners_meet(const struct place *p, uint64_t begin_ns,
		       uint64_t end_ns, uint64_t least_ns)
{
	struct gang all;

	find_shares(p->group, &all);
	return gkl_share_meet(all.share, GKL_DEVICES, p->device, begin_ns,
			      end_ns, least_ns);
}

uint64_t partners_wait(const struct place *p, uint64_t saved_ns)
{
	struct gang gang;
	uint64_t most = 0, ns;

	if (!find_gang(p, GKL_PARTNERS, &gang))
		return 0;
	for (unsigned i = 0; i < GKL_DEVICES; i++) {
		unsigned percent = place_percent(p->group, i, p->now_ns);

		if (i == p->device || !gang.share[i] || !percent)
			continue;
		ns =
		    gkl_share_wait(gang.share[i], percent, p->now_ns, saved_ns);
		most = ns > most ? ns : most;
	}
	return most;
}

/* What ended just now is known a little later. */
static bool is_one_overdue(const struct place *p, const struct gang *gang,
			   uint64_t since_ns, uint64_t slack_ns)
{
	bool found = false;

	if (p->now_ns < since_ns + slack_ns)
		return false;
	for (unsigned i = 0; i < GKL_DEVICES && !found; i++)
		found =
		    i != p->device && gang->share[i] &&
		    gkl_pace_is_overdue(gang->share[i], p->now_ns, slack_ns);
	return found;
}

bool partners_need(const struct place *p, uint64_t since_ns)
{
	int64_t level = gkl_share_level(p->share, p->percent, p->now_ns);
	struct gang gang;

	if (level < -(int64_t)OWED_NS)
		return false;
	if (find_gang(p, GKL_PARTNERS, &gang) &&
	    (gkl_pace_behind(gang.share, GKL_DEVICES, p->device) ||
	     is_one_overdue(p, &gang, since_ns, SLACK_NS)))
		return true;
	if (level < -(int64_t)(GKL_SHARE_SAVED_NS / 2 * p->percent / 100))
		return false;
	find_shares(p->group, &gang);
	return is_one_overdue(p, &gang, since_ns, STRANGE_SLACK_NS);
}

void partners_let_in(const struct place *p, bool opened, uint64_t since_ns)
{
	struct gang gang;

	if (find_gang(p, GKL_PARTNERS, &gang)) {
		if (opened)
			gkl_pace_open(gang.share, GKL_DEVICES, p->device,
				      since_ns, p->now_ns);
		gkl_pace_step(gang.share, GKL_DEVICES, p->device);
	}
}

bool partners_are(const struct place *p)
{
	struct gang gang;

	return find_gang(p, GKL_WERE_PARTNERS, &gang);
}
