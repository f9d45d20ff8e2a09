/* SPDX-License-Identifier: Apache-2.0 */
/* barrier.c - counts arrivals at a block's 16 barriers and releases them. */
#include "base/assert.h"
#include "ptx/interp/program.h"

static void release_barrier(struct gkf_block *b, unsigned barrier)
{
	struct gkf_barrier *at = &b->barriers[barrier];

	*at = (struct gkf_barrier){.all_yes = at->yes, .all_no = at->no};
	for (uint32_t i = 0; i < b->warp_count; i++) {
		struct gkf_warp *w = b->warps[i];

		if (!w->came[barrier])
			continue;
		w->came[barrier] = 0;
		for (uint32_t p = 0; p < w->paths; p++)
			if (w->path[p].state == GKF_PATH_BARRIER &&
			    w->path[p].barrier == barrier)
				w->path[p].state = GKF_PATH_READY;
	}
}

/*
 * Returns the number of threads that have arrived. Once all live threads of a
 * warp have arrived, the warp counts as 32.
 */
static uint32_t round_to_warps(const struct gkf_block *b, unsigned barrier)
{
	uint32_t count = b->barriers[barrier].arrived;

	for (uint32_t i = 0; i < b->warp_count; i++) {
		uint32_t came = b->warps[i]->came[barrier];

		if (came && !(b->warps[i]->live & ~came))
			count += GKF_LANES - (uint32_t)__builtin_popcount(came);
	}
	return count;
}

static void look_at_barrier(struct gkf_block *b, unsigned barrier)
{
	const struct gkf_barrier *at = &b->barriers[barrier];

	if (at->arrived &&
	    (at->expected ? round_to_warps(b, barrier) >= at->expected
			  : at->arrived >= b->live))
		release_barrier(b, barrier);
}

void gkf_barriers_look(struct gkf_block *b)
{
	for (unsigned i = 0; i < GKF_BARRIERS; i++)
		look_at_barrier(b, i);
}

void gkf_barrier_arrive(struct gkf_warp *w, uint32_t mask, unsigned barrier,
			uint32_t count)
{
	struct gkf_barrier *at = &w->block->barriers[barrier];

	GK_ASSERT(barrier < GKF_BARRIERS && !(mask & ~w->live));
	at->arrived += (uint32_t)__builtin_popcount(mask);
	at->expected = count;
	w->came[barrier] |= mask;
	look_at_barrier(w->block, barrier);
}
