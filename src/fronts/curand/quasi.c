/* SPDX-License-Identifier: Apache-2.0 */
/* quasi.c - computes the numbers of Sobol' sequences. */
#include "fronts/curand/quasi.h"

#include "base/assert.h"
#include "fronts/curand/joe_kuo.h"

#include <stdlib.h>

bool quasi_open(struct quasi *q, unsigned bits, bool scrambled,
		unsigned dimensions, uint64_t offset)
{
	*q = (struct quasi){
	    .bits = bits, .dimensions = dimensions, .next = offset};
	q->vectors = calloc((size_t)dimensions * bits, sizeof *q->vectors);
	q->constants = calloc(dimensions, sizeof *q->constants);
	if (!q->vectors || !q->constants) {
		quasi_close(q);
		return false;
	}
	for (unsigned d = 0; d < dimensions; d++) {
		joe_kuo_vectors(d, bits, scrambled, q->vectors + d * bits);
		if (scrambled)
			q->constants[d] = joe_kuo_constant(d, bits);
	}
	return true;
}

void quasi_close(struct quasi *q)
{
	free(q->vectors);
	free(q->constants);
	q->vectors = q->constants = NULL;
}

uint64_t quasi_at(const struct quasi *q, unsigned dimension, uint64_t index)
{
	uint64_t gray = index ^ index >> 1, x;

	GK_ASSERT(dimension < q->dimensions);
	x = q->constants[dimension];
	for (unsigned bit = 0; bit < q->bits; bit++)
		if (gray >> bit & 1)
			x ^= q->vectors[dimension * q->bits + bit];
	return x;
}
