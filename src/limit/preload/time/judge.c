/* SPDX-License-Identifier: Apache-2.0 */
/*
 * judge.c - owns the table of how long this process's work takes; decides how
 * much of a measured interval was work and must be charged.
 */
#include "limit/preload/time/judge.h"
#include "base/clock.h"
#include "limit/pace.h"
#include "limit/preload/limited.h"
#include "limit/preload/time/measure.h"
#include "limit/preload/time/partners.h"
#include "limit/preload/time/throttle.h"

/*
 * The most that is charged for a kernel that waited for another device. With a
 * small share, a charge for even a part of the wait would make the next wait
 * longer than this one.
 */
#define WAITED_NS (25 * GK_NS_PER_MS)

/*
 * A stretch is all launches that are charged to one advance (throttle.c).
 * STRETCH_MOST: its time is accepted as work if it is at most this many times
 * the time that was charged for it. DOUBTS: if it is longer, this many launches
 * are measured singly.
 */
enum { STRETCH_MOST = 2, DOUBTS = 64 };

/*
 * The most work that is assumed to be waiting in streams: several streams may
 * run at the same time.
 */
#define AHEAD_NS (200 * GK_NS_PER_MS)

struct gkl_work_table judge_works;
static _Atomic unsigned doubts;
static _Atomic uint64_t withheld[GKL_DEVICES];

/*
 * Returns the time to charge for a launch that was measured singly. If such
 * work now takes longer than before, the result includes the time that was not
 * charged for an earlier stretch. A kernel's wait for another device does not
 * count as its run time.
 */
static uint64_t judge_one(const struct quota *q, const struct measured *what,
			  uint64_t begin_ns, uint64_t end_ns, uint64_t covered)
{
	struct gkl_work_time time = {0};
	bool waited;

	gkl_work_find(&judge_works, what->work, &time);
	waited =
	    q->percent && partners_meet(q, begin_ns, end_ns, time.least_ns);
	if (waited)
		return covered > WAITED_NS ? WAITED_NS : covered;
	gkl_work_learn(&judge_works, what->work, end_ns - begin_ns, end_ns);
	if (end_ns - begin_ns > STRETCH_MOST * what->usual_ns)
		covered += atomic_exchange(&withheld[q->device], 0);
	return covered;
}

/*
 * Whether the device may have rested within the stretch. It has not if the last
 * launch came long before the end of the stretch.
 */
static bool may_have_rested(const struct measured *what, uint64_t begin_ns,
			    uint64_t end_ns)
{
	return end_ns < what->launched_ns + (end_ns - begin_ns) / 2;
}

/*
 * Returns the time to charge for a stretch. If the stretch took much longer
 * than was charged for it so far, either it contains something else (copies,
 * work on the host, waits for other streams), or its work now takes longer.
 * Where time is limited, the next launches are measured singly to find out
 * which.
 */
static uint64_t judge_stretch(const struct quota *q,
			      const struct measured *what, uint64_t begin_ns,
			      uint64_t end_ns, uint64_t covered)
{
	if (covered <= what->taken_ns)
		return covered;
	if (covered > STRETCH_MOST * what->taken_ns) {
		if (!q->percent)
			return what->taken_ns;
		atomic_store(&withheld[what->device], covered - what->taken_ns);
		atomic_store_explicit(&doubts, DOUBTS, memory_order_relaxed);
	} else if (!may_have_rested(what, begin_ns, end_ns)) {
		return covered;
	}
	return what->taken_ns;
}

bool judge_take_doubt(void)
{
	unsigned left = atomic_load_explicit(&doubts, memory_order_relaxed);

	/* Threads that get here at once use up only one doubt. */
	if (left)
		atomic_store_explicit(&doubts, left - 1, memory_order_relaxed);
	return left != 0;
}

/*
 * Charges the rest as if it had been taken when the work began, so that all
 * time that accrued during the work can pay for it. If it were taken now, at
 * most the time that a share can save would count.
 */
static void pay_rest(const struct quota *q, int64_t ns, uint64_t begin_ns)
{
	gkl_share_take(q->share, q->percent,
		       ns > 0 && begin_ns < q->now_ns ? begin_ns : q->now_ns,
		       ns);
}

static void take_measure(const struct measured *what, uint64_t begin_ns,
			 uint64_t end_ns)
{
	struct quota q = {.group = limited(), .device = (unsigned)what->device};
	uint64_t covered, paid;

	if (!q.group)
		return;
	quota_look_again(&q);
	q.share = quota_share(q.group, q.device);
	covered = gkl_share_cover(q.share, begin_ns, end_ns);
	gkl_pace_end(q.share, what->launched_ns);
	if (what->launches == 1)
		paid = judge_one(&q, what, begin_ns, end_ns, covered);
	else
		paid = covered =
		    judge_stretch(&q, what, begin_ns, end_ns, covered);
	quota_count_busy(&q, covered);
	gkl_share_show(q.share, end_ns - covered, end_ns);
	if (q.percent)
		pay_rest(&q, (int64_t)(paid - what->taken_ns),
			 end_ns - covered);
}

void throttle_poll(void)
{
	measure_poll(take_measure);
}

void throttle_forget(CUcontext ctx)
{
	throttle_poll();
	measure_forget(ctx);
}

void throttle_forget_device(CUdevice device)
{
	throttle_poll();
	measure_forget_device(device);
}

void judge_count_unmeasured(struct quota *q, uint64_t ns)
{
	quota_count_busy(q, ns);
	gkl_share_show(q->share, q->now_ns, q->now_ns + ns);
}

void judge_count_observed(struct quota *q, uint64_t ns, uint64_t *until_ns)
{
	uint64_t begin = q->now_ns;

	if (*until_ns > begin)
		begin =
		    *until_ns < begin + AHEAD_NS ? *until_ns : begin + AHEAD_NS;
	*until_ns = begin + ns;
	ns = gkl_share_cover(q->share, begin, begin + ns);
	quota_count_busy(q, ns);
	gkl_share_show(q->share, begin, begin + ns);
}
