/* context.c - opening, closing, one snapshot. */
#include "core/context.h"

#include "base/err.h"

#include <stdlib.h>

#define TIMEOUT_NS GK_NS_PER_S
#define GPUS_MAX   1024

/* The gk_with bits that need gk_nvml_more(). */
#define WITH_MORE (GK_WITH_DETAIL | GK_WITH_TOPOLOGY | GK_WITH_EVENTS)

/* For the calls under way when the end comes: with less, a thread that waits
 * for the processor were taken for a GPU that hangs. It is enough where one is
 * known to hang, since that has made a snapshot wait already. */
#define GRACE_NS (200 * GK_NS_PER_MS)

/* Opens what all workers share: topology and events. */
static int open_shared(struct gk *gk, unsigned count)
{
	if (gk->with & GK_WITH_TOPOLOGY)
		gk->places = gk_places_new(count);
	if (gk->with & GK_WITH_TOPOLOGY && !gk->places)
		return GK_ERR_NOMEM;
	if (gk->with & GK_WITH_EVENTS)
		return gk_events_open(gk->nvml, count, &gk->events);
	return 0;
}

static int join_workers(struct gk *gk)
{
	int r;

	if (gk->gpu_count < 2)
		return 0;
	r = gk_sweep_new(gk->workers, gk->gpu_count, &gk->sweep);
	for (size_t i = 0; !r && i < gk->gpu_count; i++)
		gk_worker_share(gk->workers[i], gk->sweep);
	return r;
}

static int start_workers(struct gk *gk, unsigned count)
{
	struct gk_gpu_options options = {
	    .with = gk->with,
	    .only = gk->choosy ? &gk->only : NULL,
	};
	int r = open_shared(gk, count);

	gk->workers = calloc(count + 1, sizeof *gk->workers);
	gk->stale = calloc(count + 1, sizeof *gk->stale);
	gk->live = gk_live_new(count);
	if (r || !gk->workers || !gk->stale || !gk->live)
		return r ? r : GK_ERR_NOMEM;
	options.events = gk->events;
	options.places = gk->places;
	for (; gk->gpu_count < count; gk->gpu_count++) {
		r = gk_worker_new(gk->nvml, (unsigned)gk->gpu_count, &options,
				  &gk->workers[gk->gpu_count]);
		if (r)
			return r;
	}
	return join_workers(gk);
}

static int list_gpus(struct gk *gk, int *ret_nvml)
{
	unsigned count = 0;
	nvmlReturn_t r = GK_NVML_CALL(gk->nvml, nvmlDeviceGetCount_v2, &count);

	if (r) {
		*ret_nvml = (int)r;
		return GK_ERR_DRIVER;
	}
	return count > GPUS_MAX ? GK_ERR_TOO_MANY : start_workers(gk, count);
}

static bool has_long_period(const struct gk_options *options)
{
	for (int t = 0; t < GK_TIER_COUNT; t++)
		if (options->period_ns[t] > GK_PERIOD_MAX_NS)
			return true;
	return false;
}

int gk_open(const struct gk_options *options, int *ret_nvml, struct gk **ret_gk)
{
	static const struct gk_options standard = {.proc_fd = -1};
	struct gk *gk;
	int nvml = 0, r;

	if (!options)
		options = &standard;
	if (has_long_period(options))
		return GK_ERR_RANGE;
	gk = calloc(1, sizeof *gk);
	if (!gk)
		return GK_ERR_NOMEM;
	gk->watch = gk->timer = gk->news = -1;
	gk->with = options->with;
	gk->choosy = options->only;
	if (options->only)
		gk->only = *options->only;
	gk->timeout_ns = options->timeout_ns ? options->timeout_ns : TIMEOUT_NS;
	for (int t = 0; t < GK_TIER_COUNT; t++)
		gk->period_ns[t] = options->period_ns[t];
	r = gk_procfs_open(options->proc_fd, &gk->procfs);
	if (!r)
		r = gk_nvml_open(options->nvml_path, &nvml, &gk->nvml);
	if (!r && gk->with & WITH_MORE)
		gk_nvml_more(gk->nvml);
	if (!r)
		r = list_gpus(gk, &nvml);
	if (r) {
		gk_close(gk);
		if (ret_nvml && r == GK_ERR_DRIVER)
			*ret_nvml = nvml;
		return r;
	}
	*ret_gk = gk;
	return 0;
}

