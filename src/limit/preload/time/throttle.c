/*
 * throttle.c - decides when launches go on, what is taken for them, and which
 * of them are measured.
 *
 * With much time left (relaxed) a thread takes some of it in advance, and its
 * launches pay from that by what such work usually takes: no clock, no words
 * that others write. One of 512 is measured. With little left (tight) each is
 * paid for by itself and measured, of very short ones one of eight.
 *
 * Between two events lies more than the work: also how long the device takes to
 * come from one to the next. So short work is measured by stretches of
 * launches, all that are paid from one advance, as well as singly. Either tells
 * more than what was busy: a stretch may have rested in between. The less
 * counts.
 */
#include "limit/preload/throttle.h"
#include "base/clock.h"
#include "limit/pace.h"
#include "limit/preload/driver.h"
#include "limit/preload/judge.h"
#include "limit/preload/limited.h"
#include "limit/preload/measure.h"
#include "limit/preload/partners.h"
#include "limit/preload/place.h"
#include "limit/preload/turn.h"
#include "limit/share.h"
#include "limit/work.h"

#include <stdatomic.h>

/* What a thread takes in advance, at most, and for how many launches. */
#define ADVANCE_NS GK_NS_PER_MS
enum { ADVANCE_LAUNCHES = 512, SAMPLE_SHORT = 8 };

/*
 * No more than this part of what its launches took so far, and of their number:
 * a thread may end with it, and then nobody gives it back or counts it.
 */
enum { ADVANCE_PART = 32 };

/* With more saved than this, in time of the clock, there is time enough to be
 * relaxed. */
#define RELAXED_NS (GKL_SHARE_SAVED_NS / 4)

/* What is taken for work that nobody knows, until it is known. */
#define UNKNOWN_NS (50 * GK_NS_PER_US)

/*
 * What is taken in advance, at most. Kernels that wait for each other last the
 * longer, the longer the last of them waited here for what was taken for the
 * first: that must have an end.
 */
#define TAKEN_NS (25 * GK_NS_PER_MS)

/* What this thread has in advance, for launches in one context. */
static _Thread_local struct {
	CUcontext ctx;
	uint32_t version; /* of the policy */
	int device;
	unsigned percent; /* 0: no limit */
	bool monitored;   /* a limit that HAMi's monitor has off */
	unsigned launches, count;
	int64_t left_ns, taken_ns;
	uint64_t used_ns, launched; /* by this thread, so far */
	unsigned short_ones, turns;
	/* The launches that are measured together, if any. */
	struct measure_pair *pair;
	uint64_t kept; /* measure_keep() */
	CUstream stream;
	bool counted;
} advance __attribute__((tls_model("initial-exec")));

/* ---- time taken in advance ---- */

/* Its launches count as what was paid for them. */
static void drop_stretch(void)
{
	if (advance.pair && measure_found(advance.pair, advance.kept))
		measure_drop(advance.pair);
	advance.pair = NULL;
}

/* What was taken in advance and not used is given back. */
static void settle_advance(struct gkl_group *group, uint64_t now_ns)
{
	struct place p = {.group = group,
			  .device = (unsigned)advance.device,
			  .now_ns = now_ns};

	if (!advance.ctx)
		return;
	p.share = place_share(group, p.device);
	if (advance.count) {
		place_count(&p, GKL_LAUNCHES, advance.count);
		gkl_share_were_let_in(p.share, now_ns);
	}
	advance.launched += advance.count;
	if (advance.percent) {
		int64_t left = advance.left_ns;

		gkl_share_take(p.share, advance.percent, now_ns, -left);
		advance.used_ns += (uint64_t)(advance.taken_ns - left);
		if (!advance.counted)
			judge_count_unmeasured(
			    &p, (uint64_t)(advance.taken_ns - left));
	}
	drop_stretch();
	advance.ctx = NULL;
	advance.counted = false;
	advance.count = 0;
}

static void take_advance(const struct place *p, CUcontext ctx, int64_t level)
{
	int64_t ns = level / 2;

	if (ns > (int64_t)ADVANCE_NS)
		ns = (int64_t)ADVANCE_NS;
	if (ns > (int64_t)(advance.used_ns / ADVANCE_PART))
		ns = (int64_t)(advance.used_ns / ADVANCE_PART);
	advance.ctx = ctx;
	advance.version = gkl_policy_version(p->group->policy);
	advance.device = (int)p->device;
	advance.percent = p->percent;
	advance.monitored = place_is_off_by_monitor(p);
	advance.launches = ADVANCE_LAUNCHES;
	if (advance.launched / ADVANCE_PART < ADVANCE_LAUNCHES)
		advance.launches = (unsigned)(advance.launched / ADVANCE_PART);
	advance.left_ns = advance.taken_ns = ns;
	advance.pair = NULL;
	advance.counted = false;
	if (p->percent)
		gkl_share_take(p->share, p->percent, p->now_ns, ns);
}

/* The last launch of a stretch ends it. */
static void end_stretch(struct throttle_launch *launch, CUstream stream,
			bool per_thread)
{
	struct measure_pair *pair = advance.pair;

	advance.pair = NULL;
	if (!measure_found(pair, advance.kept))
		return;
	advance.counted = true;
	launch->stream = stream;
	launch->per_thread = per_thread;
	launch->device = advance.device;
	launch->work = 0;
	launch->launched_ns = gk_mono_ns();
	launch->taken_ns = (uint64_t)(advance.taken_ns - advance.left_ns);
	launch->usual_ns = launch->taken_ns;
	launch->launches = advance.count;
	launch->pair = pair;
}

