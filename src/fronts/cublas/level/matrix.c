/* SPDX-License-Identifier: Apache-2.0 */
/* matrix.c - defines the loops of level 2 for the four types. */
#include "fronts/cublas/level/matrix.h"
#include "base/assert.h"

#include "fronts/cublas/cblas.h"

#define T          float
#define OF(name)   name##_s
#define GEMV       sgemv
#define FACTOR(p)  (*(p))
#define IS_COMPLEX 0
#include "fronts/cublas/level/matrix_type.def"

#define T          double
#define OF(name)   name##_d
#define GEMV       dgemv
#define FACTOR(p)  (*(p))
#define IS_COMPLEX 0
#include "fronts/cublas/level/matrix_type.def"

#define T          _Complex float
#define OF(name)   name##_c
#define GEMV       cgemv
#define FACTOR(p)  (p)
#define IS_COMPLEX 1
#include "fronts/cublas/level/matrix_type.def"

#define T          _Complex double
#define OF(name)   name##_z
#define GEMV       zgemv
#define FACTOR(p)  (p)
#define IS_COMPLEX 1
#include "fronts/cublas/level/matrix_type.def"

uint64_t matrix_extent(const struct matrix *a)
{
	uint64_t n = (uint64_t)a->n, rows = (uint64_t)a->m, extent;

	if (!n || !rows)
		return 0;
	if (a->storage == STORED_PACKED)
		return n * (n + 1) / 2;
	if (a->storage == STORED_BAND)
		rows = (uint64_t)(a->kl + a->ku + 1);
	if (__builtin_mul_overflow(n - 1, (uint64_t)a->ld, &extent))
		return UINT64_MAX;
	return extent + rows;
}

void matrix_run(const struct matrix *a, enum matrix_op op, bool transposed,
		bool conjugated, const double alpha[2], void *x, void *y)
{
	/*
	 * In other operations x and y may be the same vector: the program may
	 * pass it twice.
	 */
	GK_ASSERT(op != MATRIX_MULTIPLY || a->shape != SHAPE_TRIANGLE ||
		  x != y);
	if (a->type == R_32F)
		run_s(a, op, transposed, conjugated, alpha, x, y);
	else if (a->type == R_64F)
		run_d(a, op, transposed, conjugated, alpha, x, y);
	else if (a->type == C_32F)
		run_c(a, op, transposed, conjugated, alpha, x, y);
	else
		run_z(a, op, transposed, conjugated, alpha, x, y);
}
