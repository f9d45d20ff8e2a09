/* SPDX-License-Identifier: Apache-2.0 */
/* pace.c - owns the words that record how far the kernels of a GPU have got. */
#include "limit/pace.h"
#include "base/assert.h"
#include "limit/word.h"

#define NS_PER_US 1000ULL
#define NS_PER_MS (1000 * NS_PER_US)

/*
 * A launch that is overdue by more than this time belongs to a dead process, or
 * waits for something other than the group's devices.
 */
#define OVERDUE_NS (10000 * NS_PER_MS)

/*
 * A bout (pace.h) in one word: its beginning in microseconds, and its number of
 * launches.
 */
enum { COUNT_BITS = 20 };
#define COUNT_MASK ((1ULL << COUNT_BITS) - 1)

/*
 * Launches of one bout (pace.h) on different devices begin at most this time
 * apart.
 */
#define APART_US 1000ULL

void gkl_pace_begin(struct gkl_share *share, uint64_t now_ns, uint64_t least_ns)
{
	uint64_t before = gkl_load_word(&share->expected_ns);

	gkl_store_word(&share->expected_ns,
		       (before > now_ns ? before : now_ns) + least_ns);
	gkl_store_word(&share->begun_ns, now_ns);
}

void gkl_pace_end(struct gkl_share *share, uint64_t begun_ns)
{
	if (gkl_load_word(&share->over_ns) < begun_ns)
		gkl_store_word(&share->over_ns, begun_ns);
}

static bool is_under_way(const struct gkl_share *share)
{
	return gkl_load_word(&share->begun_ns) > gkl_load_word(&share->over_ns);
}

bool gkl_pace_is_overdue(const struct gkl_share *share, uint64_t now_ns,
			 uint64_t slack_ns)
{
	uint64_t expected = gkl_load_word(&share->expected_ns) + slack_ns;

	return is_under_way(share) && now_ns > expected &&
	       now_ns < expected + OVERDUE_NS;
}

static uint64_t bout_of(const struct gkl_share *share)
{
	return gkl_load_word(&share->bout) >> COUNT_BITS;
}

static uint64_t find_latest(struct gkl_share *const share[], unsigned int count)
{
	uint64_t latest = 0;

	for (unsigned int i = 0; i < count; i++)
		if (share[i] && bout_of(share[i]) > latest)
			latest = bout_of(share[i]);
	return latest;
}

static uint64_t count_in(const struct gkl_share *share, uint64_t bout)
{
	uint64_t word = gkl_load_word(&share->bout);

	return (word >> COUNT_BITS) + APART_US < bout ? 0 : word & COUNT_MASK;
}

void gkl_pace_open(struct gkl_share *const share[], unsigned int count,
		   unsigned int mine, uint64_t since_ns, uint64_t now_ns)
{
	GK_ASSERT(mine < count && share[mine]);
	if (find_latest(share, count) < since_ns / NS_PER_US)
		gkl_store_word(&share[mine]->bout,
			       now_ns / NS_PER_US << COUNT_BITS);
}

void gkl_pace_step(struct gkl_share *const share[], unsigned int count,
		   unsigned int mine)
{
	uint64_t latest, had;

	GK_ASSERT(mine < count && share[mine]);
	latest = find_latest(share, count);
	had = count_in(share[mine], latest);
	if (bout_of(share[mine]) + APART_US >= latest)
		latest = bout_of(share[mine]);
	if (had < COUNT_MASK)
		gkl_store_word(&share[mine]->bout,
			       latest << COUNT_BITS | (had + 1));
}

unsigned int gkl_pace_behind(struct gkl_share *const share[],
			     unsigned int count, unsigned int mine)
{
	uint64_t latest, own, most;

	GK_ASSERT(mine < count && share[mine]);
	latest = find_latest(share, count);
	own = most = count_in(share[mine], latest);
	for (unsigned int i = 0; i < count; i++)
		if (share[i] && is_under_way(share[i]) &&
		    count_in(share[i], latest) > most)
			most = count_in(share[i], latest);
	return (unsigned int)(most - own);
}
