/* SPDX-License-Identifier: Apache-2.0 */
/*
 * matrix.h - the loops of level 2. In every storage format the stored part of
 * column j is contiguous and has the rows [j - ku, j + kl] that are within the
 * matrix. So one loop serves full, banded and packed matrices.
 */
#ifndef GKF_CUBLAS_MATRIX_H
#define GKF_CUBLAS_MATRIX_H

#include "fronts/common/element.h"

enum storage { STORED_FULL, STORED_BAND, STORED_PACKED };
enum shape { SHAPE_GENERAL, SHAPE_SYMMETRIC, SHAPE_HERMITIAN, SHAPE_TRIANGLE };

struct matrix {
	enum element type; /* R_32F, R_64F, C_32F, C_64F */
	enum storage storage;
	enum shape shape;
	int64_t m, n;
	/* kl diagonals are stored below the main one, ku above */
	int64_t kl, ku;
	int64_t ld;
	bool unit; /* the diagonal counts as 1 and is not read */
	void *data;
};

/* Returns the number of elements that the matrix spans in memory. */
uint64_t matrix_extent(const struct matrix *a);

enum matrix_op {
	MATRIX_MULTIPLY, /* y += alpha op(A) x; for a triangle, y = op(A) x */
	MATRIX_SOLVE,    /* x = op(A)^-1 x, for a triangle */
	MATRIX_RANK1,    /* A += alpha x y'; alpha is real if A is Hermitian */
	MATRIX_RANK2,    /* A += alpha x y' + alpha' y x' */
};

/*
 * x and y are contiguous. Rank updates only read them, so they may be the same
 * vector. In MATRIX_MULTIPLY the result is undefined if x and y overlap; for a
 * triangle, the caller must make sure that they do not. `transposed` and
 * `conjugated` apply to A; in rank updates, `conjugated` applies to the
 * right-hand vector.
 */
void matrix_run(const struct matrix *a, enum matrix_op op, bool transposed,
		bool conjugated, const double alpha[2], void *x, void *y);

#endif
