/* SPDX-License-Identifier: Apache-2.0 */
/*
 * share.c - counts the GPU time that a group has used, in 64-bit words of the
 * group's ledger that its processes update atomically.
 */
#include "limit/share.h"
#include "base/assert.h"
#include "base/min.h"
#include "limit/ledger.h"
#include "limit/word.h"

#include <stddef.h>

_Static_assert(sizeof(struct gkl_share) <= GKL_SHARE_BYTES,
	       "it has room in the ledger");

#define PERCENT_BITS 7
#define PERCENT_MASK ((1ULL << PERCENT_BITS) - 1)
#define NS_BITS      24
#define NS_MASK      ((1ULL << NS_BITS) - 1)
_Static_assert(GKL_SHARE_SEEN_NS <= NS_MASK, "a whole bin has room");

/*
 * The most debt that is kept, and the longest single wait. At the next launch,
 * any larger debt is forgotten (the machine may have been asleep). So a kernel
 * of more than 60 s * percent / 100 may get more than its share.
 */
#define OWED_NS 60000000000LL

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
 * How far the `due` time in a word is ahead of now, in clock time. Negative: it
 * is past, and the difference is saved time. When the percentage changes, the
 * debt in device time stays the same.
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

int64_t gkl_share_level(struct gkl_share *share, unsigned int percent,
			uint64_t now_ns)
{
	GK_ASSERT(percent > 0 && percent <= GKL_SHARE_ALONE);
	return -read_ahead(gkl_load_word(&share->due), percent, now_ns) *
	       (int64_t)percent / 100;
}

uint64_t gkl_share_wait(struct gkl_share *share, unsigned int percent,
			uint64_t now_ns, uint64_t saved_ns)
{
	int64_t ahead;

	GK_ASSERT(percent > 0 && percent <= GKL_SHARE_ALONE);
	ahead = read_ahead(gkl_load_word(&share->due), percent, now_ns) +
		(int64_t)saved_ns;
	return ahead > 0 ? (uint64_t)ahead : 0;
}

void gkl_share_take(struct gkl_share *share, unsigned int percent,
		    uint64_t now_ns, int64_t ns)
{
	uint64_t was = gkl_load_word(&share->due), is;
	int64_t span;

	GK_ASSERT(percent > 0 && percent <= GKL_SHARE_ALONE);
	span = clamp(ns, -OWED_NS, OWED_NS) * 100 / (int64_t)percent;
	do
		is = make_due(read_ahead(was, percent, now_ns) + span, percent,
			      now_ns);
	while (!atomic_compare_exchange_weak(&share->due, &was, is));
}

/* ---- busy time ---- */

static uint64_t bin_ns(uint64_t word, uint64_t bin)
{
	return word >> NS_BITS == bin ? word & NS_MASK : 0;
}

/*
 * A ring of bins. Each bin stands for length_ns of time, and so holds at most
 * length_ns of busy time.
 */
struct ring {
	_Atomic uint64_t *bin;
	uint64_t count, length_ns;
};

static struct ring united_ring(struct gkl_share *share)
{
	return (struct ring){share->bin, GKL_SHARE_BINS, GKL_SHARE_BIN_NS};
}

static struct ring seen_ring(struct gkl_share *share)
{
	return (struct ring){share->seen, GKL_SHARE_SEEN, GKL_SHARE_SEEN_NS};
}

/* Adds ns to a bin; returns how much of it fitted. */
static uint64_t fill_bin(const struct ring *ring, uint64_t bin, uint64_t ns)
{
	_Atomic uint64_t *word = &ring->bin[bin % ring->count];
	uint64_t was = gkl_load_word(word), had, has;

	do {
		if (was >> NS_BITS > bin)
			return ns; /* too late: the bin was reused */
		had = bin_ns(was, bin);
		has = gk_min(had + ns, ring->length_ns);
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
		uint64_t until = gk_min((bin + 1) * ring->length_ns, end_ns);

		filled += fill_bin(ring, bin, until - begin_ns);
		begin_ns = until;
	}
	return filled;
}

/* The beginning of a ring that ends at end_ns. */
static uint64_t find_begin(const struct ring *ring, uint64_t end_ns)
{
	uint64_t last = end_ns / ring->length_ns;

	return last < ring->count ? 0
				  : (last - ring->count + 1) * ring->length_ns;
}

/*
 * For an interval that begins before the ring's oldest bin: returns how much of
 * its part before that bin was not counted yet. The ring has no bins for such
 * old time. Instead, far_ns is the latest end of all such intervals so far, and
 * all time before far_ns counts as covered.
 */
static uint64_t cover_far(struct gkl_share *share, uint64_t begin_ns,
			  uint64_t ring_ns, uint64_t end_ns)
{
	uint64_t was = gkl_load_word(&share->far_ns), from;

	while (was < end_ns &&
	       !atomic_compare_exchange_weak(&share->far_ns, &was, end_ns))
		;
	from = max(begin_ns, was);
	return from < ring_ns ? ring_ns - from : 0;
}

uint64_t gkl_share_cover(struct gkl_share *share, uint64_t begin_ns,
			 uint64_t end_ns)
{
	struct ring ring = united_ring(share);
	uint64_t from = find_begin(&ring, end_ns), covered = 0;

	if (begin_ns < from) {
		covered = cover_far(share, begin_ns, from, end_ns);
		begin_ns = from;
	}
	return covered + fill_ring(&ring, begin_ns, end_ns);
}

