/* SPDX-License-Identifier: Apache-2.0 */
/*
 * level3_blas.c - runs level 3 operations with OpenBLAS. OpenBLAS lacks syrkx
 * and herkx; we compute them as matrix products of which only one triangle is
 * kept.
 */
#include "fronts/cublas/level/level3_blas.h"

#include "fronts/cublas/cblas.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The number of columns of a triangle to compute at a time. */
#define COLUMNS 128

#define P(name)       s##name
#define OF(name)      name##_s
#define R             float
#define FACTOR(parts) ((parts)[0])
#define IS_COMPLEX    0
#include "fronts/cublas/level/level3_type.def"

#define P(name)       d##name
#define OF(name)      name##_d
#define R             double
#define FACTOR(parts) ((parts)[0])
#define IS_COMPLEX    0
#include "fronts/cublas/level/level3_type.def"

#define P(name)       c##name
#define OF(name)      name##_c
#define R             float
#define FACTOR(parts) (parts)
#define IS_COMPLEX    1
#include "fronts/cublas/level/level3_type.def"

#define P(name)       z##name
#define OF(name)      name##_z
#define R             double
#define FACTOR(parts) (parts)
#define IS_COMPLEX    1
#include "fronts/cublas/level/level3_type.def"

/* Finds the rows [low, high) of column j that belong to the triangle. */
static void find_rows(const struct level3_blas *b, int j, int *low, int *high)
{
	bool upper = b->uplo == BLAS_UPPER;

	*low = upper ? 0 : j;
	*high = upper ? j + 1 : b->n;
}

static char *element_of(const struct level3_blas *b, void *matrix, int64_t i,
			int64_t j, int64_t ld)
{
	return (char *)matrix + (size_t)(j * ld + i) * element_size(b->type);
}

static void clear_triangle(const struct level3_blas *b)
{
	for (int j = 0; j < b->n; j++) {
		int low, high;

		find_rows(b, j, &low, &high);
		memset(element_of(b, b->c, low, j, b->ldc), 0,
		       (size_t)(high - low) * element_size(b->type));
	}
}

/*
 * Computes column j of C = beta C + sums. sums starts at the triangle's first
 * row.
 */
static void add_column(const struct level3_blas *b, const double beta[2], int j,
		       void *sums)
{
	struct vectors v = {.incx = 1, .incy = 1};
	int low, high;

	find_rows(b, j, &low, &high);
	v.n = high - low;
	v.x = element_of(b, b->c, low, j, b->ldc);
	memcpy(v.a, beta, sizeof v.a);
	v.op = VECTOR_SCAL;
	if (scalar_is_zero(beta))
		memset(v.x, 0, (size_t)v.n * element_size(b->type));
	else
		vector_run(&v, b->type);
	v.op = VECTOR_AXPY;
	v.y = v.x;
	v.x = sums;
	v.a[0] = 1;
	v.a[1] = 0;
	vector_run(&v, b->type);
}

/* Makes the diagonal element real, as in every Hermitian matrix. */
static void make_real(const struct level3_blas *b, int j)
{
	char *at = element_of(b, b->c, j, j, b->ldc);
	double parts[2];

	element_get(at, b->type, parts);
	parts[1] = 0;
	element_set(at, b->type, parts);
}

static const void *skip_rows(const struct level3_blas *b, const void *matrix,
			     int64_t ld, int64_t rows)
{
	bool plain = b->trans == BLAS_NO_TRANS;

	return (const char *)matrix +
	       (size_t)(plain ? rows : rows * ld) * element_size(b->type);
}

/*
 * Computes columns [j, end) of alpha op(A) op(B)'. The first row of sums is the
 * triangle's first row in these columns.
 */
static int multiply_triangle_columns(const struct level3_blas *b,
				     const double alpha[2], int j, int end,
				     void *sums, int ld)
{
	bool plain = b->trans == BLAS_NO_TRANS;
	enum operation other = b->op == LEVEL3_HERKX ? OP_C : OP_T;
	int low = b->uplo == BLAS_UPPER ? 0 : j;
	struct gemm g = {.op_a = plain ? OP_N : other,
			 .op_b = plain ? other : OP_N,
			 .m = (b->uplo == BLAS_UPPER ? end : b->n) - low,
			 .n = end - j,
			 .k = b->k,
			 .a = skip_rows(b, b->a, b->lda, low),
			 .b = skip_rows(b, b->b, b->ldb, j),
			 .c = sums,
			 .d = sums,
			 .lda = b->lda,
			 .ldb = b->ldb,
			 .ldc = ld,
			 .ldd = ld,
			 .type_a = b->type,
			 .type_b = b->type,
			 .type_c = b->type,
			 .type_d = b->type,
			 .compute = element_real(b->type)};

	memcpy(g.alpha, alpha, sizeof g.alpha);
	return gemm_run(&g);
}

static int run_kx(const struct level3_blas *b, const double alpha[2],
		  const double beta[2])
{
	size_t size = element_size(b->type);
	char *sums = malloc((size_t)b->n * COLUMNS * size);
	int err = sums ? 0 : -ENOMEM;

	for (int j = 0; !err && j < b->n; j += COLUMNS) {
		int end = b->n - j < COLUMNS ? b->n : j + COLUMNS;

		err = multiply_triangle_columns(b, alpha, j, end, sums, b->n);
		for (int i = j; !err && i < end; i++) {
			int skip = b->uplo == BLAS_UPPER ? 0 : i - j;

			add_column(b, beta, i,
				   element_of(b, sums, skip, i - j, b->n));
			if (b->op == LEVEL3_HERKX)
				make_real(b, i);
		}
	}
	free(sums);
	return err;
}

int level3_run(const struct level3_blas *b, const double alpha[2],
	       const double beta[2])
{
	static const double one[2] = {1, 0};

	if (b->op == LEVEL3_SYRKX || b->op == LEVEL3_HERKX)
		return run_kx(b, alpha, beta);
	if (b->op >= LEVEL3_SYRK && b->op <= LEVEL3_HER2K &&
	    scalar_is_zero(beta)) {
		clear_triangle(b);
		beta = one;
	}
	openblas_begin();
	if (b->type == R_32F)
		call_s(b, alpha, beta);
	else if (b->type == R_64F)
		call_d(b, alpha, beta);
	else if (b->type == C_32F)
		call_c(b, alpha, beta);
	else
		call_z(b, alpha, beta);
	openblas_end();
	return 0;
}
