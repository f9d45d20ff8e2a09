/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gemm.c - multiplies matrices with OpenBLAS, in float or double. Other types
 * are converted before and after.
 */
#include "fronts/cublas/gemm/gemm.h"

#include "base/assert.h"
#include "fronts/cublas/cblas.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The number of multiplications between calls of stopped(). */
#define STEP (1ll << 32)
/* The number of columns of D to convert at a time. */
#define COLUMNS 256

/* A product whose A and B have been converted to the working type. */
struct work {
	const struct gemm *g;
	const struct cblas *blas;
	enum element type; /* R_32F, R_64F, C_32F, C_64F */
	const char *a, *b;
	int64_t lda, ldb;
	void *own_a, *own_b, *sums; /* owned; freed at the end */
};

static bool is_zero(const double parts[2])
{
	return parts[0] == 0 && parts[1] == 0;
}

static enum element working_type(const struct gemm *g)
{
	enum element real = element_real(g->compute);
	bool wide = real == R_64F || real == R_32I;

	if (element_is_complex(g->type_a))
		return wide ? C_64F : C_32F;
	return wide ? R_64F : R_32F;
}

/*
 * Returns a copy of a matrix in another type, with ld equal to rows; NULL when
 * out of memory.
 */
static void *convert_matrix(enum element to, const char *from,
			    enum element type, int64_t rows, int64_t columns,
			    int64_t ld)
{
	size_t row = (size_t)rows * element_size(to);
	char *all = malloc((size_t)columns * row);

	for (int64_t j = 0; all && j < columns; j++)
		element_convert(all + (size_t)j * row, to,
				from + (size_t)(j * ld) * element_size(type),
				type, (size_t)rows);
	return all;
}

static bool take_operand(enum element to, const void *from, enum element type,
			 int64_t rows, int64_t columns, int64_t ld,
			 const char **ret, int64_t *ret_ld, void **ret_own)
{
	*ret = from;
	*ret_ld = ld;
	if (type == to)
		return true;
	*ret = *ret_own = convert_matrix(to, from, type, rows, columns, ld);
	*ret_ld = rows;
	return *ret_own;
}

static bool take_operands(struct work *w)
{
	const struct gemm *g = w->g;
	bool at = g->op_a != OP_N, bt = g->op_b != OP_N;

	return take_operand(w->type, g->a, g->type_a, at ? g->k : g->m,
			    at ? g->m : g->k, g->lda, &w->a, &w->lda,
			    &w->own_a) &&
	       take_operand(w->type, g->b, g->type_b, bt ? g->n : g->k,
			    bt ? g->k : g->n, g->ldb, &w->b, &w->ldb,
			    &w->own_b);
}

/*
 * Computes to = alpha * A * B + beta * to, where `to` is only the columns
 * [first, first + count) of the product.
 */
static void multiply_columns(const struct work *w, int64_t first, int64_t count,
			     const double alpha[2], const double beta[2],
			     void *to, int64_t ld)
{
	const struct gemm *g = w->g;
	const char *b =
	    w->b + (size_t)(g->op_b == OP_N ? first * w->ldb : first) *
		       element_size(w->type);
	int ta = BLAS_NO_TRANS + (int)g->op_a,
	    tb = BLAS_NO_TRANS + (int)g->op_b;
	int m = (int)g->m, n = (int)count, k = (int)g->k;
	float a1[] = {(float)alpha[0], (float)alpha[1]};
	float b1[] = {(float)beta[0], (float)beta[1]};

#define CALL(name, a_, b_)                                                     \
	w->blas->name(BLAS_COLUMNS, ta, tb, m, n, k, a_, w->a, (int)w->lda, b, \
		      (int)w->ldb, b_, to, (int)ld)
	openblas_begin();
	switch ((int)w->type) {
	case R_32F:
		CALL(sgemm, a1[0], b1[0]);
		break;
	case R_64F:
		CALL(dgemm, alpha[0], beta[0]);
		break;
	case C_32F:
		CALL(cgemm, a1, b1);
		break;
	default:
		CALL(zgemm, alpha, beta);
	}
	openblas_end();
#undef CALL
}

static char *column_of(const void *matrix, enum element type, int64_t ld,
		       int64_t j)
{
	return (char *)(uintptr_t)matrix +
	       (size_t)(j * ld) * element_size(type);
}

static void add_scaled(const struct work *w, void *sums, const void *c)
{
	const double *beta = w->g->beta;
	int64_t m = w->g->m;

#define SCALE_REAL(T)                                                          \
	for (int64_t i = 0; i < m; i++)                                        \
	((T *)sums)[i] += (T)beta[0] * ((const T *)c)[i]
#define SCALE_COMPLEX(T)                                                       \
	for (int64_t i = 0; i < 2 * m; i += 2) {                               \
		const T *x = (const T *)c + i;                                 \
                                                                               \
		((T *)sums)[i] += (T)beta[0] * x[0] - (T)beta[1] * x[1];       \
		((T *)sums)[i + 1] += (T)beta[0] * x[1] + (T)beta[1] * x[0];   \
	}
	if (w->type == R_32F)
		SCALE_REAL(float);
	else if (w->type == R_64F)
		SCALE_REAL(double);
	else if (w->type == C_32F)
		SCALE_COMPLEX(float)
	else
		SCALE_COMPLEX(double)
#undef SCALE_COMPLEX
#undef SCALE_REAL
}

