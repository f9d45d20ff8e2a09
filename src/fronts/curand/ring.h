/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ring.h - pseudorandom generators as a ring of engines, which take turns. An
 * engine generates a subsequence of one algorithm; in a turn it gives one
 * number, or a few that belong together. cuRAND's ordering determines the
 * number of engines.
 */
#ifndef GKF_CURAND_RING_H
#define GKF_CURAND_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum draw {
	DRAW_BITS,
	DRAW_UNIFORM,
	DRAW_NORMAL,
	DRAW_UNIFORM_2,
	DRAW_NORMAL_2
};

/* The numbers of a turn: bits, floats or, for DRAW_..._2, doubles. */
union turn {
	uint32_t bits[4];
	float f[4];
	double d[4];
};

struct ring;

struct ring_type {
	int type;
	size_t size; /* bytes per engine */
	unsigned (*count)(int ordering);
	/* Seeds the engines as if `offset` numbers had been drawn. */
	void (*start)(struct ring *r, uint64_t seed, uint64_t offset,
		      int ordering);
	/* Gives the next engine a turn; returns the count of numbers. */
	unsigned (*draw)(struct ring *r, enum draw what, union turn *out);
	/*
	 * Advances the engine when all numbers of the turn have been used; NULL
	 * if draw() has done so already.
	 */
	void (*finish)(struct ring *r, enum draw what);
};

struct ring {
	const struct ring_type *type;
	/* used: how many numbers of the current turn have been used */
	unsigned count, next, used;
	uint32_t key[2];
	unsigned char *engines;
};

extern const struct ring_type ring_xorwow, ring_mrg32k3a, ring_philox,
    ring_mt19937;

/* Returns false when out of memory. Free it with ring_close(). */
bool ring_open(struct ring *r, const struct ring_type *type, uint64_t seed,
	       uint64_t offset, int ordering);
void ring_close(struct ring *r);

/*
 * Draws a turn into *out and returns its count of numbers. The first *ret_from
 * of them were already used.
 */
unsigned ring_draw(struct ring *r, enum draw what, union turn *out,
		   unsigned *ret_from);

/* Marks `count` more of the current turn's `width` numbers as used. */
void ring_take(struct ring *r, enum draw what, unsigned width, unsigned count);

/* A draw() for generators whose engines give 32 bits at a time. */
unsigned ring_draw_words(uint32_t (*word)(void *engine), void *engine,
			 enum draw what, union turn *out);

void philox_block(const uint32_t counter[4], const uint32_t key[2],
		  uint32_t out[4]);

#endif
