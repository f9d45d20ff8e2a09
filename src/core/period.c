/* SPDX-License-Identifier: Apache-2.0 */
/* period.c - chooses how often tiers are read while watching. */
#include "core/context.h"
#include "base/assert.h"

/*
 * For each tier: the number of frames per reading, and the minimum time between
 * two readings. If frames are at least 1 s apart, process lists (MEDIUM) are
 * read as often as the FAST values.
 */
static const struct {
	uint64_t frames, least_ns;
} tiers[GK_TIER_COUNT] = {
    [GK_TIER_FAST] = {1, 0},
    [GK_TIER_MEDIUM] = {1, GK_NS_PER_S},
    [GK_TIER_SLOW] = {15, 5 * GK_NS_PER_S},
    [GK_TIER_ASKED] = {5, GK_NS_PER_S},
    [GK_TIER_DETAIL] = {15, 5 * GK_NS_PER_S},
};

/* Periods are whole multiples of the frame period, so that a thread reads all
 * due tiers in one wake-up. */
uint64_t gk_period_of(const struct gk *gk, enum gk_tier tier)
{
	uint64_t frames, least;

	GK_ASSERT((unsigned)tier < GK_TIER_COUNT && gk->frame_ns);
	if (tier == GK_TIER_ASKED && !(gk->with & GK_WITH_PCIE))
		return 0;
	if (tier == GK_TIER_DETAIL && !(gk->with & GK_WITH_DETAIL))
		return 0;
	if (tier > GK_TIER_DETAIL)
		return 0;
	if (gk->period_ns[tier])
		return gk->period_ns[tier];
	frames = tiers[tier].frames;
	least = (tiers[tier].least_ns + gk->frame_ns - 1) / gk->frame_ns;
	return (frames > least ? frames : least) * gk->frame_ns;
}

uint64_t gk_patience(const struct gk *gk)
{
	uint64_t period = gk->period_ns[GK_TIER_FAST];
	uint64_t two = 2 * (period > gk->frame_ns ? period : gk->frame_ns);

	return two > gk->timeout_ns ? two : gk->timeout_ns;
}
