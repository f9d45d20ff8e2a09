/* SPDX-License-Identifier: Apache-2.0 */
/*
 * throttle.c - decides when launches proceed, how much time is taken for them,
 * and which of them are measured.
 *
 * If much time is left, a thread takes some of it in advance. Each of its
 * launches is charged to that advance, with the time that such work usually
 * takes, without reading the clock or shared words. One launch in 512 is
 * measured. If little time is left, each launch is charged singly and measured;
 * of very short launches, one in eight is measured.
 *
 * The time between two events contains not only the work, but also the time
 * that the device needs to get from one event to the other. So short work is
 * measured both singly and by stretches: a stretch is all launches that are
 * charged to one advance. Both give more than the busy time, since the device
 * may have rested within a stretch. The lesser counts.
 *
 * Without a limit nobody waits, and no time is taken. Where HAMi's region
 * reports usage (observed), launches are still charged and measured, nearly all
 * of them by stretches.
 */
#include "limit/preload/time/throttle.h"
#include "base/clock.h"
#include "limit/pace.h"
#include "limit/preload/entry/driver.h"
#include "limit/preload/time/judge.h"
#include "limit/preload/limited.h"
#include "limit/preload/time/measure.h"
#include "limit/preload/time/partners.h"
#include "limit/preload/time/quota.h"
#include "limit/preload/time/turn.h"
#include "limit/share.h"
#include "limit/work.h"

#include <stdatomic.h>

/* The most time that a thread takes in advance, and for how many launches. */
#define ADVANCE_NS GK_NS_PER_MS
enum { ADVANCE_LAUNCHES = 512, SAMPLE_SHORT = 8 };

/*
 * A thread's advance where nothing is limited. When the thread ends, the rest
 * of its advance is not reported.
 */
#define OBSERVED_NS (4 * GK_NS_PER_MS)

/*
 * A thread's advance is at most 1/ADVANCE_PART of the time that its launches
 * have taken so far, and is for at most 1/ADVANCE_PART as many launches. If the
 * thread ends, the rest of its advance is neither given back nor counted.
 */
enum { ADVANCE_PART = 32 };

/*
 * If the share has saved more clock time than this, threads take time in
 * advance, and not every launch is measured.
 */
#define RELAXED_NS (GKL_SHARE_SAVED_NS / 4)

/* The time taken for unknown work. */
#define UNKNOWN_NS (50 * GK_NS_PER_US)

/*
 * The most time taken for one launch. Suppose kernels wait for each other, and
 * the launch of the last one waits here because time was taken for the first:
 * then all of them last longer by that wait. This constant bounds that wait.
 */
#define TAKEN_NS (25 * GK_NS_PER_MS)

/* The advance of this thread, for launches in one context. */
static _Thread_local struct {
	CUcontext ctx;
	uint32_t version; /* version of the policy */
	int device;
	unsigned percent; /* 0: no limit */
	bool observed;    /* launches are charged even without a limit */
	bool monitored;   /* HAMi's monitor has switched the limit off */
	unsigned launches, count;
	int64_t left_ns, taken_ns;
	uint64_t used_ns, launched; /* totals of this thread */
	uint64_t until_ns; /* if observed: the end of the time counted so far */
	unsigned short_ones, turns;
	/* The stretch that is being measured, if any. */
	struct measure_pair *pair;
	uint64_t kept; /* a number from measure_keep() */
	CUstream stream;
	bool counted;
} advance __attribute__((tls_model("initial-exec")));

/* ---- time taken in advance ---- */

/*
 * Drops the stretch that is being measured; each of its launches counts as
 * having taken the time that was charged for it.
 */
static void drop_stretch(void)
{
	if (advance.pair && measure_found(advance.pair, advance.kept))
		measure_drop(advance.pair);
	advance.pair = NULL;
}

static void count_unmeasured(struct quota *q, uint64_t ns)
{
	if (q->observed)
		judge_count_observed(q, ns, &advance.until_ns);
	else
		judge_count_unmeasured(q, ns);
}

