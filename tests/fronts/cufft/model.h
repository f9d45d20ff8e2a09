/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model.h - computes the discrete Fourier transform by its definition, and the
 * places of a layout's data, to compare the library with.
 */
#ifndef TESTS_CUFFT_MODEL_H
#define TESTS_CUFFT_MODEL_H

#include <complex.h>
#include <math.h>
#include <stdbool.h>

typedef complex long double number;

/* Strides count elements; half: the last dimension has n / 2 + 1. */
struct side {
	long long embed[3], stride, dist;
};

/* The number at (x, y, z) of an array of n[0] x n[1] x n[2]. */
static inline int model_index(const int n[3], int x, int y, int z)
{
	return (x * n[1] + y) * n[2] + z;
}

static inline void model_table(number *w, int n, int sign)
{
	for (int i = 0; i < n; i++) {
		long double angle = 2 * acosl(-1) * i / n * sign;

		w[i] = cosl(angle) + sinl(angle) * I;
	}
}

/* One number of a transform: a sum over the whole input. */
static inline number model_one(const int n[3], number *const w[3],
			       const number *from, int x, int y, int z)
{
	number sum = 0;

	for (int i = 0; i < n[0]; i++)
		for (int j = 0; j < n[1]; j++)
			for (int k = 0; k < n[2]; k++)
				sum += from[model_index(n, i, j, k)] *
				       w[0][(long)i * x % n[0]] *
				       w[1][(long)j * y % n[1]] *
				       w[2][(long)k * z % n[2]];
	return sum;
}

/* Unnormalised, like cuFFT; sign -1 is forward. */
static inline void model_transform(const int n[3], const number *from,
				   number *to, int sign)
{
	number *w[3];

	for (int d = 0; d < 3; d++) {
		w[d] = malloc((size_t)n[d] * sizeof(number));
		model_table(w[d], n[d], sign);
	}
	for (int x = 0; x < n[0]; x++)
		for (int y = 0; y < n[1]; y++)
			for (int z = 0; z < n[2]; z++)
				to[model_index(n, x, y, z)] =
				    model_one(n, w, from, x, y, z);
	for (int d = 0; d < 3; d++)
		free(w[d]);
}

/* The place of an element; leading dimensions of length 1 have embed 1. */
static inline long long model_place(const struct side *s, long long batch,
				    int x, int y, int z)
{
	return batch * s->dist +
	       ((x * s->embed[1] + y) * s->embed[2] + z) * s->stride;
}

#endif
