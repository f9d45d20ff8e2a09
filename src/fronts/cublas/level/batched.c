/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batched.c - factorizes batches of small matrices with OpenBLAS' LAPACK: the
 * entry points and the body of their kernel.
 */
#include "fronts/cublas/kernels.h"
#include "fronts/cublas/cblas.h"

#include <stdlib.h>
#include <string.h>

/* The order of the largest matrices that matinv accepts. */
#define MATINV_MOST 32
#define BLOCK       64

/*
 * The LAPACK functions for one type; their prototypes are the same for all
 * types.
 */
struct lapack {
	__typeof__(((struct cblas *)0)->sgetrf) getrf;
	__typeof__(((struct cblas *)0)->sgetrs) getrs;
	__typeof__(((struct cblas *)0)->sgetri) getri;
	__typeof__(((struct cblas *)0)->sgeqrf) geqrf;
	__typeof__(((struct cblas *)0)->sgels) gels;
};

#define LAPACK_OF(p)                                                           \
	((struct lapack){blas->p##getrf, blas->p##getrs, blas->p##getri,       \
			 blas->p##geqrf, blas->p##gels})

static struct lapack find_lapack(enum element type)
{
	const struct cblas *blas = cblas();

	if (type == R_32F)
		return LAPACK_OF(s);
	if (type == R_64F)
		return LAPACK_OF(d);
	return type == C_32F ? LAPACK_OF(c) : LAPACK_OF(z);
}

/* One matrix of the batch. */
struct item {
	const struct batched *b;
	struct lapack lapack;
	char *a, *c;     /* matrices; geqrf's c is a vector */
	int *pivots;     /* NULL: do not pivot */
	int *own_pivots; /* used if the program passes no array of pivots */
	void *work;
	int work_size; /* number of elements in `work` */
	int info;
};

static char *element_of(const struct batched *b, char *matrix, int i, int j,
			int ld)
{
	return matrix +
	       ((size_t)j * (size_t)ld + (size_t)i) * element_size(b->type);
}

static double size_of(double f)
{
	return f < 0 ? -f : f;
}

/*
 * Divides complex numbers by Smith's algorithm, which avoids squaring the
 * divisor: the square could overflow or underflow.
 */
static void divide_number(double number[2], const double by[2])
{
	bool turned = size_of(by[0]) < size_of(by[1]);
	double large = by[turned], small = by[!turned];
	double ratio = small / large, by_all = large + small * ratio;
	double re = number[turned] + number[!turned] * ratio;
	double im = number[!turned] - number[turned] * ratio;

	number[0] = re / by_all;
	number[1] = (turned ? -im : im) / by_all;
}

/*
 * Computes LU factors without pivoting, column by column, as cuBLAS does if the
 * program passes no array of pivots.
 */
static void factor_in_order(struct item *t)
{
	const struct batched *b = t->b;
	struct vectors v = {.incx = 1, .incy = 1};
	double pivot[2], factor[2];

	for (int j = 0; j < b->n; j++) {
		element_get(element_of(b, t->a, j, j, b->lda), b->type, pivot);
		if (scalar_is_zero(pivot)) {
			t->info = t->info ? t->info : j + 1;
			continue;
		}
		v.n = b->n - j - 1;
		v.x = element_of(b, t->a, j + 1, j, b->lda);
		for (int64_t i = 0; i < v.n; i++) {
			char *at = element_of(b, v.x, (int)i, 0, b->lda);

			element_get(at, b->type, factor);
			divide_number(factor, pivot);
			element_set(at, b->type, factor);
		}
		v.op = VECTOR_AXPY;
		for (int k = j + 1; k < b->n; k++) {
			element_get(element_of(b, t->a, j, k, b->lda), b->type,
				    v.a);
			v.a[0] = -v.a[0];
			v.a[1] = -v.a[1];
			v.y = element_of(b, t->a, j + 1, k, b->lda);
			vector_run(&v, b->type);
		}
	}
}

static void factor_matrix(struct item *t)
{
	const struct batched *b = t->b;

	if (t->pivots)
		t->lapack.getrf(&b->n, &b->n, t->a, &b->lda, t->pivots,
				&t->info);
	else
		factor_in_order(t);
}

/* Computes c, the inverse of the matrix whose LU factors are in a. */
static void invert_factors(struct item *t, const char *a, int lda)
{
	const struct batched *b = t->b;
	size_t column = (size_t)b->n * element_size(b->type);
	const int *pivots = t->pivots ? t->pivots : t->own_pivots;

	for (int j = 0; j < b->n; j++)
		memmove(element_of(b, t->c, 0, j, b->ldc),
			a + (size_t)j * (size_t)lda * element_size(b->type),
			column);
	t->lapack.getri(&b->n, t->c, &b->ldc, pivots, t->work, &t->work_size,
			&t->info);
}

static void solve_item(struct item *t)
{
	static const char ops[] = "NTC";
	const struct batched *b = t->b;
	const int *pivots = t->pivots ? t->pivots : t->own_pivots;

	t->lapack.getrs(&ops[b->trans], &b->n, &b->nrhs, t->a, &b->lda, pivots,
			t->c, &b->ldc, &t->info, 1);
}

/* Factorizes a copy in the workspace, so that matrix a stays unchanged. */
static void invert_copy(struct item *t)
{
	const struct batched *b = t->b;
	size_t column = (size_t)b->n * element_size(b->type);
	char *factors =
	    (char *)t->work + (size_t)t->work_size * element_size(b->type);

	for (int j = 0; j < b->n; j++)
		memcpy(factors + (size_t)j * column,
		       element_of(b, t->a, 0, j, b->lda), column);
	t->pivots = t->own_pivots;
	t->lapack.getrf(&b->n, &b->n, factors, &b->n, t->pivots, &t->info);
	if (!t->info)
		invert_factors(t, factors, b->n);
}

static void run_item(struct item *t)
{
	const struct batched *b = t->b;

	switch (b->op) {
	case BATCHED_GETRF:
		factor_matrix(t);
		break;
	case BATCHED_GETRI:
		invert_factors(t, t->a, b->lda);
		break;
	case BATCHED_GETRS:
		solve_item(t);
		break;
	case BATCHED_GEQRF:
		t->lapack.geqrf(&b->m, &b->n, t->a, &b->lda, t->c, t->work,
				&t->work_size, &t->info);
		break;
	case BATCHED_GELS:
		t->lapack.gels("N", &b->m, &b->n, &b->nrhs, t->a, &b->lda, t->c,
			       &b->ldc, t->work, &t->work_size, &t->info, 1);
		break;
	case BATCHED_MATINV:
		invert_copy(t);
		break;
	}
}

static uint64_t address_at(struct gpukit_run *run, uint64_t array, int i)
{
	const uint64_t *at = run->memory(
	    run, GPUKIT_READS, array + (uint64_t)i * sizeof *at, sizeof *at);

	return at ? *at : 0;
}

/* Returns the memory of matrix c or, for geqrf, of the vector c. */
static void *place_c(struct gpukit_run *run, const struct batched *b, int i)
{
	int64_t least = b->m < b->n ? b->m : b->n;
	uint64_t at;

	if (b->op == BATCHED_GETRF)
		return NULL;
	at = address_at(run, b->c, i);
	if (b->op == BATCHED_GEQRF)
		return blas_place_vector(run, GPUKIT_WRITES, at, b->type, least,
					 1);
	if (b->op == BATCHED_GELS)
		return blas_place_matrix(run, GPUKIT_WRITES, at, b->type, b->m,
					 b->nrhs, b->ldc);
	return blas_place_matrix(run, GPUKIT_WRITES, at, b->type, b->n,
				 b->op == BATCHED_GETRS ? b->nrhs : b->n,
				 b->ldc);
}

/* Whether the operation writes to a. */
static bool writes_a(const struct batched *b)
{
	return b->op == BATCHED_GETRF || b->op == BATCHED_GEQRF ||
	       b->op == BATCHED_GELS;
}

/* Resolves the memory of matrix i; false if part of it is not accessible. */
static bool place_item(struct gpukit_run *run, struct item *t, int i)
{
	const struct batched *b = t->b;
	bool tall = b->op == BATCHED_GEQRF || b->op == BATCHED_GELS;

	t->info = 0;
	t->pivots = NULL;
	t->a =
	    blas_place_matrix(run, writes_a(b) ? GPUKIT_WRITES : GPUKIT_READS,
			      address_at(run, b->a, i), b->type,
			      tall ? b->m : b->n, b->n, b->lda);
	t->c = place_c(run, b, i);
	if (b->pivots)
		t->pivots = run->memory(
		    run, b->op == BATCHED_GETRF ? GPUKIT_WRITES : GPUKIT_READS,
		    b->pivots + (uint64_t)i * (uint64_t)b->n * sizeof(int),
		    (size_t)b->n * sizeof(int));
	for (int j = 0; j < b->n; j++)
		t->own_pivots[j] = j + 1;
	return !run->fault;
}

static bool put_info(struct gpukit_run *run, const struct batched *b, int i,
		     int info)
{
	int *to;

	if (!b->info)
		return true;
	to = run->memory(run, GPUKIT_WRITES, b->info + (uint64_t)i * sizeof *to,
			 sizeof *to);
	if (to)
		*to = info;
	return to;
}

static bool take_room(struct item *t)
{
	const struct batched *b = t->b;
	size_t size = element_size(b->type), n = (size_t)b->n;
	size_t factors = b->op == BATCHED_MATINV ? n * n : 0;
	int64_t most = BLOCK * ((int64_t)b->n + b->nrhs + 1);

	/*
	 * With a workspace of this size LAPACK works in blocks; a smaller one
	 * would suffice.
	 */
	t->work_size = most < INT32_MAX ? (int)most : INT32_MAX;
	t->work = malloc(((size_t)t->work_size + factors) * size);
	t->own_pivots = malloc((n + 1) * sizeof(int));
	return t->work && t->own_pivots;
}

CUresult run_batched(struct gpukit_run *run)
{
	const struct batched *b = run->params;
	struct item t = {.b = b, .lapack = find_lapack(b->type)};
	CUresult r = take_room(&t) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;

	for (int i = 0; !r && i < b->count && !run->stopped(); i++) {
		if (!place_item(run, &t, i))
			break;
		openblas_begin();
		run_item(&t);
		openblas_end();
		if (!put_info(run, b, i, t.info))
			break;
		run->operations +=
		    (uint64_t)b->n * (uint64_t)b->n * (uint64_t)b->n;
	}
	free(t.work);
	free(t.own_pivots);
	return r;
}

static cublasStatus_t launch_batched(cublasHandle_t handle, struct batched *b)
{
	if (!b->n || !b->count)
		return CUBLAS_STATUS_SUCCESS;
	return blas_launch(handle, KERNEL_batched, b);
}

#define MATRICES(op_, t, n_, A, lda_, C, ldc_, info_, count_)                  \
	.op = (op_), .type = (t), .n = (n_), .a = address_of(A),               \
	.lda = (lda_), .c = address_of(C), .ldc = (ldc_),                      \
	.info = address_of(info_), .count = (count_)

/*
 * Stores in *info which parameter is invalid, as a negative position; 0 if none
 * is.
 */
static cublasStatus_t tell_host(int *info, int wrong)
{
	*info = -wrong;
	return wrong ? CUBLAS_STATUS_INVALID_VALUE : CUBLAS_STATUS_SUCCESS;
}

static int check_getrs(const struct batched *b)
{
	if (!is_operation((int)b->trans))
		return 1;
	if (b->n < 0)
		return 2;
	if (b->nrhs < 0)
		return 3;
	if (!holds(b->lda, b->n))
		return 5;
	if (!holds(b->ldc, b->n))
		return 8;
	return b->count < 0 ? 10 : 0;
}

static int check_gels(const struct batched *b)
{
	if (b->m < 0)
		return 2;
	if (b->n < 0)
		return 3;
	if (b->nrhs < 0)
		return 4;
	if (!holds(b->lda, b->m))
		return 6;
	if (!holds(b->ldc, b->m))
		return 8;
	return b->count < 0 ? 11 : 0;
}

static int check_geqrf(const struct batched *b)
{
	if (b->m < 0)
		return 1;
	if (b->n < 0)
		return 2;
	if (!holds(b->lda, b->m))
		return 4;
	return b->count < 0 ? 7 : 0;
}

#define BATCHED(p, t)                                                          \
	ENTRY(p##getrfBatched, cublasHandle_t h, int n, void *const *A,        \
	      int lda, int *P, int *info, int count)                           \
	{                                                                      \
		struct batched b = {MATRICES(BATCHED_GETRF, t, n, A, lda,      \
					     NULL, 0, info, count),            \
				    .pivots = address_of(P)};                  \
                                                                               \
		ENTER(h);                                                      \
		REQUIRE(n >= 0 && count >= 0 && holds(lda, n));                \
		return launch_batched(h, &b);                                  \
	}                                                                      \
	ENTRY(p##getriBatched, cublasHandle_t h, int n, const void *const *A,  \
	      int lda, const int *P, void *const *C, int ldc, int *info,       \
	      int count)                                                       \
	{                                                                      \
		struct batched b = {MATRICES(BATCHED_GETRI, t, n, A, lda, C,   \
					     ldc, info, count),                \
				    .pivots = address_of(P)};                  \
                                                                               \
		ENTER(h);                                                      \
		REQUIRE(n >= 0 && count >= 0 && holds(lda, n) &&               \
			holds(ldc, n));                                        \
		return launch_batched(h, &b);                                  \
	}                                                                      \
	ENTRY(p##getrsBatched, cublasHandle_t h, int trans_, int n, int nrhs_, \
	      const void *const *A, int lda, const int *P, void *const *B,     \
	      int ldb, int *info, int count)                                   \
	{                                                                      \
		struct batched b = {MATRICES(BATCHED_GETRS, t, n, A, lda, B,   \
					     ldb, NULL, count),                \
				    .trans = (enum operation)trans_,           \
				    .nrhs = nrhs_, .pivots = address_of(P)};   \
		int wrong = check_getrs(&b);                                   \
                                                                               \
		ENTER(h);                                                      \
		REQUIRE(info);                                                 \
		if (tell_host(info, wrong))                                    \
			return CUBLAS_STATUS_INVALID_VALUE;                    \
		return nrhs_ ? launch_batched(h, &b) : CUBLAS_STATUS_SUCCESS;  \
	}                                                                      \
	ENTRY(p##geqrfBatched, cublasHandle_t h, int m_, int n,                \
	      void *const *A, int lda, void *const *tau, int *info, int count) \
	{                                                                      \
		struct batched b = {MATRICES(BATCHED_GEQRF, t, n, A, lda, tau, \
					     0, NULL, count),                  \
				    .m = m_};                                  \
		int wrong = check_geqrf(&b);                                   \
                                                                               \
		ENTER(h);                                                      \
		REQUIRE(info);                                                 \
		if (tell_host(info, wrong))                                    \
			return CUBLAS_STATUS_INVALID_VALUE;                    \
		return m_ ? launch_batched(h, &b) : CUBLAS_STATUS_SUCCESS;     \
	}                                                                      \
	/* As documented, A is neither transposed nor wide. */                 \
	ENTRY(p##gelsBatched, cublasHandle_t h, int trans_, int m_, int n,     \
	      int nrhs_, void *const *A, int lda, void *const *C, int ldc,     \
	      int *info, int *infos, int count)                                \
	{                                                                      \
		struct batched b = {MATRICES(BATCHED_GELS, t, n, A, lda, C,    \
					     ldc, infos, count),               \
				    .m = m_, .nrhs = nrhs_};                   \
		int wrong = check_gels(&b);                                    \
                                                                               \
		ENTER(h);                                                      \
		REQUIRE(info);                                                 \
		if (tell_host(info, wrong))                                    \
			return CUBLAS_STATUS_INVALID_VALUE;                    \
		if (trans_ != OP_N || m_ < n)                                  \
			return CUBLAS_STATUS_NOT_SUPPORTED;                    \
		return nrhs_ ? launch_batched(h, &b) : CUBLAS_STATUS_SUCCESS;  \
	}                                                                      \
	ENTRY(p##matinvBatched, cublasHandle_t h, int n, const void *const *A, \
	      int lda, void *const *C, int ldc, int *info, int count)          \
	{                                                                      \
		struct batched b = {MATRICES(BATCHED_MATINV, t, n, A, lda, C,  \
					     ldc, info, count)};               \
                                                                               \
		ENTER(h);                                                      \
		REQUIRE(n >= 0 && count >= 0 && holds(lda, n) &&               \
			holds(ldc, n));                                        \
		REQUIRE(n <= MATINV_MOST);                                     \
		return launch_batched(h, &b);                                  \
	}
BATCHED(S, R_32F)
BATCHED(D, R_64F)
BATCHED(C, C_32F)
BATCHED(Z, C_64F)
