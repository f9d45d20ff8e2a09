/*
 * work.h - how long what a process launches takes: a table of its own, by what
 * is launched (a function and the size of its grid, or a graph). It forgets
 * what has not been seen for long when others need the room. Any thread, no
 * locks; a value may be a little old.
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
 * usual: what it takes on average; least: the shortest of the last ones, which
 * is what it takes when it waits for nobody. most: the longest, of work that
 * swings: lately it became much longer more than once, and the average tells
 * nothing of the next. Else 0.
 */
struct gkl_work_time {
	uint64_t usual_ns, least_ns, most_ns;
};

/* Never 0. */
static inline uint64_t gkl_work_key(uint64_t what, uint64_t size)
{
	uint64_t x = what * 0x9e3779b97f4a7c15ULL + size;

	x = (x ^ x >> 32) * 0xbf58476d1ce4e5b9ULL;
	return (x ^ x >> 29) | 1;
}

bool gkl_work_find(const struct gkl_work_table *table, uint64_t key,
		   struct gkl_work_time *ret_time);

/* It was measured at now_ns. */
void gkl_work_learn(struct gkl_work_table *table, uint64_t key, uint64_t ns,
		    uint64_t now_ns);

#endif