/* Gives back the part of the advance that was not used. */
static void settle_advance(struct gkl_group *group, uint64_t now_ns)
{
	struct quota q = {.group = group,
			  .device = (unsigned)advance.device,
			  .observed = advance.observed,
			  .now_ns = now_ns};
	uint64_t paid_ns;

	if (!advance.ctx)
		return;
	q.share = quota_share(group, q.device);
	if (advance.count) {
		quota_count(&q, GKL_LAUNCHES, advance.count);
		gkl_share_were_let_in(q.share, now_ns);
	}
	advance.launched += advance.count;
	paid_ns = (uint64_t)(advance.taken_ns - advance.left_ns);
	advance.used_ns += paid_ns;
	if (advance.percent)
		gkl_share_take(q.share, advance.percent, now_ns,
			       -advance.left_ns);
	if (paid_ns && !advance.counted)
		count_unmeasured(&q, paid_ns);
	drop_stretch();
	advance.ctx = NULL;
	advance.counted = false;
	advance.count = 0;
}

static int64_t advance_ns(const struct quota *q, int64_t level)
{
	int64_t ns = level / 2;

	if (q->observed)
		return (int64_t)OBSERVED_NS;
	if (ns > (int64_t)ADVANCE_NS)
		ns = (int64_t)ADVANCE_NS;
	if (ns > (int64_t)(advance.used_ns / ADVANCE_PART))
		ns = (int64_t)(advance.used_ns / ADVANCE_PART);
	return ns;
}

static void take_advance(const struct quota *q, CUcontext ctx, int64_t level)
{
	int64_t ns = advance_ns(q, level);

	advance.ctx = ctx;
	advance.version = gkl_policy_version(q->group->policy);
	advance.device = (int)q->device;
	advance.percent = q->percent;
	advance.observed = q->observed;
	advance.monitored = quota_is_off_by_monitor(q);
	advance.launches = ADVANCE_LAUNCHES;
	if (advance.launched / ADVANCE_PART < ADVANCE_LAUNCHES)
		advance.launches = (unsigned)(advance.launched / ADVANCE_PART);
	advance.left_ns = advance.taken_ns = ns;
	advance.pair = NULL;
	advance.counted = false;
	if (q->percent)
		gkl_share_take(q->share, q->percent, q->now_ns, ns);
}

/*
 * Ends a stretch with its last launch, which is of the given work. A stretch of
 * one launch measures that work; a longer stretch does not tell the time of any
 * single work.
 */
static void end_stretch(struct throttle_launch *launch, CUstream stream,
			bool per_thread, uint64_t work)
{
	struct measure_pair *pair = advance.pair;

	advance.pair = NULL;
	if (!measure_found(pair, advance.kept))
		return;
	advance.counted = true;
	launch->stream = stream;
	launch->per_thread = per_thread;
	launch->device = advance.device;
	launch->work = advance.count == 1 ? work : 0;
	launch->launched_ns = gk_mono_ns();
	launch->taken_ns = (uint64_t)(advance.taken_ns - advance.left_ns);
	launch->usual_ns = launch->taken_ns;
	launch->launches = advance.count;
	launch->pair = pair;
}

/*
 * Where time is limited, work that swings (work.h) is measured each time;
 * elsewhere the average suffices.
 */
static bool pay_usual(uint64_t work, struct gkl_work_time *ret_time)
{
	if (!gkl_work_find(&judge_works, work, ret_time) ||
	    (ret_time->most_ns && advance.percent) ||
	    advance.left_ns < (int64_t)ret_time->usual_ns)
		return false;
	advance.left_ns -= (int64_t)ret_time->usual_ns;
	return true;
}

/* True: the launch has been charged to the advance. */
static bool pay_in_advance(struct throttle_launch *launch,
			   const struct gkl_group *group, CUcontext ctx,
			   uint64_t work)
{
	struct gkl_work_time time = {0};

	if (advance.ctx != ctx || !advance.launches ||
	    advance.version != gkl_policy_version(group->policy))
		return false;
	if (advance.monitored && limited_monitor_wants_shares())
		return false;
	if (advance.percent || advance.observed) {
		if (!pay_usual(work, &time))
			return false;
		if (advance.pair && advance.stream != launch->stream)
			drop_stretch();
	}
	advance.launches--;
	advance.count++;
	if (advance.pair &&
	    (!advance.launches || advance.left_ns < (int64_t)time.usual_ns))
		end_stretch(launch, launch->stream, launch->per_thread, work);
	return true;
}

