/* SPDX-License-Identifier: Apache-2.0 */
/* context.c - opens and closes contexts. */
#include "core/context.h"

#include "base/err.h"
#include "core/driver/opening.h"

#include <stdlib.h>

#define GPUS_MAX 1024

/* Default timeout: opening GPUs may have to load the kernel driver first. */
#define START_NS (10 * GK_NS_PER_S)

/* Bits of gk_with whose data needs the functions that gk_nvml_more() looks
 * up. */
#define WITH_MORE (GK_WITH_DETAIL | GK_WITH_TOPOLOGY | GK_WITH_EVENTS)

/* The minimum time for which gk_close() waits for calls in progress. If it
 * waited for less, a thread that waits for a processor would be mistaken for a
 * hung GPU. If a GPU is known to hang, gk_close() waits exactly this long,
 * because a snapshot has already waited for that GPU. */
#define GRACE_NS (200 * GK_NS_PER_MS)

/* Opens what all GPUs share: the topology and the events. */
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
	r = gk_sweep_new(gk->workers, gk->gpu_count, gk_worker_sweep,
			 &gk->sweep);
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
	gk->live = calloc(count + 1, sizeof *gk->live);
	if (!r)
		r = gk_asks_new(count, &gk->asks);
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

static bool has_long_period(const struct gk_options *options)
{
	for (int t = 0; t < GK_TIER_COUNT; t++)
		if (options->period_ns[t] > GK_PERIOD_MAX_NS)
			return true;
	return false;
}

int gk_open(const struct gk_options *options, int *ret_nvml, struct gk **ret_gk)
{
	return gk_open_within(options, START_NS, ret_nvml, ret_gk);
}

int gk_open_within(const struct gk_options *options, uint64_t timeout_ns,
		   int *ret_nvml, struct gk **ret_gk)
{
	static const struct gk_options standard = {.proc_fd = -1};
	struct gk *gk;
	unsigned count = 0;
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
	gk_set_timeout(gk, options->timeout_ns);
	for (int t = 0; t < GK_TIER_COUNT; t++)
		gk->period_ns[t] = options->period_ns[t];
	r = gk_procfs_open(options->proc_fd, &gk->procfs);
	if (!r)
		r = gk_opening(options->nvml_path, gk_limit_timeout(timeout_ns),
			       &nvml, &count, &gk->nvml);
	if (!r && gk->with & WITH_MORE)
		gk_nvml_more(gk->nvml);
	if (!r)
		r = count > GPUS_MAX ? GK_ERR_TOO_MANY
				     : start_workers(gk, count);
	if (r) {
		gk_close(gk);
		if (ret_nvml && nvml)
			*ret_nvml = nvml;
		return r;
	}
	*ret_gk = gk;
	return 0;
}

/* Whether a GPU was late in a snapshot, or by now has been silent for the
 * timeout. */
static bool is_late(const struct gk *gk)
{
	bool late = gk->was_late;

	for (unsigned i = 0; i < gk->gpu_count; i++)
		late |= gk_silence(gk, i) >= gk->timeout_ns;
	return late;
}

/* Ends the threads. Returns false if some have not ended and still use the
 * library. */
static bool stop_workers(struct gk *gk)
{
	bool brief = is_late(gk) || gk->timeout_ns < GRACE_NS;
	uint64_t until = gk_mono_ns() + (brief ? GRACE_NS : gk->timeout_ns);
	bool swept, all;

	for (size_t i = 0; i < gk->gpu_count; i++)
		gk_worker_end(gk->workers[i]);
	swept = !gk->sweep || gk_sweep_stop(gk->sweep, until);
	all = gk_asks_stop(gk->asks, until) && swept;
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
	if (all && gk->nvml)
		gk_nvml_close(gk->nvml);
	gk_watch_close(gk);
	gk_procfs_close(gk->procfs);
	free(gk->stale);
	if (all) { /* if false, running threads still use these */
		gk_sweep_free(gk->sweep);
		free(gk->workers);
		gk_live_free(gk->live, gk->gpu_count);
		gk_asks_free(gk->asks);
		free(gk);
	}
	return all ? 0 : GK_ERR_TIMEOUT;
}

void gk_read_of_processes(struct gk *gk, unsigned with)
{
	gk->with &= ~(unsigned)GK_WITH_PROCESS_ALL;
	gk->with |= with & GK_WITH_PROCESS_ALL;
}

void gk_heed(struct gk *gk, gk_silence_of *others)
{
	gk->others = others;
}
