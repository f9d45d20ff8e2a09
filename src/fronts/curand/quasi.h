/* SPDX-License-Identifier: Apache-2.0 */
/* quasi.h - Sobol' sequences: points in many dimensions, in Gray code order. */
#ifndef GKF_CURAND_QUASI_H
#define GKF_CURAND_QUASI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct quasi {
	unsigned bits, dimensions;
	uint64_t next; /* the index of the next point */
	uint64_t *vectors, *constants;
};

/* Returns false when out of memory. Free it with quasi_close(). */
bool quasi_open(struct quasi *q, unsigned bits, bool scrambled,
		unsigned dimensions, uint64_t offset);
void quasi_close(struct quasi *q);

/* Returns a coordinate of the point with the given index. */
uint64_t quasi_at(const struct quasi *q, unsigned dimension, uint64_t index);

/*
 * Returns a coordinate of the next point; x is the coordinate of the point at
 * index.
 */
static inline uint64_t quasi_step(const struct quasi *q, unsigned dimension,
				  uint64_t x, uint64_t index)
{
	unsigned bit = ~index ? (unsigned)__builtin_ctzll(~index) : q->bits;

	return bit < q->bits ? x ^ q->vectors[dimension * q->bits + bit] : x;
}

#endif
