/* SPDX-License-Identifier: Apache-2.0 */
/* work.c - owns the table that records how long launched work takes. */
#include "limit/work.h"
#include "limit/word.h"

/*
 * A time in one word: the average and the least, in units of 64 ns, 32 and 31
 * bits. Each longer measurement raises the least by a 64th of the difference,
 * so the least soon follows when work becomes longer. If only every other
 * measurement includes a wait, the least stays the time that the work takes by
 * itself.
 */
#define UNIT_NS    64ULL
#define LEAST_BITS 31
#define MOST       ((1ULL << LEAST_BITS) - 1)

/* The highest bit: the work swings. */
#define SWINGS (1ULL << 63)

/*
 * Work has grown if it takes GROWN times its average and at least GROWN_NS. It
 * swings, for SWINGS_NS, if it grew OFTEN times in OFTEN_OF measurements: a
 * single long measurement may be chance.
 */
enum { GROWN = 4, OFTEN = 3, OFTEN_OF = 24 };
#define GROWN_NS  100000ULL
#define SWINGS_NS 10000000000ULL

static unsigned int find_place(uint64_t key)
{
	return key >> 32 & (GKL_WORKS - 1);
}

bool gkl_work_find(const struct gkl_work_table *table, uint64_t key,
		   struct gkl_work_time *ret_time)
{
	const struct gkl_work_entry *entry = &table->entry[find_place(key)];
	uint64_t time;

	if (gkl_load_word(&entry->key) != key)
		return false;
	time = gkl_load_word(&entry->time);
	ret_time->usual_ns = (time & ~SWINGS) >> LEAST_BITS;
	ret_time->usual_ns *= UNIT_NS;
	ret_time->least_ns = (time & MOST) * UNIT_NS;
	ret_time->most_ns = time & SWINGS ? gkl_load_word(&entry->most_ns) : 0;
	return true;
}

/* Moves a value towards another by 1/parts of the difference, at least by 1. */
static uint64_t go_to(uint64_t from, uint64_t to, uint64_t parts)
{
	if (to < from)
		return from - (from - to + parts - 1) / parts;
	return from + (to - from + parts - 1) / parts;
}

/*
 * Counts how often the work grew, in a window of measurements that begins with
 * a growth. The word holds the count and the number of measurements. Returns
 * the count, or 0 if the work did not grow now.
 */
static uint64_t count_grown(struct gkl_work_entry *entry, bool grew)
{
	uint64_t word = gkl_load_word(&entry->grown), count = word & 3;
	uint64_t measures = (word >> 2) + 1;

	if (!count || measures > OFTEN_OF)
		measures = count = 0;
	if (grew && count < OFTEN)
		count++;
	gkl_store_word(&entry->grown, measures << 2 | count);
	return grew ? count : 0;
}

/*
 * Records a measurement; returns whether the work swings. usual_ns: its average
 * before this measurement.
 */
static bool learn_swing(struct gkl_work_entry *entry, uint64_t usual_ns,
			uint64_t ns, uint64_t now_ns)
{
	bool grew = ns > GROWN * usual_ns && ns >= GROWN_NS;

	if (count_grown(entry, grew) >= OFTEN) {
		if (gkl_load_word(&entry->swings_ns) < now_ns)
			gkl_store_word(&entry->most_ns, ns);
		gkl_store_word(&entry->swings_ns, now_ns + SWINGS_NS);
	}
	if (ns > gkl_load_word(&entry->most_ns))
		gkl_store_word(&entry->most_ns, ns);
	return now_ns < gkl_load_word(&entry->swings_ns);
}

void gkl_work_learn(struct gkl_work_table *table, uint64_t key, uint64_t ns,
		    uint64_t now_ns)
{
	struct gkl_work_entry *entry = &table->entry[find_place(key)];
	uint64_t units = ns / UNIT_NS, usual, least, time, swings = 0;

	units = units < 1 ? 1 : units < MOST ? units : MOST;
	usual = least = units;
	if (gkl_load_word(&entry->key) == key) {
		time = gkl_load_word(&entry->time) & ~SWINGS;
		usual = time >> LEAST_BITS;
		least = time & MOST;
		if (learn_swing(entry, usual * UNIT_NS, ns, now_ns))
			swings = SWINGS;
		/* The first measurement may include a wait for other work, or
		 * the loading of code. */
		usual = usual == least && units < least
			    ? units
			    : go_to(usual, units, 8);
		least = units < least ? units : go_to(least, units, 64);
	} else {
		gkl_store_word(&entry->grown, 0);
		gkl_store_word(&entry->swings_ns, 0);
	}
	gkl_store_word(&entry->time, swings | usual << LEAST_BITS | least);
	gkl_store_word(&entry->key, key);
}
