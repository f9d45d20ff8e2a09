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

/*
 * Whatever was measured (a machine may have been asleep): more than this is
 * forgotten by whoever takes time next, and nobody waits longer at a time. So a
 * kernel of more than 60 s * percent / 100 may get more than its share.
 */
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
 * An interval in a word: the low bits of its end, and its length, both in
 * microseconds.
 */
#define US          1000ULL
#define LENGTH_BITS 23
#define LENGTH_MASK ((1ULL << LENGTH_BITS) - 1)

/* Waiting less than this is not worth it. */
#define MEET_LEAST_NS 500000ULL

/*
 * How soon the end of a kernel that waited follows on the launch that it waited
 * for, beside the time that its own work takes and a part of how long it
 * waited. If that was many times longer, chance is rare enough.
 */
#define SOON_NS (200 * US)
enum { SOON_PART = 8, SURELY_PART = 32 };

/*
 * A bond: what was found lately, and until when it counts: also while they wait
 * for what was found.
 */
enum {
	FOUND = 4,
	FOUND_SURELY = 10,
	FOUND_ENOUGH = 8,
	FOUND_MOST = 15,
	FOUND_BITS = 4
};
enum { BOND_PARTS = 10 };
#define BOND_NS  2000000000ULL
#define DOUBT_NS 500000000ULL

void gkl_share_let_in(struct gkl_share *share, uint64_t since_ns,
		      uint64_t now_ns)
{
	uint64_t before = atomic_exchange(&share->launched_ns, now_ns);
	uint64_t length, place;

	since_ns = min(since_ns, before);
	if (now_ns < since_ns + MEET_LEAST_NS)
		return;
	length = min((now_ns - since_ns) / US, LENGTH_MASK);
	place = atomic_fetch_add(&share->waited, 1) % GKL_SHARE_WAITS;
	atomic_store(&share->wait[place],
		     (now_ns / US) << LENGTH_BITS | length);
}

void gkl_share_were_let_in(struct gkl_share *share, uint64_t now_ns)
{
	atomic_store_explicit(&share->launched_ns, now_ns,
			      memory_order_relaxed);
}

uint64_t gkl_share_launched(const struct gkl_share *share)
{
	return load(&share->launched_ns);
}

/* Whether the wait began before the kernel did, and ended shortly before it. */
static bool explains(uint64_t wait, uint64_t begin_ns, uint64_t end_ns,
		     uint64_t soon_ns)
{
	/* The difference of ends wraps as they do. */
	uint64_t apart_us =
	    ((end_ns / US << LENGTH_BITS) - (wait & ~LENGTH_MASK)) >>
	    LENGTH_BITS;
	uint64_t length_ns = (wait & LENGTH_MASK) * US;

	return wait && apart_us <= soon_ns / US &&
	       (length_ns == LENGTH_MASK * US ||
		apart_us * US + length_ns >= end_ns - begin_ns);
}

static bool find_wait(const struct gkl_share *other, uint64_t begin_ns,
		      uint64_t end_ns, uint64_t soon_ns)
{
	for (unsigned i = 0; i < GKL_SHARE_WAITS; i++)
		if (explains(load(&other->wait[i]), begin_ns, end_ns, soon_ns))
			return true;
	return false;
}

static _Atomic uint64_t *bond_of(struct gkl_share *const share[],
				 unsigned int a, unsigned int b)
{
	return a < b ? &share[a]->bond[b] : &share[b]->bond[a];
}

static uint64_t count_found(uint64_t bond)
{
	return bond & ((1 << FOUND_BITS) - 1);
}

static uint64_t weigh(const struct gkl_share *other, uint64_t begin_ns,
		      uint64_t end_ns, uint64_t least_ns)
{
	uint64_t waited_ns = end_ns - begin_ns - least_ns;
	uint64_t soon_ns = SOON_NS + least_ns * 5 / 4;

	if (waited_ns > SOON_PART * soon_ns &&
	    find_wait(other, begin_ns, end_ns,
		      soon_ns + waited_ns / SURELY_PART))
		return FOUND_SURELY;
	return find_wait(other, begin_ns, end_ns,
			 soon_ns + waited_ns / SOON_PART)
		   ? FOUND
		   : 0;
}

static void tie(_Atomic uint64_t *bond, uint64_t found, uint64_t until_ns)
{
	uint64_t was = load(bond), count = count_found(was);

	if (found)
		atomic_store(bond, until_ns << FOUND_BITS |
				       min(count + found - 1, FOUND_MOST));
	else if (count)
		atomic_store(bond, was - 1);
}

/* They began together: that one of them took longer tells nothing. */
static bool began_together(const struct gkl_share *other, uint64_t begin_ns)
{
	uint64_t launched = load(&other->launched_ns);

	return launched < begin_ns + MEET_LEAST_NS &&
	       begin_ns < launched + MEET_LEAST_NS;
}

unsigned int gkl_share_meet(struct gkl_share *const share[], unsigned int count,
			    unsigned int mine, uint64_t begin_ns,
			    uint64_t end_ns, uint64_t least_ns)
{
	uint64_t until_ns = end_ns + BOND_NS + BOND_PARTS * (end_ns - begin_ns);
	uint64_t most = 0;

	if (end_ns < begin_ns + least_ns + MEET_LEAST_NS)
		return 0;
	for (unsigned int i = 0; i < count; i++) {
		uint64_t found;

		if (i == mine || began_together(share[i], begin_ns))
			continue;
		found = weigh(share[i], begin_ns, end_ns, least_ns);
		tie(bond_of(share, mine, i), found, until_ns);
		most = max(most, found);
	}
	return most == FOUND_SURELY ? 2 : most == FOUND ? 1 : 0;
}

enum gkl_partners gkl_share_partners(struct gkl_share *const share[],
				     unsigned int a, unsigned int b,
				     uint64_t now_ns)
{
	uint64_t bond = load(bond_of(share, a, b));
	uint64_t until_ns = bond >> FOUND_BITS;

	if (count_found(bond) < FOUND_ENOUGH || until_ns + DOUBT_NS < now_ns)
		return GKL_NO_PARTNERS;
	return until_ns < now_ns ? GKL_WERE_PARTNERS : GKL_PARTNERS;
}