/* True: the launch is paid for. */
static bool pay_in_advance(struct throttle_launch *launch,
			   const struct gkl_group *group, CUcontext ctx,
			   uint64_t work)
{
	struct gkl_work_time time;

	if (advance.ctx != ctx || !advance.launches ||
	    advance.version != gkl_policy_version(group->policy))
		return false;
	if (advance.percent) {
		if (!gkl_work_find(&judge_works, work, &time) || time.most_ns ||
		    advance.left_ns < (int64_t)time.usual_ns)
			return false;
		if (advance.pair && advance.stream != launch->stream)
			drop_stretch();
		advance.left_ns -= (int64_t)time.usual_ns;
	} else if (advance.monitored && limited_monitor_wants_shares()) {
		return false;
	}
	advance.launches--;
	advance.count++;
	if (advance.pair &&
	    (!advance.launches || advance.left_ns < (int64_t)time.usual_ns))
		end_stretch(launch, launch->stream, launch->per_thread);
	return true;
}

/* ---- launches ---- */

/*
 * Whether there is time enough that not every launch is looked at. Nobody knows
 * how long those will wait that wait for other devices.
 */
static bool is_relaxed(const struct place *p, int64_t level)
{
	return level > (int64_t)(RELAXED_NS * p->percent / 100) &&
	       !partners_are(p);
}

static bool is_measured(const struct place *p, int64_t level, bool known,
			const struct gkl_work_time *time, bool sample)
{
	if (!known || sample || time->most_ns)
		return true;
	if (is_relaxed(p, level))
		return false;
	return !turn_is_short(time) || ++advance.short_ones % SAMPLE_SHORT == 0;
}

/* The launch is the first of a stretch; false: pay for it by itself. */
static bool begin_stretch(struct throttle_launch *launch, struct place *p,
			  CUcontext ctx, int64_t level)
{
	struct measure_pair *pair;

	take_advance(p, ctx, level);
	pair = measure_begin(ctx, launch->stream, launch->per_thread);
	if (pair) {
		advance.pair = pair;
		advance.kept = measure_keep(pair);
		advance.stream = launch->stream;
	}
	if (pay_in_advance(launch, p->group, ctx, launch->work))
		return true;
	settle_advance(p->group, p->now_ns);
	return false;
}

static void begin_limited(struct throttle_launch *launch, struct place *p,
			  CUcontext ctx, bool sample)
{
	struct gkl_work_time time = {UNKNOWN_NS, UNKNOWN_NS, 0};
	bool known, doubted = judge_take_doubt();
	int64_t level;

	turn_wait(p, launch->work);
	if (!p->percent)
		return;
	known = gkl_work_find(&judge_works, launch->work, &time);
	level = gkl_share_level(p->share, p->percent, p->now_ns);
	if (!doubted && known && turn_is_short(&time) && is_relaxed(p, level) &&
	    ++advance.turns % SAMPLE_SHORT &&
	    begin_stretch(launch, p, ctx, level))
		return;
	if (is_measured(p, level, known, &time, sample || doubted))
		launch->pair =
		    measure_begin(ctx, launch->stream, launch->per_thread);
	launch->device = (int)p->device;
	launch->launched_ns = p->now_ns;
	launch->launches = 1;
	launch->usual_ns = time.most_ns ? time.most_ns : time.usual_ns;
	launch->taken_ns = launch->pair ? time.least_ns : time.usual_ns;
	if (launch->pair)
		gkl_pace_begin(p->share, p->now_ns, time.least_ns);
	if (launch->pair && launch->taken_ns > TAKEN_NS)
		launch->taken_ns = TAKEN_NS;
	gkl_share_take(p->share, p->percent, p->now_ns,
		       (int64_t)launch->taken_ns);
	advance.used_ns += time.usual_ns;
	if (!launch->pair)
		judge_count_unmeasured(p, launch->taken_ns);
	if (!doubted && !time.most_ns && is_relaxed(p, level))
		take_advance(p, ctx, level);
}

static CUresult begin_slowly(struct throttle_launch *launch,
			     struct gkl_group *group, CUcontext ctx)
{
	struct place p = {.group = group};
	int device = limited_current_device();
	bool sample = advance.ctx == ctx && !advance.launches;

	if (device == LIMITED_UNKNOWN)
		return CUDA_ERROR_NOT_PERMITTED;
	if (device < 0)
		return CUDA_SUCCESS;
	p.device = (unsigned)device;
	p.share = place_share(group, p.device);
	place_look_again(&p);
	settle_advance(group, p.now_ns);
	throttle_poll();
	gkl_share_want(p.share, p.now_ns);
	if (p.percent)
		begin_limited(launch, &p, ctx, sample);
	if (!p.percent)
		take_advance(&p, ctx, 0);
	if (advance.count == 0) {
		place_count(&p, GKL_LAUNCHES, 1);
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
	/* What was paid in advance was so under this policy: not suspended. */
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
	struct place p = {.group = limited(),
			  .device = (unsigned)launch->device};

	place_look_again(&p);
	if (p.percent)
		gkl_share_take(place_share(p.group, p.device), p.percent,
			       p.now_ns, -(int64_t)launch->taken_ns);
}

/* Nobody waits for what was not launched. */
static void end_refused(const struct throttle_launch *launch)
{
	struct gkl_group *group = limited();

	if (group)
		gkl_pace_end(place_share(group, (unsigned)launch->device),
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