/* ---- launches ---- */

/*
 * Whether so much time is left that not every launch must be measured. False
 * for partners, because nobody knows how long their launches wait for other
 * devices.
 */
static bool is_relaxed(const struct quota *q, int64_t level)
{
	return level > (int64_t)(RELAXED_NS * q->percent / 100) &&
	       !partners_are(q);
}

static bool is_measured(const struct quota *q, int64_t level, bool known,
			const struct gkl_work_time *time, bool sample)
{
	if (!known || sample || time->most_ns)
		return true;
	if (is_relaxed(q, level))
		return false;
	return !turn_is_short(time) || ++advance.short_ones % SAMPLE_SHORT == 0;
}

/* Makes the launch the first of a stretch; false: it must be charged singly. */
static bool begin_stretch(struct throttle_launch *launch, struct quota *q,
			  CUcontext ctx, int64_t level)
{
	struct measure_pair *pair;

	take_advance(q, ctx, level);
	pair = measure_begin(ctx, launch->stream, launch->per_thread);
	if (pair) {
		advance.pair = pair;
		advance.kept = measure_keep(pair);
		advance.stream = launch->stream;
	}
	if (pay_in_advance(launch, q->group, ctx, launch->work))
		return true;
	settle_advance(q->group, q->now_ns);
	return false;
}

/* Makes the launch be charged and measured singly. */
static void set_single(struct throttle_launch *launch, const struct quota *q,
		       const struct gkl_work_time *time)
{
	launch->device = (int)q->device;
	launch->launched_ns = q->now_ns;
	launch->launches = 1;
	launch->usual_ns = launch->taken_ns = time->usual_ns;
}

/*
 * One of eight advances begins with a launch that is measured singly, in order
 * to notice when work becomes longer or shorter.
 */
static void begin_observed(struct throttle_launch *launch, struct quota *q,
			   CUcontext ctx)
{
	struct gkl_work_time time = {0};
	bool known = gkl_work_find(&judge_works, launch->work, &time);

	if (known && time.usual_ns < OBSERVED_NS &&
	    ++advance.turns % SAMPLE_SHORT && begin_stretch(launch, q, ctx, 0))
		return;
	launch->pair = measure_begin(ctx, launch->stream, launch->per_thread);
	set_single(launch, q, &time);
	if (!launch->pair)
		count_unmeasured(q, launch->taken_ns);
}

static void begin_limited(struct throttle_launch *launch, struct quota *q,
			  CUcontext ctx, bool sample)
{
	struct gkl_work_time time = {UNKNOWN_NS, UNKNOWN_NS, 0};
	bool known, doubted = judge_take_doubt();
	int64_t level;

	turn_wait(q, launch->work);
	if (!q->percent)
		return;
	known = gkl_work_find(&judge_works, launch->work, &time);
	level = gkl_share_level(q->share, q->percent, q->now_ns);
	if (!doubted && known && turn_is_short(&time) && is_relaxed(q, level) &&
	    ++advance.turns % SAMPLE_SHORT &&
	    begin_stretch(launch, q, ctx, level))
		return;
	if (is_measured(q, level, known, &time, sample || doubted))
		launch->pair =
		    measure_begin(ctx, launch->stream, launch->per_thread);
	set_single(launch, q, &time);
	launch->usual_ns = time.most_ns ? time.most_ns : time.usual_ns;
	launch->taken_ns = launch->pair ? time.least_ns : time.usual_ns;
	if (launch->pair)
		gkl_pace_begin(q->share, q->now_ns, time.least_ns);
	if (launch->pair && launch->taken_ns > TAKEN_NS)
		launch->taken_ns = TAKEN_NS;
	gkl_share_take(q->share, q->percent, q->now_ns,
		       (int64_t)launch->taken_ns);
	advance.used_ns += time.usual_ns;
	if (!launch->pair)
		judge_count_unmeasured(q, launch->taken_ns);
	if (!doubted && !time.most_ns && is_relaxed(q, level))
		take_advance(q, ctx, level);
}

