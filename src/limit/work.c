/*
 * work.c - owns the table of how long work takes.
 */
#include "limit/work.h"

/*
 * A time in a word: average and least in units of 64 ns, of 32 and 31 bits.
 * The least creeps up by a 64th of the way to each longer measure, so that work
 * that has become longer is known soon, and work of which every other one waits
 * for somebody keeps the time that it takes by itself.
 */
#define UNIT_NS    64ULL
#define LEAST_BITS 31
#define MOST       ((1ULL << LEAST_BITS) - 1)

/* The highest bit of the word: it swings. */
#define SWINGS (1ULL << 63)

/*
 * Work has grown that takes so much longer than on average; not if it is short
 * even so. It swings if it grows so often in so many measures, and for ten
 * seconds more: one measure alone may be long by chance.
 */
enum { GROWN = 4, OFTEN = 3, OFTEN_OF = 24 };
#define GROWN_NS  100000ULL
#define SWINGS_NS 10000000000ULL

static unsigned int find_place(uint64_t key)
{
	return key >> 32 & (GKL_WORKS - 1);
}

static uint64_t load(const _Atomic uint64_t *word)
{
	return atomic_load_explicit(word, memory_order_relaxed);
}

static void store(_Atomic uint64_t *word, uint64_t value)
{
	atomic_store_explicit(word, value, memory_order_relaxed);
}

bool gkl_work_find(const struct gkl_work_table *table, uint64_t key,
		   struct gkl_work_time *ret_time)
{
	const struct gkl_work_entry *entry = &table->entry[find_place(key)];
	uint64_t time;

	if (load(&entry->key) != key)
		return false;
	time = load(&entry->time);
	ret_time->usual_ns = (time & ~SWINGS) >> LEAST_BITS;
	ret_time->usual_ns *= UNIT_NS;
	ret_time->least_ns = (time & MOST) * UNIT_NS;
	ret_time->most_ns = time & SWINGS ? load(&entry->most_ns) : 0;
	return true;
}

/* A part of the way from one to the other, one at least. */
static uint64_t go_to(uint64_t from, uint64_t to, uint64_t parts)
{
	if (to < from)
		return from - (from - to + parts - 1) / parts;
	return from + (to - from + parts - 1) / parts;
}

/* How often it grew in the last measures, of which the first grew; how many
 * they are, and that, in a word. */
static uint64_t count_grown(struct gkl_work_entry *entry, bool grew)
{
	uint64_t word = load(&entry->grown), count = word & 3;
	uint64_t measures = (word >> 2) + 1;

	if (!count || measures > OFTEN_OF)
		measures = count = 0;
	if (grew && count < OFTEN)
		count++;
	store(&entry->grown, measures << 2 | count);
	return grew ? count : 0;
}

/* Whether work swings that took usual_ns until it was measured. */
static bool learn_swing(struct gkl_work_entry *entry, uint64_t usual_ns,
			uint64_t ns, uint64_t now_ns)
{
	bool grew = ns > GROWN * usual_ns && ns >= GROWN_NS;

	if (count_grown(entry, grew) >= OFTEN) {
		if (load(&entry->swings_ns) < now_ns)
			store(&entry->most_ns, ns);
		store(&entry->swings_ns, now_ns + SWINGS_NS);
	}
	if (ns > load(&entry->most_ns))
		store(&entry->most_ns, ns);
	return now_ns < load(&entry->swings_ns);
}

void gkl_work_learn(struct gkl_work_table *table, uint64_t key, uint64_t ns,
		    uint64_t now_ns)
{
	struct gkl_work_entry *entry = &table->entry[find_place(key)];
	uint64_t units = ns / UNIT_NS, usual, least, time, swings = 0;

	units = units < 1 ? 1 : units < MOST ? units : MOST;
	usual = least = units;
	if (load(&entry->key) == key) {
		time = load(&entry->time) & ~SWINGS;
		usual = time >> LEAST_BITS;
		least = time & MOST;
		if (learn_swing(entry, usual * UNIT_NS, ns, now_ns))
			swings = SWINGS;
		/* The first may have waited for somebody, or for code. */
		usual = usual == least && units < least
			    ? units
			    : go_to(usual, units, 8);
		least = units < least ? units : go_to(least, units, 64);
	} else {
		store(&entry->grown, 0);
		store(&entry->swings_ns, 0);
	}
	store(&entry->time, swings | usual << LEAST_BITS | least);
	store(&entry->key, key);
}
