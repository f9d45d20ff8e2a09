/*
 * space_piece.h - the pieces of memory that are alive, by number. Writers hold
 * the lock of whoever has the table; readers take none: each piece has a word
 * that is odd while it changes.
 */
#ifndef GKF_SPACE_PIECE_H
#define GKF_SPACE_PIECE_H

#include "device/space.h"

#include <stdatomic.h>

#define PIECE_PAGE  4096
#define PIECE_PAGES 4096

/* The words that are written once, when a piece comes to be. */
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
	_Atomic uint64_t seq;  /* odd: changing */
	union piece_bits bits; /* size 0: free */
	uint32_t next_free;    /* number */
};

/* Numbers begin at 1. */
struct pieces {
	_Atomic(struct piece *) page[PIECE_PAGES];
	_Atomic uint32_t high; /* numbers given so far */
	uint32_t first_free;
};

/* 0: out of memory, or of numbers. */
uint32_t piece_new(struct pieces *p, const struct piece_words *words);
void piece_change(struct pieces *p, uint32_t number,
		  const struct piece_words *words);
void piece_free(struct pieces *p, uint32_t number);

/* A whole copy of a live piece; false: there is none of that number. */
bool piece_read(const struct pieces *p, uint32_t number,
		struct piece_words *ret_words);

#endif
