/*
 * pace.c - owns the words that tell how far the kernels of a GPU have got.
 */
#include "limit/pace.h"

#define NS_PER_US 1000ULL
#define NS_PER_MS (1000 * NS_PER_US)

/* Whoever is overdue for longer has died, or waits for nobody here. */
#define OVERDUE_NS (10000 * NS_PER_MS)

/* A bout in a word: when it began in microseconds, and launches in it. */
enum { COUNT_BITS = 20 };
#define COUNT_MASK ((1ULL << COUNT_BITS) - 1)

/* Those that are let in together come so far apart. */
#define APART_US 1000ULL

static uint64_t load(const _Atomic uint64_t *word)
{
	return atomic_load_explicit(word, memory_order_relaxed);
}

static void store(_Atomic uint64_t *word, uint64_t value)
{
	atomic_store_explicit(word, value, memory_order_relaxed);
}

void gkl_pace_begin(struct gkl_share *share, uint64_t now_ns, uint64_t least_ns)
{
	uint64_t before = load(&share->expected_ns);

	store(&share->expected_ns,
	      (before > now_ns ? before : now_ns) + least_ns);
	store(&share->begun_ns, now_ns);
}

void gkl_pace_end(struct gkl_share *share, uint64_t begun_ns)
{
	if (load(&share->over_ns) < begun_ns)
		store(&share->over_ns, begun_ns);
}

static bool is_under_way(const struct gkl_share *share)
{
	return load(&share->begun_ns) > load(&share->over_ns);
}

bool gkl_pace_is_overdue(const struct gkl_share *share, uint64_t now_ns,
			 uint64_t slack_ns)
{
	uint64_t expected = load(&share->expected_ns) + slack_ns;

	return is_under_way(share) && now_ns > expected &&
	       now_ns < expected + OVERDUE_NS;
}

static uint64_t bout_of(const struct gkl_share *share)
{
	return load(&share->bout) >> COUNT_BITS;
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
	uint64_t word = load(&share->bout);

	return (word >> COUNT_BITS) + APART_US < bout ? 0 : word & COUNT_MASK;
}

void gkl_pace_open(struct gkl_share *const share[], unsigned int count,
		   unsigned int mine, uint64_t since_ns, uint64_t now_ns)
{
	if (find_latest(share, count) < since_ns / NS_PER_US)
		store(&share[mine]->bout, now_ns / NS_PER_US << COUNT_BITS);
}

void gkl_pace_step(struct gkl_share *const share[], unsigned int count,
		   unsigned int mine)
{
	uint64_t latest = find_latest(share, count);
	uint64_t had = count_in(share[mine], latest);

	if (bout_of(share[mine]) + APART_US >= latest)
		latest = bout_of(share[mine]);
	if (had < COUNT_MASK)
		store(&share[mine]->bout, latest << COUNT_BITS | (had + 1));
}

unsigned int gkl_pace_behind(struct gkl_share *const share[],
			     unsigned int count, unsigned int mine)
{
	uint64_t latest = find_latest(share, count);
	uint64_t own = count_in(share[mine], latest), most = own;

	for (unsigned int i = 0; i < count; i++)
		if (share[i] && is_under_way(share[i]) &&
		    count_in(share[i], latest) > most)
			most = count_in(share[i], latest);
	return (unsigned int)(most - own);
}
