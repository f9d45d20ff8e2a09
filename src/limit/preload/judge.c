/*
 * judge.c - owns what this process knows of how long its work takes; decides
 * what of a measure was work, and is to be paid.
 */
#include "limit/preload/judge.h"
#include "base/clock.h"
#include "limit/pace.h"
#include "limit/preload/limited.h"
#include "limit/preload/measure.h"
#include "limit/preload/partners.h"
#include "limit/preload/throttle.h"

/*
 * What a kernel has to pay, at most, that waited for another device: a part of
 * what it waited would make the next wait longer than this one, when shares are
 * small.
 */
#define WAITED_NS (25 * GK_NS_PER_MS)

/* How often a stretch may tell what was paid for it, and how many launches are
 * measured singly when one tells more. */
enum { STRETCH_MOST = 2, DOUBTS = 64 };

struct gkl_work_table judge_works;
static _Atomic unsigned doubts;
static _Atomic uint64_t withheld[GKL_DEVICES];

/*
 * Answers what is to be paid for a launch that was measured by itself, and what
 * a stretch took for which nobody has paid, once the work is seen to have
 * become longer. What it waited for another device is not how long it takes.
 */
static uint64_t judge_one(const struct place *p, const struct measured *what,
			  uint64_t begin_ns, uint64_t end_ns, uint64_t covered)
{
	struct gkl_work_time time = {0};
	unsigned waited;

	gkl_work_find(&judge_works, what->work, &time);
	waited = partners_meet(p, begin_ns, end_ns, time.least_ns);
	if (waited)
		return covered > WAITED_NS ? WAITED_NS : covered;
	gkl_work_learn(&judge_works, what->work, end_ns - begin_ns, end_ns);
	if (end_ns - begin_ns > STRETCH_MOST * what->usual_ns)
		covered += atomic_exchange(&withheld[p->device], 0);
	return covered;
}

/* Not if the last of the stretch was launched long before it came to its end.
 */
static bool may_have_rested(const struct measured *what, uint64_t begin_ns,
			    uint64_t end_ns)
{
	return end_ns < what->launched_ns + (end_ns - begin_ns) / 2;
}

/*
 * A stretch that is much longer than what was paid for it holds something else:
 * copies, calls of the host, waits for other streams. Or its work has become
 * longer: that is seen when the next launches are measured singly.
 */
static uint64_t judge_stretch(const struct measured *what, uint64_t begin_ns,
			      uint64_t end_ns, uint64_t covered)
{
	if (covered <= what->taken_ns)
		return covered;
	if (covered > STRETCH_MOST * what->taken_ns) {
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

	/* Threads that come at once take one for all. */
	if (left)
		atomic_store_explicit(&doubts, left - 1, memory_order_relaxed);
	return left != 0;
}

/* As of when the work began: what has accrued since is not more than may be
 * saved. */
static void pay_rest(const struct place *p, int64_t ns, uint64_t begin_ns)
{
	gkl_share_take(p->share, p->percent,
		       ns > 0 && begin_ns < p->now_ns ? begin_ns : p->now_ns,
		       ns);
}

static void take_measure(const struct measured *what, uint64_t begin_ns,
			 uint64_t end_ns)
{
	struct place p = {.group = limited(), .device = (unsigned)what->device};
	uint64_t covered, paid;

	if (!p.group)
		return;
	place_look_again(&p);
	p.share = place_share(p.group, p.device);
	covered = gkl_share_cover(p.share, begin_ns, end_ns);
	gkl_pace_end(p.share, what->launched_ns);
	if (what->launches == 1)
		paid = judge_one(&p, what, begin_ns, end_ns, covered);
	else
		paid = covered = judge_stretch(what, begin_ns, end_ns, covered);
	place_count_busy(&p, covered);
	gkl_share_show(p.share, end_ns - covered, end_ns);
	if (p.percent)
		pay_rest(&p, (int64_t)(paid - what->taken_ns),
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

void judge_count_unmeasured(struct place *p, uint64_t ns)
{
	place_count_busy(p, ns);
	gkl_share_show(p->share, p->now_ns, p->now_ns + ns);
}
