/* SPDX-License-Identifier: Apache-2.0 */
/* watch.c - delivers frames at absolute deadlines, by a kernel timer. */
#include "core/context.h"
#include "base/array.h"
#include "core/past/past.h"

#include "base/err.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

/* The longest time between reading values and the frame that shows them. */
#define LEAD_MAX_NS (20 * GK_NS_PER_MS)

/*
 * Schedules the readings of all tiers shortly before frames. Tiers that are not
 * read for every frame are spread over the frames, so that not all workers call
 * the driver at once.
 */
static void schedule_tiers(struct gk *gk, uint64_t first_frame_ns)
{
	uint64_t lead = gk->frame_ns / 5;
	uint64_t start[GK_TIER_COUNT], period[GK_TIER_COUNT];

	if (lead > LEAD_MAX_NS)
		lead = LEAD_MAX_NS;
	for (size_t i = 0; i < gk->gpu_count; i++) {
		for (int t = 0; t < GK_TIER_COUNT; t++) {
			period[t] = gk_period_of(gk, (enum gk_tier)t);
			start[t] = first_frame_ns - lead;
			start[t] += period[t] / gk->frame_ns * i /
				    gk->gpu_count * gk->frame_ns;
		}
		gk_worker_schedule(gk->workers[i], start, period);
	}
}

/* ---- descriptors ---- */

void gk_watch_close(struct gk *gk)
{
	int *fds[] = {&gk->watch, &gk->timer, &gk->news};

	for (size_t i = 0; i < COUNT(fds); i++) {
		if (*fds[i] >= 0)
			close(*fds[i]);
		*fds[i] = -1;
	}
}

static bool await_deadline(struct gk *gk, int fd)
{
	struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};

	return fd >= 0 && !epoll_ctl(gk->watch, EPOLL_CTL_ADD, fd, &event);
}

/* Opens the timer, which first fires at first_ns, and the eventfd gk->news,
 * whose initial count is `news`. */
static int open_descriptors(struct gk *gk, uint64_t first_ns, unsigned news)
{
	struct itimerspec spec = {.it_interval = gk_timespec(gk->frame_ns),
				  .it_value = gk_timespec(first_ns)};

	gk->watch = epoll_create1(EPOLL_CLOEXEC);
	gk->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	gk->news = eventfd(news, EFD_CLOEXEC | EFD_NONBLOCK);
	if (gk->watch < 0 || !await_deadline(gk, gk->timer) ||
	    !await_deadline(gk, gk->news) ||
	    timerfd_settime(gk->timer, TFD_TIMER_ABSTIME, &spec, NULL) < 0) {
		int r = gk_err_from_errno(errno);

		gk_watch_close(gk);
		return r;
	}
	return 0;
}

/* ---- beginning ---- */

static int check_period(const struct gk *gk, uint64_t period_ns)
{
	if (!period_ns)
		return GK_ERR_INVALID;
	if (period_ns > GK_PERIOD_MAX_NS)
		return GK_ERR_RANGE;
	return gk->watch >= 0 ? GK_ERR_EXISTS : 0;
}

int gk_watch_start(struct gk *gk, uint64_t period_ns)
{
	int r = check_period(gk, period_ns);
	uint64_t begin;

	/* Read once, so that the first frame has values. Make no snapshot yet:
	 * CPU shares over so short a time would be noise. */
	if (!r)
		r = gk_read_once(gk, gk->timeout_ns, NULL);
	if (r)
		return r;
	gk->frame_ns = period_ns;
	gk->begun_ns = 0; /* GPUs without values are late at once */
	begin = gk_mono_ns();
	r = open_descriptors(gk, begin, 0);
	if (!r)
		schedule_tiers(gk, begin + period_ns);
	return r;
}

int gk_watch_begin(struct gk *gk, uint64_t period_ns)
{
	int r = check_period(gk, period_ns);

	if (r)
		return r;
	gk->frame_ns = period_ns;
	gk->begun_ns = gk_mono_ns();
	r = open_descriptors(gk, gk->begun_ns + period_ns, 1);
	for (size_t i = 0; !r && i < gk->gpu_count; i++)
		gk_worker_tell(gk->workers[i], gk->news);
	if (!r)
		r = gk_ask_all(gk);
	if (!r) {
		schedule_tiers(gk, gk->begun_ns + period_ns);
		return 0;
	}
	/* Running workers must not write to a closed descriptor. */
	for (size_t i = 0; i < gk->gpu_count; i++)
		gk_worker_tell(gk->workers[i], -1);
	gk_watch_close(gk);
	return r;
}

