/*
 * lt_scale.h - the scales of narrow floats: one for a matrix, or one for each
 * row or block of it. The inner index of an element is its k in A and B, its
 * row in D; the outer one its row in A, its column in B and D.
 */
#ifndef GKF_CUBLAS_LT_SCALE_H
#define GKF_CUBLAS_LT_SCALE_H

#include "fronts/cublas/lt_layout.h"

struct lt_scales {
	int32_t mode;          /* cublasLtMatmulMatrixScale_t */
	void *data;            /* NULL: 1, of mode 0 */
	uint64_t inner, outer; /* of the matrix */
};

/* Bytes that the scales take. */
size_t lt_scales_size(int32_t mode, uint64_t inner, uint64_t outer);

double lt_scale_at(const struct lt_scales *s, uint64_t inner, uint64_t outer);

/*
 * Divides a column of D by the scales that each block of it needs for a narrow
 * type, and writes these; mode VEC16_UE4M3 or VEC32_UE8M0.
 */
void lt_quantize(const struct lt_scales *s, uint32_t type, uint64_t outer,
		 double *x);

#endif
