/* SPDX-License-Identifier: Apache-2.0 */
/* once.c - reads all GPUs once, for a snapshot. */
#include "core/context.h"

#include "base/err.h"
#include "base/min.h"

#include <stdlib.h>

/* How often a waiting caller checks whether the sweep is held up. */
#define LOOK_NS (5 * GK_NS_PER_MS)

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
		int r = gk_worker_start(gk->workers[i]);

		if (!r)
			r = gk_worker_ask(gk->workers[i], tiers_wanted(gk));
		if (r)
			return r;
	}
	return 0;
}

/*
 * Gives the sweep a moment to read GPUs that were never read. If it does not
 * finish in time, all workers read their GPUs at the same time.
 */
static void await_sweep(struct gk *gk, uint64_t until_ns)
{
	if (!gk->sweep ||
	    gk_worker_wait(gk->workers[gk->gpu_count - 1], until_ns))
		return;
	for (size_t i = 0; i < gk->gpu_count; i++)
		gk_worker_check(gk->workers[i]);
}

/* Returns the deadline for a worker: timeout_ns after its current reading
 * began, or timeout_ns from now if it is not reading. */
static uint64_t wait_until(const struct gk_worker *w, uint64_t now_ns,
			   uint64_t timeout_ns)
{
	uint64_t since = gk_worker_since(w);

	return (since && since < now_ns ? since : now_ns) + timeout_ns;
}

/*
 * Waits for a worker. If a GPU holds up the sweep meanwhile, the workers that
 * are still to be waited for read their GPUs themselves. Returns whether the
 * worker is idle.
 */
static bool await_worker(struct gk *gk, size_t i, uint64_t until_ns)
{
	for (;;) {
		uint64_t look_ns = gk_mono_ns() + LOOK_NS;

		if (gk_worker_wait(gk->workers[i], gk_min(look_ns, until_ns)))
			return true;
		if (look_ns >= until_ns)
			return false;
		for (size_t k = 0; k < i; k++)
			gk_worker_check(gk->workers[k]);
	}
}

/* Waits for a worker. Returns whether it has failed to answer in time. */
static bool is_late_after(struct gk *gk, size_t i, uint64_t now_ns,
			  uint64_t timeout_ns)
{
	struct gk_worker *w = gk->workers[i];

	return gk_is_known_late(gk, i, timeout_ns) ||
	       !await_worker(gk, i, wait_until(w, now_ns, timeout_ns));
}

int gk_read_once(struct gk *gk, uint64_t timeout_ns, bool *late)
{
	uint64_t now = gk_mono_ns();
	struct gk_span span;
	int r = 0;

	gk_span_begin(&span, "wait for the GPUs");
	for (size_t i = 0; !r && i < gk->gpu_count; i++)
		if (!gk_is_known_late(gk, i, timeout_ns))
			r = gk_worker_ask(gk->workers[i], tiers_wanted(gk));
	if (!r)
		await_sweep(gk,
			    now + gk_min(2 * GK_SWEEP_QUICK_NS, timeout_ns));
	/* Start with the last GPU, because a sweep reads it last. */
	for (size_t i = gk->gpu_count; !r && i-- > 0;) {
		bool is_late = is_late_after(gk, i, now, timeout_ns);

		gk->was_late |= is_late;
		if (late)
			late[i] = is_late;
	}
	gk_span_end(&span);
	return r;
}

int gk_snapshot_within(struct gk *gk, uint64_t timeout_ns,
		       struct gk_snapshot **ret_snap)
{
	bool *late = calloc(gk->gpu_count + 1, sizeof *late);
	int r;

	if (!late)
		return GK_ERR_NOMEM;
	timeout_ns = timeout_ns ? timeout_ns : gk->timeout_ns;
	r = gk_read_once(gk, gk_limit_timeout(timeout_ns), late);
	if (!r)
		r = gk_compose(gk, late, ret_snap);
	free(late);
	return r;
}

int gk_snapshot_take(struct gk *gk, struct gk_snapshot **ret_snap)
{
	return gk_snapshot_within(gk, 0, ret_snap);
}
