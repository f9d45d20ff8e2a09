/*
 * space_fit.h - which spans of a row of units are free: any length is found,
 * taken and given back, merged with its neighbours, in constant time.
 *
 * Free spans hang in lists by length, each power of two cut in 16. What is
 * noted of a span stands at its first and its last unit. The caller locks.
 */
#ifndef GKF_SPACE_FIT_H
#define GKF_SPACE_FIT_H

#include <stdbool.h>
#include <stdint.h>

#define FIT_CUTS       16
#define FIT_ROWS       28 /* lengths below 2^31 */
#define FIT_PAGE_SHIFT 12 /* units of a page of notes */

struct fit_note {
	uint32_t ahead; /* length of the free span that starts here, or 0 */
	uint32_t back;  /* of the one that ends here, or 0 */
	uint32_t prev, next; /* in its list, unit + 1, or 0; at its first */
};

struct fit {
	struct fit_note **page; /* by unit >> FIT_PAGE_SHIFT */
	uint32_t units;         /* at the most */
	uint32_t apart; /* spans do not grow over multiples of it; 0: they do */
	uint32_t rows;  /* a bit for each row that has a list */
	uint32_t cuts[FIT_ROWS];
	uint32_t head[FIT_ROWS][FIT_CUTS]; /* unit + 1 */
};

/*
 * Takes n units, the first at a multiple of align (a power of two). False: no
 * free span is long enough.
 */
bool fit_take(struct fit *f, uint32_t n, uint32_t align, uint32_t *ret_unit);

/*
 * Takes these very units; false: not all of them are free. It looks through all
 * free spans.
 */
bool fit_take_at(struct fit *f, uint32_t unit, uint32_t n);

/* Gives units back; answers the free span that they are part of now. */
void fit_give(struct fit *f, uint32_t unit, uint32_t n, uint32_t *ret_first,
	      uint32_t *ret_length);

/* Takes a whole free span, by its first unit. */
void fit_remove(struct fit *f, uint32_t first);

#endif
