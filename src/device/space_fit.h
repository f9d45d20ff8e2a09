/* SPDX-License-Identifier: Apache-2.0 */
/*
 * space_fit.h - an allocator of units (blocks, or parts of a block) in a row of
 * units: two-level segregated fit (TLSF, Masmano et al. 2004). Taking units and
 * giving them back take constant time, except when the device is nearly full
 * (see space_fit.c). A span of units that is given back merges with its free
 * neighbours.
 *
 * Free spans are in lists by length: FIT_ROWS rows, one per power of two, of
 * FIT_CUTS lists each, so that the lengths in a list differ by less than 1/16.
 * Two levels of bitmaps find the first list whose spans are long enough. Notes
 * about a span are stored for its first and its last unit, in a separate table,
 * because the units themselves are memory of the program. The caller locks.
 */
#ifndef GKF_SPACE_FIT_H
#define GKF_SPACE_FIT_H

#include <stdbool.h>
#include <stdint.h>

#define FIT_CUTS       16
#define FIT_ROWS       28 /* lengths up to 2^31 - 1 */
#define FIT_PAGE_SHIFT 12 /* log2 of the number of notes in a page */

struct fit_note {
	uint32_t ahead; /* length of the free span that starts here, or 0 */
	uint32_t back;  /* length of the free span that ends here, or 0 */
	/* Neighbours in the list, as first unit + 1; 0: none. */
	uint32_t prev, next;
};

struct fit {
	struct fit_note **page; /* indexed by unit >> FIT_PAGE_SHIFT */
	uint32_t units;         /* total number of units */
	/* no span crosses a multiple of this number; 0: no limit */
	uint32_t apart;
	uint32_t rows; /* one bit for each row with a free span */
	uint32_t cuts[FIT_ROWS];
	/* first unit of the first span, plus 1; 0: the list is empty */
	uint32_t head[FIT_ROWS][FIT_CUTS];
};

/*
 * Takes n units, the first of which is a multiple of align (a power of two).
 * Returns false if no free span is long enough.
 */
bool fit_take(struct fit *f, uint32_t n, uint32_t align, uint32_t *ret_unit);

/*
 * Takes exactly these units; returns false if not all of them are free.
 * Searches all free spans.
 */
bool fit_take_at(struct fit *f, uint32_t unit, uint32_t n);

/* Gives units back; returns the free span that now contains them. */
void fit_give(struct fit *f, uint32_t unit, uint32_t n, uint32_t *ret_first,
	      uint32_t *ret_length);

/* Removes the free span that starts at `first` from its list. */
void fit_remove(struct fit *f, uint32_t first);

#endif
