/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lt_scale.h - the scales of narrow floats: one per matrix, row or block.
 *
 * An element has an inner and an outer index. In A (m x k) the outer index is
 * the row, in B (k x n) the column; the inner index of both is the one that is
 * summed over. In D (m x n) the inner index is the row, the outer one the
 * column.
 */
#ifndef GKF_CUBLAS_LT_SCALE_H
#define GKF_CUBLAS_LT_SCALE_H

#include "fronts/cublas/lt/lt_layout.h"

struct lt_scales {
	int32_t mode;          /* cublasLtMatmulMatrixScale_t */
	void *data;            /* NULL: all scales are 1, and mode is 0 */
	uint64_t inner, outer; /* the dimensions of the matrix */
};

/* Returns the size of all scales of a matrix, in bytes. */
size_t lt_scales_size(int32_t mode, uint64_t inner, uint64_t outer);

double lt_scale_at(const struct lt_scales *s, uint64_t inner, uint64_t outer);

/*
 * For each block of a column of D, computes and stores a scale, and divides the
 * block by it so that its values fit the narrow type. Supports the modes
 * VEC16_UE4M3 and VEC32_UE8M0.
 */
void lt_quantize(const struct lt_scales *s, uint32_t type, uint64_t outer,
		 double *x);

#endif
