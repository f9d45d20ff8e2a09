/*
 * turn.c - lets launches wait until it is their turn: for time, for what
 * nobody knows yet, and for partners on other devices.
 */
#include "limit/preload/turn.h"
#include "base/clock.h"
#include "limit/preload/judge.h"
#include "limit/preload/limited.h"
#include "limit/preload/measure.h"
#include "limit/preload/partners.h"
#include "limit/preload/throttle.h"

/* Shorter work is measured by stretches, and singly not always. */
#define SHORT_NS (50 * GK_NS_PER_US)

/*
 * Who launches short work and has to wait does so until this much is saved, in
 * time of the clock: several launches then follow each other as they would
 * without a limit. So do partners.
 */
#define STRETCH_NS (GKL_SHARE_SAVED_NS * 3 / 4)

/* A launch waits so long, at most, for what was launched before it to be known,
 * since that may wait for this one. */
#define PATIENCE_NS (100 * GK_NS_PER_MS)

/* Between two looks while waiting. */
#define LOOK_FIRST_NS    (50 * GK_NS_PER_US)
#define LOOK_PARTNERS_NS (150 * GK_NS_PER_US)
#define LOOK_LAST_NS     (4 * GK_NS_PER_MS)

static void rest(struct place *p, uint64_t ns, uint64_t *look_ns,
		 uint64_t look_last_ns)
{
	struct gkl_policy_page *page = p->group->policy;
	uint32_t version = gkl_policy_version(page);

	gkl_policy_wait(page, version, ns < *look_ns ? ns : *look_ns);
	if (*look_ns < look_last_ns)
		*look_ns *= 2;
	throttle_poll();
	limited_wait_while_suspended();
	place_look_again(p);
}

/*
 * What this process's launches under way usually take and was not taken for
 * them, as time of the clock. The process itself waits for it, others do not;
 * and not for ever: they may wait for what it is about to launch.
 */
static uint64_t find_owed(const struct place *p, uint64_t since_ns)
{
	if (!p->percent || p->now_ns - since_ns > PATIENCE_NS)
		return 0;
	return measure_owed((int)p->device) * 100 / p->percent;
}

/* How long until the group has saved_ns here, and partners elsewhere. */
static uint64_t find_wait(const struct place *p, uint64_t since_ns,
			  uint64_t saved_ns)
{
	uint64_t own = gkl_share_wait(p->share, p->percent, p->now_ns,
				      saved_ns + find_owed(p, since_ns));
	uint64_t theirs = partners_wait(p, saved_ns);

	return own > theirs ? own : theirs;
}

/* Who is waited for on another device goes on. */
static void wait_for_share(struct place *p, uint64_t saved_ns)
{
	uint64_t look_ns = LOOK_FIRST_NS, since = p->now_ns, ns = 0;
	bool waits = p->percent && find_wait(p, since, 0);

	while (waits && p->percent && (ns = find_wait(p, since, saved_ns)) &&
	       !partners_need(p, since)) {
		gkl_share_want(p->share, p->now_ns);
		rest(p, ns, &look_ns,
		     partners_are(p) ? LOOK_PARTNERS_NS : LOOK_LAST_NS);
	}
	partners_let_in(p, waits && !ns, since);
	gkl_share_let_in(p->share, since, p->now_ns);
}

/*
 * Work that nobody knows is launched once; the next waits until it is known, or
 * so long that it is known to be long.
 */
static void wait_until_known(struct place *p, uint64_t work)
{
	uint64_t since = p->now_ns, look_ns = LOOK_FIRST_NS;
	struct gkl_work_time time;

	while (p->percent && measure_is_under_way(work) &&
	       !gkl_work_find(&judge_works, work, &time)) {
		if (p->now_ns - since > PATIENCE_NS) {
			gkl_work_learn(&judge_works, work, p->now_ns - since,
				       p->now_ns);
			return;
		}
		rest(p, LOOK_LAST_NS, &look_ns, LOOK_LAST_NS);
	}
}

bool turn_is_short(const struct gkl_work_time *time)
{
	return time->usual_ns && time->usual_ns < SHORT_NS && !time->most_ns;
}

void turn_wait(struct place *p, uint64_t work)
{
	uint64_t before = p->now_ns;
	struct gkl_work_time time = {0};

	if (!gkl_work_find(&judge_works, work, &time))
		wait_until_known(p, work);
	wait_for_share(p, turn_is_short(&time) || partners_are(p) ? STRETCH_NS
								  : 0);
	if (p->now_ns != before)
		place_count(p, GKL_THROTTLED_NS, p->now_ns - before);
}