static CUresult begin_slowly(struct throttle_launch *launch,
			     struct gkl_group *group, CUcontext ctx)
{
	struct quota q = {.group = group};
	int device = limited_current_device();
	bool sample = advance.ctx == ctx && !advance.launches;

	if (device == LIMITED_UNKNOWN || limited_broken())
		return CUDA_ERROR_NOT_PERMITTED;
	if (device < 0)
		return CUDA_SUCCESS;
	q.device = (unsigned)device;
	q.share = quota_share(group, q.device);
	quota_look_again(&q);
	settle_advance(group, q.now_ns);
	throttle_poll();
	gkl_share_want(q.share, q.now_ns);
	if (limited_broken())
		return CUDA_ERROR_NOT_PERMITTED;
	if (q.percent)
		begin_limited(launch, &q, ctx, sample);
	if (!q.percent && q.observed)
		begin_observed(launch, &q, ctx);
	else if (!q.percent)
		take_advance(&q, ctx, 0);
	if (advance.count == 0) {
		quota_count(&q, GKL_LAUNCHES, 1);
		advance.launched++;
	}
	return CUDA_SUCCESS;
}

CUresult throttle_begin(struct throttle_launch *ret_launch, CUstream stream,
			bool per_thread, const void *what, uint64_t size)
{
	struct gkl_group *group = limited();
	uint64_t work;
	CUcontext ctx;

	ret_launch->device = -1;
	ret_launch->stream = stream;
	ret_launch->per_thread = per_thread;
	if (__builtin_expect(!group, 0))
		return limited_broken() ? CUDA_ERROR_NOT_PERMITTED
					: CUDA_SUCCESS;
	if (REAL(cuCtxGetCurrent)(&ctx) || !ctx ||
	    measure_is_captured(stream, per_thread))
		return CUDA_SUCCESS;
	/*
	 * An advance is used only under the policy under which it was taken,
	 * and that policy did not suspend the group. So only HAMi's monitor may
	 * have to be asked before an advance is used.
	 */
	if (group->region)
		limited_before_launch();
	work = gkl_work_key((uintptr_t)what ^ (uintptr_t)ctx << 16, size);
	if (__builtin_expect(pay_in_advance(ret_launch, group, ctx, work), 1))
		return CUDA_SUCCESS;
	if (!group->region)
		limited_before_launch();
	ret_launch->work = work;
	ret_launch->pair = NULL;
	return begin_slowly(ret_launch, group, ctx);
}

static void give_back(const struct throttle_launch *launch)
{
	struct quota q = {.group = limited(),
			  .device = (unsigned)launch->device};

	quota_look_again(&q);
	if (q.percent)
		gkl_share_take(quota_share(q.group, q.device), q.percent,
			       q.now_ns, -(int64_t)launch->taken_ns);
}

/* A refused launch must not look overdue. */
static void end_refused(const struct throttle_launch *launch)
{
	struct gkl_group *group = limited();

	if (group)
		gkl_pace_end(quota_share(group, (unsigned)launch->device),
			     launch->launched_ns);
}

void throttle_end(struct throttle_launch *launch, CUresult result)
{
	struct measured what;

	if (__builtin_expect(launch->device < 0, 1))
		return;
	if (result) {
		if (launch->launches == 1)
			give_back(launch);
		if (launch->pair) {
			measure_drop(launch->pair);
			end_refused(launch);
		}
		return;
	}
	if (!launch->pair)
		return;
	what = (struct measured){.device = launch->device,
				 .work = launch->work,
				 .taken_ns = launch->taken_ns,
				 .usual_ns = launch->usual_ns,
				 .launches = launch->launches,
				 .launched_ns = launch->launched_ns};
	measure_end(launch->pair, launch->stream, launch->per_thread, &what);
}
