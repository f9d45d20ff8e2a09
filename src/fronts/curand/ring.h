/*
 * ring.h - pseudorandom generators: a ring of engines, the subsequences of one
 * algorithm, which take turns. Each turn gives one number, or a few that belong
 * together. Which engine gives which number is what cuRAND calls ordering.
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

/* The numbers of a turn: bits, float, or (_2) double. */
union turn {
	uint32_t bits[4];
	float f[4];
	double d[4];
};

struct ring;

struct ring_type {
	int type;
	size_t size; /* bytes of an engine */
	unsigned (*count)(int ordering);
	/* The engines of a seed, where `offset` numbers have been drawn. */
	void (*start)(struct ring *r, uint64_t seed, uint64_t offset,
		      int ordering);
	/* Draws; returns how many numbers. */
	unsigned (*draw)(struct ring *r, enum draw what, union turn *out);
	/* The turn that was drawn is used up; NULL: drawing did that. */
	void (*finish)(struct ring *r, enum draw what);
};

struct ring {
	const struct ring_type *type;
	unsigned count, next, used; /* `used` of the next engine's turn */
	uint32_t key[2];
	unsigned char *engines;
};

extern const struct ring_type ring_xorwow, ring_mrg32k3a, ring_philox,
    ring_mt19937;

/* false: no memory. ring_close() frees it. */
bool ring_open(struct ring *r, const struct ring_type *type, uint64_t seed,
	       uint64_t offset, int ordering);
void ring_close(struct ring *r);

/* Puts the numbers of the next turn into *out; returns how many, from where. */
unsigned ring_draw(struct ring *r, enum draw what, union turn *out,
		   unsigned *ret_from);

/* `count` of them were taken. */
void ring_take(struct ring *r, enum draw what, unsigned width, unsigned count);

/* For generators that draw 32 bits at a time. */
unsigned ring_draw_words(uint32_t (*word)(void *engine), void *engine,
			 enum draw what, union turn *out);

void philox_block(const uint32_t counter[4], const uint32_t key[2],
		  uint32_t out[4]);

#endif
