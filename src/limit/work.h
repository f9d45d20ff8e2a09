/* SPDX-License-Identifier: Apache-2.0 */
/*
 * work.h - how long launched work takes: a table of this process, keyed by what
 * is launched (a function and the size of its grid, or a graph). A new entry
 * replaces an old one at the same index. Any thread, no locks; a value may be
 * slightly out of date.
 */
#ifndef GKL_WORK_H
#define GKL_WORK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { GKL_WORKS = 4096 };

struct gkl_work_entry {
	_Atomic uint64_t key;  /* 0: nothing */
	_Atomic uint64_t time; /* see work.c */
	_Atomic uint64_t most_ns, grown, swings_ns;
};

struct gkl_work_table {
	struct gkl_work_entry entry[GKL_WORKS];
};

/*
 * usual: the average; least: the shortest of the last measurements, which is
 * what the work takes when it waits for nobody; most: the longest if the work
 * swings, else 0. Work swings if it has become much longer more than once
 * lately, so that the average does not predict the next measurement.
 */
struct gkl_work_time {
	uint64_t usual_ns, least_ns, most_ns;
};

/* The key of some work; never 0. */
static inline uint64_t gkl_work_key(uint64_t what, uint64_t size)
{
	uint64_t x = what * 0x9e3779b97f4a7c15ULL + size;

	x = (x ^ x >> 32) * 0xbf58476d1ce4e5b9ULL;
	return (x ^ x >> 29) | 1;
}

bool gkl_work_find(const struct gkl_work_table *table, uint64_t key,
		   struct gkl_work_time *ret_time);

/* Records that the work took ns, as measured at now_ns. */
void gkl_work_learn(struct gkl_work_table *table, uint64_t key, uint64_t ns,
		    uint64_t now_ns);

#endif
