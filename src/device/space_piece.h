/* SPDX-License-Identifier: Apache-2.0 */
/*
 * space_piece.h - a table of live pieces of memory, by number. Writers hold the
 * lock of the table's owner. Readers take no lock: each piece has a sequence
 * word, which is odd while the piece changes.
 */
#ifndef GKF_SPACE_PIECE_H
#define GKF_SPACE_PIECE_H

#include "device/space.h"

#include <stdatomic.h>

#define PIECE_PAGE  4096
#define PIECE_PAGES 4096

/* The contents of a piece. */
struct piece_words {
	uint64_t base, size;
	uint64_t owner, pool, id;
	uint32_t kind, device, flags, units;
};

#define PIECE_WORDS (sizeof(struct piece_words) / sizeof(uint64_t))
union piece_bits {
	struct piece_words words;
	uint64_t raw[PIECE_WORDS];
};

struct piece {
	_Atomic uint64_t seq;  /* odd while the piece is being changed */
	union piece_bits bits; /* size 0: free */
	uint32_t next_free;    /* number of the next free piece */
};

/* Numbers start at 1. */
struct pieces {
	_Atomic(struct piece *) page[PIECE_PAGES];
	/* how many numbers have been handed out so far */
	_Atomic uint32_t high;
	uint32_t first_free;
};

/*
 * Stores a new piece and returns its number; 0: no memory or no number is left.
 */
uint32_t piece_new(struct pieces *p, const struct piece_words *words);
void piece_change(struct pieces *p, uint32_t number,
		  const struct piece_words *words);
void piece_free(struct pieces *p, uint32_t number);

/*
 * Copies a live piece consistently; returns false if there is none with that
 * number.
 */
bool piece_read(const struct pieces *p, uint32_t number,
		struct piece_words *ret_words);

#endif