/* Whether all have ended; the others go on using the driver library. */
static bool stop_workers(struct gk *gk)
{
	bool brief = gk->was_late || gk->timeout_ns < GRACE_NS;
	uint64_t until = gk_mono_ns() + (brief ? GRACE_NS : gk->timeout_ns);
	bool swept, all;

	for (size_t i = 0; i < gk->gpu_count; i++)
		gk_worker_end(gk->workers[i]);
	all = swept = !gk->sweep || gk_sweep_stop(gk->sweep, until);
	for (size_t i = 0; i < gk->gpu_count; i++) {
		bool ended = gk_worker_stop(gk->workers[i], until);

		if (ended && swept)
			gk_worker_free(gk->workers[i]);
		all &= ended;
	}
	return all;
}

int gk_close(struct gk *gk)
{
	bool all;

	if (!gk)
		return 0;
	all = stop_workers(gk);
	gk_events_close(gk->events);
	gk_places_unref(gk->places);
	gk_live_free(gk->live, (unsigned)gk->gpu_count);
	if (all && gk->nvml)
		gk_nvml_close(gk->nvml);
	gk_watch_close(gk);
	gk_procfs_close(gk->procfs);
	if (all) { /* who is left behind uses them */
		gk_sweep_free(gk->sweep);
		free(gk->workers);
	}
	free(gk->stale);
	free(gk);
	return all ? 0 : GK_ERR_TIMEOUT;
}

void gk_read_of_processes(struct gk *gk, unsigned with)
{
	gk->with &= ~(unsigned)GK_WITH_PROCESS_ALL;
	gk->with |= with & GK_WITH_PROCESS_ALL;
}

static unsigned tiers_wanted(const struct gk *gk)
{
	unsigned tiers = 1U << GK_TIER_FAST | 1U << GK_TIER_MEDIUM;

	if (!(gk->with & GK_WITHOUT_SLOW))
		tiers |= 1U << GK_TIER_SLOW;
	if (gk->with & GK_WITH_PCIE)
		tiers |= 1U << GK_TIER_ASKED;
	if (gk->with & GK_WITH_DETAIL)
		tiers |= 1U << GK_TIER_DETAIL;
	return tiers;
}

int gk_ask_all(struct gk *gk)
{
	for (size_t i = 0; i < gk->gpu_count; i++) {
		int r = gk_worker_ask(gk->workers[i], tiers_wanted(gk));

		if (r)
			return r;
	}
	return 0;
}

int gk_read_once(struct gk *gk, bool *late)
{
	uint64_t until = gk_mono_ns() + gk->timeout_ns;
	struct gk_span span;
	int r;

	gk_span_begin(&span, "wait for the GPUs");
	r = gk_ask_all(gk);
	/* A sweep is through when the last one is. */
	for (size_t i = gk->gpu_count; !r && i-- > 0;) {
		bool idle = gk_worker_wait(gk->workers[i], until);

		gk->was_late |= !idle;
		if (late)
			late[i] = !idle;
	}
	gk_span_end(&span);
	return r;
}

int gk_snapshot_take(struct gk *gk, struct gk_snapshot **ret_snap)
{
	bool *late = calloc(gk->gpu_count + 1, sizeof *late);
	int r;

	if (!late)
		return GK_ERR_NOMEM;
	r = gk_read_once(gk, late);
	if (!r)
		r = gk_compose(gk, late, ret_snap);
	free(late);
	return r;
}
