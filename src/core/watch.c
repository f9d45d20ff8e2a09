/* watch.c - frames at absolute deadlines, kept by a kernel timer. */
#include "core/context.h"

#include "base/err.h"

#include <errno.h>
#include <sys/timerfd.h>
#include <unistd.h>

/* Values are read this much before the frame that shows them, at most. */
#define LEAD_MAX_NS (20 * GK_NS_PER_MS)

/* Longer periods leave no room to count with: 9 years. */
#define PERIOD_MAX_NS (UINT64_MAX / 64)

/* Frames between two readings, and the least time, of each tier. */
static const struct {
	uint64_t frames, least_ns;
} tiers[GK_TIER_COUNT] = {
    [GK_TIER_FAST] = {1, 0},
    [GK_TIER_MEDIUM] = {5, GK_NS_PER_S},
    [GK_TIER_SLOW] = {15, 5 * GK_NS_PER_S},
    [GK_TIER_ASKED] = {5, GK_NS_PER_S},
};

static uint64_t period_of(const struct gk *gk, enum gk_tier tier)
{
	uint64_t period = tiers[tier].frames * gk->frame_ns;

	if (tier == GK_TIER_ASKED && !(gk->with & GK_WITH_PCIE))
		return 0;
	if (gk->period_ns[tier])
		return gk->period_ns[tier];
	return period > tiers[tier].least_ns ? period : tiers[tier].least_ns;
}

/* Workers take turns, so that not all ask the driver at the same moment. */
static void schedule(struct gk *gk, uint64_t first_frame_ns)
{
	uint64_t lead = gk->frame_ns / 5;
	uint64_t start[GK_TIER_COUNT], period[GK_TIER_COUNT];

	if (lead > LEAD_MAX_NS)
		lead = LEAD_MAX_NS;
	for (size_t i = 0; i < gk->gpu_count; i++) {
		for (int t = 0; t < GK_TIER_COUNT; t++) {
			period[t] = period_of(gk, (enum gk_tier)t);
			start[t] = first_frame_ns - lead;
			if (t != GK_TIER_FAST)
				start[t] += period[t] * i / gk->gpu_count;
		}
		gk_worker_schedule(gk->workers[i], start, period);
	}
}

static int start_timer(struct gk *gk)
{
	struct itimerspec spec = {.it_interval = gk_timespec(gk->frame_ns)};
	uint64_t begin = gk_mono_ns();
	int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);

	if (timer < 0)
		return gk_err_from_errno(errno);
	spec.it_value = gk_timespec(begin);
	if (timerfd_settime(timer, TFD_TIMER_ABSTIME, &spec, NULL) < 0) {
		int r = gk_err_from_errno(errno);

		close(timer);
		return r;
	}
	gk->timer = timer;
	schedule(gk, begin + gk->frame_ns);
	return 0;
}

int gk_watch_start(struct gk *gk, uint64_t period_ns)
{
	int r;

	if (!period_ns)
		return GK_ERR_INVALID;
	if (period_ns > PERIOD_MAX_NS)
		return GK_ERR_RANGE;
	if (gk->timer >= 0)
		return GK_ERR_EXISTS;
	/* The first frame is to show something. No snapshot is made of it:
	 * shares of CPU time since a moment ago would be noise. */
	r = gk_read_once(gk, NULL);
	if (r)
		return r;
	gk->frame_ns = period_ns;
	return start_timer(gk);
}

int gk_watch_next(struct gk *gk, struct gk_snapshot **ret_snap)
{
	uint64_t expired;

	if (gk->timer < 0)
		return GK_ERR_INVALID;
	if (read(gk->timer, &expired, sizeof expired) != sizeof expired)
		return errno == EINTR ? GK_ERR_TIMEOUT
				      : gk_err_from_errno(errno);
	return gk_compose(gk, NULL, ret_snap);
}

int gk_watch_ask(struct gk *gk, unsigned index, unsigned wanted)
{
	if (gk->timer < 0 || index >= gk->gpu_count ||
	    wanted >= 1U << GK_TIER_HOST)
		return GK_ERR_INVALID;
	return gk_worker_ask(gk->workers[index], wanted);
}

int gk_watch_fd(struct gk *gk)
{
	return gk->timer;
}
