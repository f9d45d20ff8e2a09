/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compact.c - gathers strided vectors into contiguous ones and scatters them
 * back.
 */
#include "fronts/cublas/level/compact.h"

#include <stdlib.h>
#include <string.h>

/* Returns element i of the program's vector. */
static char *element_of(const struct compact *v, int64_t i)
{
	int64_t from = v->inc < 0 ? (v->n - 1) * -v->inc : 0;

	return v->place + (from + i * v->inc) * (int64_t)v->size;
}

CUresult compact_take(struct gpukit_run *run, enum gpukit_access access,
		      uint64_t at, enum element type, int64_t n, int64_t inc,
		      bool copied, struct compact *ret)
{
	struct compact v = {.n = n, .inc = inc, .size = element_size(type)};

	v.place = blas_place_vector(run, access, at, type, n, inc);
	if (!v.place)
		return CUDA_ERROR_ILLEGAL_ADDRESS;
	v.at = v.place;
	if (inc != 1 || copied) {
		v.at = v.own = malloc((size_t)n * v.size);
		if (!v.own)
			return CUDA_ERROR_OUT_OF_MEMORY;
		for (int64_t i = 0; i < n; i++)
			memcpy(v.at + (size_t)i * v.size, element_of(&v, i),
			       v.size);
	}
	*ret = v;
	return CUDA_SUCCESS;
}

void compact_put(const struct compact *v)
{
	for (int64_t i = 0; v->own && i < v->n; i++)
		memcpy(element_of(v, i), v->at + (size_t)i * v->size, v->size);
}