/* Integers wrap on overflow; alpha and beta are integers, too. */
static void store_integers(const struct gemm *g, const double *sums, int64_t j)
{
	const int32_t *c = (const void *)column_of(g->c, R_32I, g->ldc, j);
	int32_t *d = (void *)column_of(g->d, R_32I, g->ldd, j);
	uint32_t alpha = (uint32_t)(int32_t)g->alpha[0];
	uint32_t beta = (uint32_t)(int32_t)g->beta[0];

	for (int64_t i = 0; i < g->m; i++) {
		uint32_t sum = (uint32_t)(int64_t)sums[i] * alpha;

		d[i] = (int32_t)(beta ? sum + beta * (uint32_t)c[i] : sum);
	}
}

/*
 * Stores column j of D from its sums, and overwrites the sums. `spare` is a
 * buffer for a column of C.
 */
static void store_column(const struct work *w, char *sums, char *spare,
			 int64_t j)
{
	const struct gemm *g = w->g;

	if (g->compute == R_32I && g->type_d == R_32I) {
		store_integers(g, (const double *)(void *)sums, j);
		return;
	}
	if (!is_zero(g->beta)) {
		element_convert(spare, w->type,
				column_of(g->c, g->type_c, g->ldc, j),
				g->type_c, (size_t)g->m);
		add_scaled(w, sums, spare);
	}
	element_convert(column_of(g->d, g->type_d, g->ldd, j), g->type_d, sums,
			w->type, (size_t)g->m);
}

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/*
 * Computes the sums of a few columns at a time in the working type, then
 * converts them.
 */
static int run_converted(struct work *w)
{
	static const double one[2] = {1, 0}, zero[2] = {0, 0};
	const struct gemm *g = w->g;
	bool integers = g->compute == R_32I && g->type_d == R_32I;
	bool empty = is_zero(g->alpha) || !g->k;
	size_t column = (size_t)g->m * element_size(w->type);
	int64_t most = least(g->n, COLUMNS);
	char *sums = w->sums = malloc(((size_t)most + 1) * column);

	if (!sums || (!empty && !take_operands(w)))
		return -ENOMEM;
	for (int64_t j = 0; j < g->n; j += most) {
		int64_t some = least(most, g->n - j);

		if (g->stopped && g->stopped())
			break;
		if (empty)
			memset(sums, 0, (size_t)some * column);
		else
			multiply_columns(w, j, some, integers ? one : g->alpha,
					 zero, sums, g->m);
		for (int64_t i = 0; i < some; i++)
			store_column(w, sums + (size_t)i * column,
				     sums + (size_t)most * column, j + i);
	}
	return 0;
}

/*
 * For matrices that all have the working type: computes the sums directly in D.
 */
static int run_in_place(struct work *w)
{
	const struct gemm *g = w->g;
	int64_t most = STEP / (g->m * g->k) + 1;

	w->a = g->a;
	w->b = g->b;
	w->lda = g->lda;
	w->ldb = g->ldb;
	for (int64_t j = 0; j < g->n; j += most) {
		if (g->stopped && g->stopped())
			break;
		multiply_columns(w, j, least(most, g->n - j), g->alpha, g->beta,
				 column_of(g->d, g->type_d, g->ldd, j), g->ldd);
	}
	return 0;
}

static bool is_uniform(const struct gemm *g, enum element type)
{
	return g->type_a == type && g->type_b == type && g->type_d == type &&
	       (is_zero(g->beta) ||
		(g->c == g->d && g->type_c == type && g->ldc == g->ldd));
}

int gemm_run(const struct gemm *g)
{
	struct work w = {.g = g, .blas = cblas(), .type = working_type(g)};
	int err;

	GK_ASSERT(g->op_a < OP_CONJG && g->op_b < OP_CONJG);
	GK_ASSERT(g->m >= 0 && g->m <= INT32_MAX);
	GK_ASSERT(g->n >= 0 && g->n <= INT32_MAX);
	GK_ASSERT(g->k >= 0 && g->k <= INT32_MAX);
	if (!w.blas)
		return -ENOSYS;
	if (!g->m || !g->n)
		return 0;
	if (g->k && !is_zero(g->alpha) && is_uniform(g, w.type))
		err = run_in_place(&w);
	else
		err = run_converted(&w);
	free(w.own_a);
	free(w.own_b);
	free(w.sums);
	return err;
}
