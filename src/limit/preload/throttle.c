/*
 * throttle.c - decides when launches go on, what is taken for them, and which
 * of them are measured.
 *
 * With much time left (relaxed) a thread takes some of it in advance, and its
 * launches pay from that by what such work usually takes: no clock, no words
 * that others write. One of 64 is measured. With little left (tight) each is
 * paid for by itself and measured, of very short ones one of eight.
 */
#include "limit/preload/throttle.h"
#include "base/clock.h"
#include "limit/preload/driver.h"
#include "limit/preload/limited.h"
#include "limit/preload/measure.h"
#include "limit/preload/others.h"
#include "limit/share.h"
#include "limit/work.h"

/* What a thread takes in advance, at most, and for how many launches. */
#define ADVANCE_NS (250 * GK_NS_PER_US)
enum { ADVANCE_LAUNCHES = 64, SAMPLE_SHORT = 8 };

/* Shorter work is not always measured. */
#define SHORT_NS (50 * GK_NS_PER_US)

/* What is taken for work that nobody knows, until it is known. */
#define UNKNOWN_NS (50 * GK_NS_PER_US)

/* A launch waits so long, at most, for what was launched before it to be known,
 * since that may wait for this one. */
#define PATIENCE_NS (100 * GK_NS_PER_MS)
#define OVERDUE_NS  (20 * GK_NS_PER_MS)

/* Between two looks while waiting. */
#define LOOK_FIRST_NS (50 * GK_NS_PER_US)
#define LOOK_LAST_NS  (4 * GK_NS_PER_MS)

/* Long enough to ask whether it waited for a kernel of another device. */
#define LONG_NS GK_NS_PER_MS

static struct gkl_work_table works;

/* What this thread has in advance, for launches in one context. */
static _Thread_local struct {
	CUcontext ctx;
	uint32_t version; /* of the policy */
	int device;
	unsigned percent; /* 0: no limit */
	unsigned launches, count;
	int64_t left_ns, taken_ns;
	unsigned short_ones;
} advance __attribute__((tls_model("initial-exec")));

/* One launch's device, as it is now. */
struct place {
	struct gkl_group *group;
	unsigned device, percent;
	struct gkl_share *share;
	uint64_t now_ns;
};

static struct gkl_share *share_of(struct gkl_group *group, unsigned device)
{
	return gkl_ledger_share(group->ledger, device);
}

