/* SPDX-License-Identifier: Apache-2.0 */
/*
 * turn.c - makes launches wait for their turn: for time, for unknown work to be
 * measured, and for partners on other devices.
 */
#include "limit/preload/time/turn.h"
#include "base/clock.h"
#include "limit/preload/time/judge.h"
#include "limit/preload/limited.h"
#include "limit/preload/time/measure.h"
#include "limit/preload/time/partners.h"
#include "limit/preload/time/throttle.h"

/* Shorter work is measured by stretches, and only sometimes singly. */
#define SHORT_NS (50 * GK_NS_PER_US)

/*
 * If the launch of short work must wait, it waits until this much time is
 * saved, in clock time. Then several launches can follow each other as they
 * would without a limit. Partners do the same.
 */
#define STRETCH_NS (GKL_SHARE_SAVED_NS * 3 / 4)

/*
 * The longest that a launch waits for measurements of earlier launches, which
 * may be waiting for this launch.
 */
#define PATIENCE_NS (100 * GK_NS_PER_MS)

/* How long a waiting thread sleeps between two checks. */
#define LOOK_FIRST_NS    (50 * GK_NS_PER_US)
#define LOOK_PARTNERS_NS (150 * GK_NS_PER_US)
#define LOOK_LAST_NS     (4 * GK_NS_PER_MS)

static void rest_a_while(struct quota *q, uint64_t ns, uint64_t *look_ns,
			 uint64_t look_last_ns)
{
	struct gkl_policy_page *page = q->group->policy;
	uint32_t version = gkl_policy_version(page);

	gkl_policy_wait(page, version, ns < *look_ns ? ns : *look_ns);
	if (*look_ns < look_last_ns)
		*look_ns *= 2;
	throttle_poll();
	limited_wait_while_suspended();
	quota_look_again(q);
}

/*
 * Returns by how much, in clock time, the usual time of this process's launches
 * in progress exceeds the time that was taken from the share for them. Only
 * this process waits for that difference, and only for a limited time, because
 * the launches in progress may be waiting for the next launch.
 */
static uint64_t find_owed(const struct quota *q, uint64_t since_ns)
{
	if (!q->percent || q->now_ns - since_ns > PATIENCE_NS)
		return 0;
	return measure_owed((int)q->device) * 100 / q->percent;
}

/*
 * How long until the group has saved saved_ns on this device and on all its
 * partners.
 */
static uint64_t find_wait(const struct quota *q, uint64_t since_ns,
			  uint64_t saved_ns)
{
	uint64_t own = gkl_share_wait(q->share, q->percent, q->now_ns,
				      saved_ns + find_owed(q, since_ns));
	uint64_t theirs = partners_wait(q, saved_ns);

	return own > theirs ? own : theirs;
}

/* Waits until time is left, or until another device waits for this launch. */
static void wait_for_share(struct quota *q, uint64_t saved_ns)
{
	uint64_t look_ns = LOOK_FIRST_NS, since = q->now_ns, ns = 0;
	bool waits = q->percent && find_wait(q, since, 0);

	while (waits && q->percent && (ns = find_wait(q, since, saved_ns)) &&
	       !partners_need(q, since)) {
		gkl_share_want(q->share, q->now_ns);
		rest_a_while(q, ns, &look_ns,
			     partners_are(q) ? LOOK_PARTNERS_NS : LOOK_LAST_NS);
	}
	partners_let_in(q, waits && !ns, since);
	gkl_share_let_in(q->share, since, q->now_ns);
}

/*
 * The first launch of unknown work proceeds at once. The next one waits until
 * the time of that work is known; if that takes too long, the time waited
 * counts as the time of the work.
 */
static void wait_until_known(struct quota *q, uint64_t work)
{
	uint64_t since = q->now_ns, look_ns = LOOK_FIRST_NS;
	struct gkl_work_time time;

	while (q->percent && measure_is_under_way(work) &&
	       !gkl_work_find(&judge_works, work, &time)) {
		if (q->now_ns - since > PATIENCE_NS) {
			gkl_work_learn(&judge_works, work, q->now_ns - since,
				       q->now_ns);
			return;
		}
		rest_a_while(q, LOOK_LAST_NS, &look_ns, LOOK_LAST_NS);
	}
}

bool turn_is_short(const struct gkl_work_time *time)
{
	return time->usual_ns && time->usual_ns < SHORT_NS && !time->most_ns;
}

void turn_wait(struct quota *q, uint64_t work)
{
	uint64_t before = q->now_ns;
	struct gkl_work_time time = {0};

	if (!gkl_work_find(&judge_works, work, &time))
		wait_until_known(q, work);
	wait_for_share(q, turn_is_short(&time) || partners_are(q) ? STRETCH_NS
								  : 0);
	if (q->now_ns != before)
		quota_count(q, GKL_THROTTLED_NS, q->now_ns - before);
}
