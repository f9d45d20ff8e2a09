/*
 * share.c - owns the words of a group's share of a GPU's time.
 */
#include "limit/share.h"
#include "limit/ledger.h"

#include <stddef.h>

_Static_assert(sizeof(struct gkl_share) <= GKL_SHARE_BYTES,
	       "it has room in the ledger");

#define PERCENT_BITS 7
#define PERCENT_MASK ((1ULL << PERCENT_BITS) - 1)
#define NS_BITS      24
#define NS_MASK      ((1ULL << NS_BITS) - 1)
_Static_assert(GKL_SHARE_SEEN_NS <= NS_MASK, "a whole bin has room");

/* Whatever was measured, nobody waits longer than this for it. */
#define OWED_NS 60000000000LL

static uint64_t min(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t max(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static int64_t clamp(int64_t value, int64_t least, int64_t most)
{
	return value < least ? least : value > most ? most : value;
}

/* ---- time that accrues ---- */

/*
 * How far `due` lies ahead of now, in time of the clock; negative: behind, time
 * was saved. What is owed stays the same time of the device when the percentage
 * changes.
 */
static int64_t read_ahead(uint64_t word, unsigned int percent, uint64_t now_ns)
{
	uint64_t was = word & PERCENT_MASK;
	int64_t ahead = (int64_t)(word >> PERCENT_BITS) - (int64_t)now_ns;

	if (!was)
		return 0;
	ahead = clamp(ahead, -(int64_t)GKL_SHARE_SAVED_NS, OWED_NS);
	if (was != percent)
		ahead = ahead * (int64_t)was / (int64_t)percent;
	return clamp(ahead, -(int64_t)GKL_SHARE_SAVED_NS, OWED_NS);
}

static uint64_t make_due(int64_t ahead, unsigned int percent, uint64_t now_ns)
{
	int64_t due = (int64_t)now_ns + ahead;

	return (uint64_t)(due > 0 ? due : 0) << PERCENT_BITS | percent;
}

static uint64_t load(const _Atomic uint64_t *word)
{
	return atomic_load_explicit(word, memory_order_relaxed);
}

int64_t gkl_share_level(struct gkl_share *share, unsigned int percent,
			uint64_t now_ns)
{
	return -read_ahead(load(&share->due), percent, now_ns) *
	       (int64_t)percent / 100;
}

uint64_t gkl_share_wait(struct gkl_share *share, unsigned int percent,
			uint64_t now_ns, uint64_t saved_ns)
{
	int64_t ahead =
	    read_ahead(load(&share->due), percent, now_ns) + (int64_t)saved_ns;

	return ahead > 0 ? (uint64_t)ahead : 0;
}

void gkl_share_take(struct gkl_share *share, unsigned int percent,
		    uint64_t now_ns, int64_t ns)
{
	int64_t span = clamp(ns, -OWED_NS, OWED_NS) * 100 / (int64_t)percent;
	uint64_t was = load(&share->due), is;

	do
		is = make_due(read_ahead(was, percent, now_ns) + span, percent,
			      now_ns);
	while (!atomic_compare_exchange_weak(&share->due, &was, is));
}

/* ---- what was busy ---- */

static uint64_t bin_ns(uint64_t word, uint64_t bin)
{
	return word >> NS_BITS == bin ? word & NS_MASK : 0;
}

/* Bins of some length, each with room for that. */
struct ring {
	_Atomic uint64_t *bin;
	uint64_t count, length_ns;
};

static struct ring united(struct gkl_share *share)
{
	return (struct ring){share->bin, GKL_SHARE_BINS, GKL_SHARE_BIN_NS};
}

static struct ring seen(struct gkl_share *share)
{
	return (struct ring){share->seen, GKL_SHARE_SEEN, GKL_SHARE_SEEN_NS};
}

/* Answers how much of ns had room in the bin. */
static uint64_t fill_bin(const struct ring *ring, uint64_t bin, uint64_t ns)
{
	_Atomic uint64_t *word = &ring->bin[bin % ring->count];
	uint64_t was = load(word), had, has;

	do {
		if (was >> NS_BITS > bin)
			return ns; /* forgotten: it comes too late */
		had = bin_ns(was, bin);
		has = min(had + ns, ring->length_ns);
	} while (
	    !atomic_compare_exchange_weak(word, &was, bin << NS_BITS | has));
	return has - had;
}

static uint64_t fill_ring(const struct ring *ring, uint64_t begin_ns,
			  uint64_t end_ns)
{
	uint64_t filled = 0;

	for (uint64_t bin = begin_ns / ring->length_ns; begin_ns < end_ns;
	     bin++) {
		uint64_t until = min((bin + 1) * ring->length_ns, end_ns);

		filled += fill_bin(ring, bin, until - begin_ns);
		begin_ns = until;
	}
	return filled;
}

/* Where the ring begins that ends with a moment. */
static uint64_t find_begin(const struct ring *ring, uint64_t end_ns)
{
	uint64_t last = end_ns / ring->length_ns;

	return last < ring->count ? 0
				  : (last - ring->count + 1) * ring->length_ns;
}

/*
 * What of an interval lies before the ring is united with such intervals alone:
 * all up to the end of the last of them was covered.
 */
static uint64_t cover_far(struct gkl_share *share, uint64_t begin_ns,
			  uint64_t ring_ns, uint64_t end_ns)
{
	uint64_t was = load(&share->far_ns), from;

	while (was < end_ns &&
	       !atomic_compare_exchange_weak(&share->far_ns, &was, end_ns))
		;
	from = max(begin_ns, was);
	return from < ring_ns ? ring_ns - from : 0;
}

uint64_t gkl_share_cover(struct gkl_share *share, uint64_t begin_ns,
			 uint64_t end_ns)
{
	struct ring ring = united(share);
	uint64_t from = find_begin(&ring, end_ns), covered = 0;

	if (begin_ns < from) {
		covered = cover_far(share, begin_ns, from, end_ns);
		begin_ns = from;
	}
	return covered + fill_ring(&ring, begin_ns, end_ns);
}

void gkl_share_show(struct gkl_share *share, uint64_t begin_ns, uint64_t end_ns)
{
	struct ring ring = seen(share);

	fill_ring(&ring, max(begin_ns, find_begin(&ring, end_ns)), end_ns);
}

uint64_t gkl_share_busy(const struct gkl_share *share, uint64_t now_ns,
			uint64_t window_ns)
{
	uint64_t last = now_ns / GKL_SHARE_SEEN_NS, busy = 0, count;

	count = min(window_ns / GKL_SHARE_SEEN_NS, GKL_SHARE_SEEN - 1);
	for (uint64_t bin = last - min(count, last); bin < last; bin++)
		busy += bin_ns(load(&share->seen[bin % GKL_SHARE_SEEN]), bin);
	return busy;
}

void gkl_share_want(struct gkl_share *share, uint64_t now_ns)
{
	atomic_store_explicit(&share->wanted_ns, now_ns, memory_order_relaxed);
}

uint64_t gkl_share_wanted(const struct gkl_share *share)
{
	return load(&share->wanted_ns);
}

/* ---- kernels that wait for each other ---- */

/*
 * A long interval in a word: the low bits of its end and its length, both in
 * microseconds.
 */
#define US          1000ULL
#define LENGTH_BITS 23
#define LENGTH_MASK ((1ULL << LENGTH_BITS) - 1)

/* Shorter than this is not worth it, and often chance. */
#define MEET_LEAST_NS 500000ULL

struct interval {
	uint64_t begin_ns, end_ns;
};

static uint64_t pack(const struct interval *i)
{
	uint64_t length = min((i->end_ns - i->begin_ns) / US, LENGTH_MASK);

	return (i->end_ns / US) << LENGTH_BITS | length;
}

/* `near_ns` is within some days of it. */
static struct interval unpack(uint64_t word, uint64_t near_ns)
{
	int64_t apart = (int64_t)((near_ns / US << LENGTH_BITS) -
				  (word & ~((1ULL << LENGTH_BITS) - 1))) >>
			LENGTH_BITS;
	uint64_t end_ns = near_ns - (uint64_t)apart * US;

	return (struct interval){
	    .begin_ns = end_ns - (word & LENGTH_MASK) * US,
	    .end_ns = end_ns,
	};
}

/* How long `first` waited for `last` to begin; 0: it did not. */
static uint64_t find_lag(const struct interval *first,
			 const struct interval *last)
{
	uint64_t apart, lag;

	if (last->begin_ns < first->begin_ns + MEET_LEAST_NS)
		return 0;
	lag = last->begin_ns - first->begin_ns;
	apart = first->end_ns > last->end_ns ? first->end_ns - last->end_ns
					     : last->end_ns - first->end_ns;
	return apart <= lag / 32 + 100 * US ? lag : 0;
}

static void meet_device(struct gkl_share *own, unsigned int own_percent,
			struct gkl_share *other, unsigned int other_percent,
			const struct interval *interval)
{
	uint64_t late = 0, early = 0;

	for (unsigned int i = 0; i < GKL_SHARE_LAST; i++) {
		struct interval met =
		    unpack(load(&other->last[i]), interval->end_ns);

		late = max(late, find_lag(&met, interval));
		early = max(early, find_lag(interval, &met));
	}
	if (late && own_percent)
		gkl_share_take(own, own_percent, interval->end_ns,
			       (int64_t)late);
	else if (early && other_percent)
		gkl_share_take(other, other_percent, interval->end_ns,
			       (int64_t)early);
}

void gkl_share_meet(struct gkl_share *const share[], unsigned int count,
		    unsigned int mine, const unsigned int percent[],
		    uint64_t begin_ns, uint64_t end_ns)
{
	struct interval interval = {.begin_ns = begin_ns, .end_ns = end_ns};
	uint64_t place;

	place = atomic_fetch_add(&share[mine]->met, 1) % GKL_SHARE_LAST;
	atomic_store(&share[mine]->last[place], pack(&interval));
	for (unsigned int i = 0; i < count; i++)
		if (i != mine && share[i])
			meet_device(share[mine], percent[mine], share[i],
				    percent[i], &interval);
}