/* The percentage that counts now; 0: no limit. */
static unsigned find_percent(struct gkl_group *group, unsigned device,
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

static void look_again(struct place *p)
{
	p->now_ns = gk_mono_ns();
	p->percent = find_percent(p->group, p->device, p->now_ns);
}

static void count(struct place *p, enum gkl_count which, uint64_t add)
{
	gkl_ledger_count(p->group->ledger, p->device, which, add);
}

/* ---- what was measured ---- */

/* Devices of which this group has a share: where kernels may wait for others */
static void meet(const struct place *p, uint64_t begin_ns, uint64_t end_ns,
		 uint64_t usual_ns)
{
	struct gkl_share *share[GKL_DEVICES] = {NULL};
	unsigned percent[GKL_DEVICES], limited_ones = 0;

	for (unsigned i = 0; i < GKL_DEVICES; i++) {
		percent[i] = find_percent(p->group, i, p->now_ns);
		if (percent[i])
			share[i] = share_of(p->group, i);
		limited_ones += percent[i] != 0;
	}
	if (limited_ones > 1 && percent[p->device])
		gkl_share_meet(share, GKL_DEVICES, p->device, percent, begin_ns,
			       end_ns, usual_ns);
}

static void take_measure(const struct measured *what, uint64_t begin_ns,
			 uint64_t end_ns)
{
	struct place p = {.group = limited(), .device = (unsigned)what->device};
	struct gkl_work_time time;
	uint64_t covered;

	if (!p.group)
		return;
	look_again(&p);
	p.share = share_of(p.group, p.device);
	covered = gkl_share_cover(p.share, begin_ns, end_ns);
	count(&p, GKL_BUSY_NS, covered);
	if (p.percent)
		gkl_share_take(p.share, p.percent, p.now_ns,
			       (int64_t)(covered - what->taken_ns));
	if (end_ns - begin_ns > LONG_NS &&
	    gkl_work_find(&works, what->work, &time))
		meet(&p, begin_ns, end_ns, time.least_ns);
	gkl_work_learn(&works, what->work, end_ns - begin_ns);
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

/* What is not measured counts as what such work usually takes. */
static void count_unmeasured(struct place *p, uint64_t ns)
{
	if (ns)
		count(p, GKL_BUSY_NS,
		      gkl_share_cover(p->share, p->now_ns, p->now_ns + ns));
}

/* ---- waiting ---- */

static void rest(struct place *p, uint64_t ns, uint64_t *look_ns)
{
	struct gkl_policy_page *page = p->group->policy;
	uint32_t version = gkl_policy_version(page);

	gkl_policy_wait(page, version, ns < *look_ns ? ns : *look_ns);
	if (*look_ns < LOOK_LAST_NS)
		*look_ns *= 2;
	throttle_poll();
	limited_wait_while_suspended();
	look_again(p);
}

static void wait_for_share(struct place *p)
{
	uint64_t look_ns = LOOK_FIRST_NS, ns;

	while (p->percent &&
	       (ns = gkl_share_wait(p->share, p->percent, p->now_ns))) {
		gkl_share_want(p->share, p->now_ns);
		rest(p, ns, &look_ns);
	}
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
	       !gkl_work_find(&works, work, &time)) {
		if (p->now_ns - since > PATIENCE_NS) {
			gkl_work_learn(&works, work, p->now_ns - since);
			return;
		}
		rest(p, LOOK_LAST_NS, &look_ns);
	}
}

/*
 * What is under way takes much longer than was thought: then no more of it is
 * queued behind it, for a while.
 */
static void wait_for_overdue(struct place *p)
{
	uint64_t until = p->now_ns + OVERDUE_NS, look_ns = LOOK_FIRST_NS, since,
		 taken_ns;

	while (p->percent && p->now_ns < until &&
	       measure_oldest((int)p->device, &since, &taken_ns) &&
	       p->now_ns > since + 4 * taken_ns + GK_NS_PER_MS)
		rest(p, LOOK_LAST_NS, &look_ns);
}

static void wait_for_turn(struct place *p, uint64_t work)
{
	uint64_t before = p->now_ns;
	struct gkl_work_time time;

	if (!gkl_work_find(&works, work, &time))
		wait_until_known(p, work);
	wait_for_overdue(p);
	wait_for_share(p);
	if (p->now_ns != before)
		count(p, GKL_THROTTLED_NS, p->now_ns - before);
}

/* ---- time taken in advance ---- */

/* What was taken in advance and not used is given back. */
static void settle_advance(struct gkl_group *group, uint64_t now_ns)
{
	struct place p = {.group = group,
			  .device = (unsigned)advance.device,
			  .now_ns = now_ns};

	if (!advance.ctx)
		return;
	if (advance.count)
		count(&p, GKL_LAUNCHES, advance.count);
	if (advance.percent) {
		int64_t left = advance.left_ns;

		p.share = share_of(group, p.device);
		gkl_share_take(p.share, advance.percent, now_ns, -left);
		count_unmeasured(&p, (uint64_t)(advance.taken_ns - left));
	}
	advance.ctx = NULL;
	advance.count = 0;
}

static void take_advance(const struct place *p, CUcontext ctx, int64_t level)
{
	int64_t ns = level / 4;

	if (ns > (int64_t)ADVANCE_NS)
		ns = (int64_t)ADVANCE_NS;
	advance.ctx = ctx;
	advance.version = gkl_policy_version(p->group->policy);
	advance.device = (int)p->device;
	advance.percent = p->percent;
	advance.launches = ADVANCE_LAUNCHES;
	advance.left_ns = advance.taken_ns = ns;
	if (p->percent)
		gkl_share_take(p->share, p->percent, p->now_ns, ns);
}

/* True: the launch is paid for. */
static bool pay_in_advance(const struct gkl_group *group, CUcontext ctx,
			   uint64_t work)
{
	struct gkl_work_time time;

	if (advance.ctx != ctx || !advance.launches ||
	    advance.version != gkl_policy_version(group->policy))
		return false;
	if (advance.percent) {
		if (!gkl_work_find(&works, work, &time) ||
		    advance.left_ns < (int64_t)time.usual_ns)
			return false;
		advance.left_ns -= (int64_t)time.usual_ns;
	}
	advance.launches--;
	advance.count++;
	return true;
}

/* ---- launches ---- */

/* Whether there is time enough that not every launch is looked at. */
static bool is_relaxed(const struct place *p, int64_t level)
{
	return level > (int64_t)(GKL_SHARE_SAVED_NS * p->percent / 200);
}

static bool is_measured(const struct place *p, int64_t level, bool known,
			uint64_t usual_ns, bool sample)
{
	if (!known || sample)
		return true;
	if (is_relaxed(p, level))
		return false;
	return usual_ns >= SHORT_NS || ++advance.short_ones % SAMPLE_SHORT == 0;
}

static void begin_limited(struct throttle_launch *launch, struct place *p,
			  CUcontext ctx, bool sample)
{
	struct gkl_work_time time = {UNKNOWN_NS, UNKNOWN_NS};
	bool known;
	int64_t level;

	wait_for_turn(p, launch->work);
	if (!p->percent)
		return;
	known = gkl_work_find(&works, launch->work, &time);
	level = gkl_share_level(p->share, p->percent, p->now_ns);
	if (is_measured(p, level, known, time.usual_ns, sample))
		launch->pair =
		    measure_begin(ctx, launch->stream, launch->per_thread);
	launch->device = (int)p->device;
	launch->launched_ns = p->now_ns;
	launch->taken_ns = launch->pair ? time.least_ns : time.usual_ns;
	gkl_share_take(p->share, p->percent, p->now_ns,
		       (int64_t)launch->taken_ns);
	if (!launch->pair)
		count_unmeasured(p, launch->taken_ns);
	if (is_relaxed(p, level))
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
	p.share = share_of(group, p.device);
	look_again(&p);
	settle_advance(group, p.now_ns);
	throttle_poll();
	count(&p, GKL_LAUNCHES, 1);
	gkl_share_want(p.share, p.now_ns);
	if (p.percent)
		begin_limited(launch, &p, ctx, sample);
	if (!p.percent)
		take_advance(&p, ctx, 0);
	return CUDA_SUCCESS;
}

CUresult throttle_begin(struct throttle_launch *ret_launch, CUstream stream,
			bool per_thread, const void *what, uint64_t size)
{
	struct gkl_group *group = limited();
	uint64_t work;
	CUcontext ctx;

	ret_launch->device = -1;
	if (__builtin_expect(!group, 0))
		return limited_broken() ? CUDA_ERROR_NOT_PERMITTED
					: CUDA_SUCCESS;
	if (REAL(cuCtxGetCurrent)(&ctx) || !ctx ||
	    measure_is_captured(stream, per_thread))
		return CUDA_SUCCESS;
	limited_before_launch();
	work = gkl_work_key((uintptr_t)what ^ (uintptr_t)ctx << 16, size);
	if (__builtin_expect(pay_in_advance(group, ctx, work), 1))
		return CUDA_SUCCESS;
	*ret_launch = (struct throttle_launch){
	    .stream = stream,
	    .per_thread = per_thread,
	    .device = -1,
	    .work = work,
	};
	return begin_slowly(ret_launch, group, ctx);
}

static void give_back(const struct throttle_launch *launch)
{
	struct place p = {.group = limited(),
			  .device = (unsigned)launch->device};

	look_again(&p);
	if (p.percent)
		gkl_share_take(share_of(p.group, p.device), p.percent, p.now_ns,
			       -(int64_t)launch->taken_ns);
}

void throttle_end(struct throttle_launch *launch, CUresult result)
{
	struct measured what;

	if (__builtin_expect(launch->device < 0, 1))
		return;
	if (result) {
		give_back(launch);
		if (launch->pair)
			measure_drop(launch->pair);
		return;
	}
	if (!launch->pair)
		return;
	what = (struct measured){.device = launch->device,
				 .work = launch->work,
				 .taken_ns = launch->taken_ns,
				 .launched_ns = launch->launched_ns};
	measure_end(launch->pair, launch->stream, launch->per_thread, &what);
}
