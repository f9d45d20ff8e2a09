/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compact.h - gathers the program's strided vectors into contiguous ones for
 * kernels' bodies, and scatters them back.
 */
#ifndef GKF_CUBLAS_COMPACT_H
#define GKF_CUBLAS_COMPACT_H

#include "fronts/cublas/blas.h"

struct compact {
	char *at;    /* the contiguous elements */
	char *own;   /* the copy to be freed, or NULL if `at` is not a copy */
	char *place; /* the lowest address of the program's vector */
	int64_t n, inc;
	size_t size;
};

/*
 * Gathers a vector: copies it if its increment is not 1 or if `copied` is set.
 * On failure there is nothing to free.
 */
CUresult compact_take(struct gpukit_run *run, enum gpukit_access access,
		      uint64_t at, enum element type, int64_t n, int64_t inc,
		      bool copied, struct compact *ret);

/* Copies the elements back to the program's vector, if they are a copy. */
void compact_put(const struct compact *v);

#endif
