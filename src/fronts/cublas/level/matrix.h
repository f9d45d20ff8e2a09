/*
 * matrix.h - the loops of level 2. However a matrix is stored, what is stored
 * of a column lies close together: rows [j - ku, j + kl], as far as there are
 * such. So one loop serves full, banded and packed matrices.
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
	int64_t kl, ku; /* m and n where nothing is left out */
	int64_t ld;
	bool unit; /* the diagonal is 1 and not read */
	void *data;
};

/* The elements that it has in memory, from the first to the last. */
uint64_t matrix_extent(const struct matrix *a);

enum matrix_op {
	MATRIX_MULTIPLY, /* y += alpha op(A) x; a triangle: y = op(A) x */
	MATRIX_SOLVE,    /* x = op(A)^-1 x, a triangle */
	MATRIX_RANK1,    /* A += alpha x y', A Hermitian: alpha is real */
	MATRIX_RANK2,    /* A += alpha x y' + alpha' y x' */
};

/*
 * x and y lie close together; y is not x, but for MATRIX_RANK1. transposed and
 * conjugated: of A, or in ranks of the right-hand vector.
 */
void matrix_run(const struct matrix *a, enum matrix_op op, bool transposed,
		bool conjugated, const double alpha[2], void *x, void *y);

#endif