void gkl_share_show(struct gkl_share *share, uint64_t begin_ns, uint64_t end_ns)
{
	struct ring ring = seen_ring(share);

	fill_ring(&ring, max(begin_ns, find_begin(&ring, end_ns)), end_ns);
}

uint64_t gkl_share_busy(const struct gkl_share *share, uint64_t now_ns,
			uint64_t window_ns)
{
	uint64_t last = now_ns / GKL_SHARE_SEEN_NS, busy = 0, count;

	count = gk_min(window_ns / GKL_SHARE_SEEN_NS, GKL_SHARE_SEEN - 1);
	for (uint64_t bin = last - gk_min(count, last); bin < last; bin++)
		busy += bin_ns(
		    gkl_load_word(&share->seen[bin % GKL_SHARE_SEEN]), bin);
	return busy;
}

void gkl_share_want(struct gkl_share *share, uint64_t now_ns)
{
	atomic_store_explicit(&share->wanted_ns, now_ns, memory_order_relaxed);
}

uint64_t gkl_share_wanted(const struct gkl_share *share)
{
	return gkl_load_word(&share->wanted_ns);
}

/* ---- kernels that wait for each other ---- */

/*
 * An interval in one word: the low bits of its end, and its length, both in
 * microseconds.
 */
#define US          1000ULL
#define LENGTH_BITS 23
#define LENGTH_MASK ((1ULL << LENGTH_BITS) - 1)

/* Shorter waits are ignored. */
#define MEET_LEAST_NS 500000ULL

/*
 * A kernel that waited for a launch ends soon after that launch: within
 * SOON_NS, plus the kernel's own run time and a part of its wait. If the wait
 * was many times longer than that, this is unlikely to be chance.
 */
#define SOON_NS (200 * US)
enum { SOON_PART = 8, SURELY_PART = 32 };

/*
 * A bond between two devices says how much evidence was found lately that their
 * kernels wait for each other, and until when that evidence counts. That
 * time is longer than any wait that the bond itself causes.
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

	since_ns = gk_min(since_ns, before);
	if (now_ns < since_ns + MEET_LEAST_NS)
		return;
	length = gk_min((now_ns - since_ns) / US, LENGTH_MASK);
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
	return gkl_load_word(&share->launched_ns);
}

/*
 * Whether a launch waited from before the kernel's beginning until shortly
 * before the kernel's end.
 */
static bool explains_kernel(uint64_t wait, uint64_t begin_ns, uint64_t end_ns,
			    uint64_t soon_ns)
{
	/* The recorded ends wrap around, and so does the difference. */
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
		if (explains_kernel(gkl_load_word(&other->wait[i]), begin_ns,
				    end_ns, soon_ns))
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

static uint64_t weigh_wait(const struct gkl_share *other, uint64_t begin_ns,
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

static void tie_bond(_Atomic uint64_t *bond, uint64_t found, uint64_t until_ns)
{
	uint64_t was = gkl_load_word(bond), count = count_found(was);

	if (found)
		atomic_store(bond, until_ns << FOUND_BITS |
				       gk_min(count + found - 1, FOUND_MOST));
	else if (count)
		atomic_store(bond, was - 1);
}

/*
 * Whether the kernels of two devices began together, so that it proves nothing
 * if one of them took longer.
 */
static bool began_together(const struct gkl_share *other, uint64_t begin_ns)
{
	uint64_t launched = gkl_load_word(&other->launched_ns);

	return launched < begin_ns + MEET_LEAST_NS &&
	       begin_ns < launched + MEET_LEAST_NS;
}

unsigned int gkl_share_meet(struct gkl_share *const share[], unsigned int count,
			    unsigned int mine, uint64_t begin_ns,
			    uint64_t end_ns, uint64_t least_ns)
{
	uint64_t until_ns = end_ns + BOND_NS + BOND_PARTS * (end_ns - begin_ns);
	uint64_t most = 0;

	GK_ASSERT(mine < count && count <= GKL_SHARE_PARTNERS);
	if (end_ns < begin_ns + least_ns + MEET_LEAST_NS)
		return 0;
	for (unsigned int i = 0; i < count; i++) {
		uint64_t found;

		if (i == mine || began_together(share[i], begin_ns))
			continue;
		found = weigh_wait(share[i], begin_ns, end_ns, least_ns);
		tie_bond(bond_of(share, mine, i), found, until_ns);
		most = max(most, found);
	}
	return most == FOUND_SURELY ? 2 : most == FOUND ? 1 : 0;
}

enum gkl_partners gkl_share_partners(struct gkl_share *const share[],
				     unsigned int a, unsigned int b,
				     uint64_t now_ns)
{
	uint64_t bond, until_ns;

	GK_ASSERT(a != b && a < GKL_SHARE_PARTNERS && b < GKL_SHARE_PARTNERS);
	bond = gkl_load_word(bond_of(share, a, b));
	until_ns = bond >> FOUND_BITS;
	if (count_found(bond) < FOUND_ENOUGH || until_ns + DOUBT_NS < now_ns)
		return GKL_NO_PARTNERS;
	return until_ns < now_ns ? GKL_WERE_PARTNERS : GKL_PARTNERS;
}