int gk_watch_period(struct gk *gk, uint64_t period_ns)
{
	uint64_t now = gk_mono_ns(), first = now + period_ns;
	struct itimerspec spec = {.it_interval = gk_timespec(period_ns),
				  .it_value = gk_timespec(first)};

	if (gk->watch < 0 || !period_ns)
		return GK_ERR_INVALID;
	if (period_ns > GK_PERIOD_MAX_NS)
		return GK_ERR_RANGE;
	if (timerfd_settime(gk->timer, TFD_TIMER_ABSTIME, &spec, NULL) < 0)
		return gk_err_from_errno(errno);
	gk->frame_ns = period_ns;
	gk->resumed_ns = now;
	schedule_tiers(gk, first);
	return 0;
}

/* ---- frames ---- */

/* Waits for the timer, and before the first frame also for news of first
 * values. */
static int await_frame(struct gk *gk, bool *ret_early)
{
	struct epoll_event event[2];
	uint64_t count;

	if (epoll_wait(gk->watch, event, 2, -1) < 0)
		return errno == EINTR ? GK_ERR_TIMEOUT
				      : gk_err_from_errno(errno);
	*ret_early = read(gk->timer, &count, sizeof count) < 0;
	if (*ret_early)
		(void)!read(gk->news, &count, sizeof count);
	else
		epoll_ctl(gk->watch, EPOLL_CTL_DEL, gk->news, NULL);
	return 0;
}

/* Detects that the process was stopped and could not read. */
static void notice_stop(struct gk *gk)
{
	uint64_t now = gk_mono_ns(), before = gk->frame_at_ns;

	/* The values were read at most this long before the frame. */
	if (before && now - before + LEAD_MAX_NS > gk_patience(gk))
		gk->resumed_ns = now;
	gk->frame_at_ns = now;
}

/* If a GPU holds up the sweep, makes the workers of the other GPUs read at
 * once, and waits a moment for them, so that they do not miss the frame. */
static void catch_up(struct gk *gk)
{
	uint64_t until = gk_mono_ns() + LEAD_MAX_NS;
	size_t held = 0;

	while (held < gk->gpu_count && !gk_worker_check(gk->workers[held]))
		held++;
	for (size_t i = held + 1; i < gk->gpu_count; i++)
		gk_worker_check(gk->workers[i]);
	for (size_t i = held; i < gk->gpu_count; i++)
		gk_worker_wait(gk->workers[i], until);
}

int gk_watch_next(struct gk *gk, struct gk_snapshot **ret_snap)
{
	bool early = false;
	int r;

	if (gk->watch < 0)
		return GK_ERR_INVALID;
	r = await_frame(gk, &early);
	if (r)
		return r;
	if (early) { /* too soon for rates */
		gk_procfs_forget(gk->procfs);
		gk->host_before = (struct gk_host_before){0};
	}
	notice_stop(gk);
	catch_up(gk);
	return gk_compose(gk, NULL, ret_snap);
}

int gk_watch_ask(struct gk *gk, unsigned index, unsigned wanted)
{
	if (gk->watch < 0 || index >= gk->gpu_count ||
	    wanted >= 2U << GK_TIER_DETAIL)
		return GK_ERR_INVALID;
	if (wanted & 1U << GK_TIER_DETAIL)
		gk_nvml_more(gk->nvml);
	return gk_worker_ask(gk->workers[index], wanted);
}

int gk_watch_fd(struct gk *gk)
{
	return gk->watch;
}

int gk_watch_ask_past(struct gk *gk, unsigned index)
{
	if (gk->watch < 0 || index >= gk->gpu_count)
		return GK_ERR_INVALID;
	gk_nvml_more(gk->nvml);
	return gk_worker_ask(gk->workers[index], GK_ASK_PAST);
}

struct gk_past *gk_watch_take_past(struct gk *gk, unsigned index)
{
	return index < gk->gpu_count ? gk_worker_take_past(gk->workers[index])
				     : NULL;
}
