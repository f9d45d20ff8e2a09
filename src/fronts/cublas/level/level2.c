/* SPDX-License-Identifier: Apache-2.0 */
/*
 * level2.c - entry points of level 2, and the body of their kernel, which uses
 * contiguous vectors.
 */
#include "fronts/cublas/level/compact.h"
#include "fronts/cublas/kernels.h"

#include <stdlib.h>
#include <string.h>

/* Computes y = beta y; y is not read if beta is 0. */
static void scale_compact(const struct compact *y, enum element type,
			  const double beta[2])
{
	struct vectors v = {.op = VECTOR_SCAL,
			    .n = y->n,
			    .incx = 1,
			    .x = y->at,
			    .a = {beta[0], beta[1]}};

	if (scalar_is_zero(beta))
		memset(y->at, 0, (size_t)y->n * y->size);
	else if (beta[0] != 1 || beta[1] != 0)
		vector_run(&v, type);
}

static bool is_transposed(const struct level2 *l)
{
	return l->trans != OP_N;
}

/* Computes y = alpha op(A) x + beta y. */
static CUresult compute_product(struct gpukit_run *run, const struct level2 *l,
				const struct matrix *a, const double alpha[2])
{
	int64_t across = is_transposed(l) ? a->m : a->n;
	int64_t along = is_transposed(l) ? a->n : a->m;
	struct compact x = {0}, y = {0};
	double beta[2];
	CUresult r;

	if (!blas_read_scalar(run, &l->beta, beta))
		return CUDA_SUCCESS;
	r = compact_take(run, GPUKIT_WRITES, l->y, a->type, along, l->incy,
			 true, &y);
	if (!r && !scalar_is_zero(alpha))
		r = compact_take(run, GPUKIT_READS, l->x, a->type, across,
				 l->incx, false, &x);
	if (!r) {
		scale_compact(&y, a->type, beta);
		if (!scalar_is_zero(alpha))
			matrix_run(a, MATRIX_MULTIPLY, is_transposed(l),
				   l->trans == OP_C, alpha, x.at, y.at);
		compact_put(&y);
	}
	free(x.own);
	free(y.own);
	return r;
}

/* Computes x = op(A) x or x = op(A)^-1 x. */
static CUresult run_triangle(struct gpukit_run *run, const struct level2 *l,
			     const struct matrix *a)
{
	static const double one[2] = {1, 0};
	struct compact x = {0}, y = {0};
	bool solves = l->op == MATRIX_SOLVE;
	CUresult r = compact_take(run, GPUKIT_WRITES, l->x, a->type, a->n,
				  l->incx, true, &x);

	if (!r && !solves) {
		y = x;
		y.own = y.at = malloc((size_t)a->n * x.size);
		r = y.own ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
	}
	if (!r) {
		matrix_run(a, (enum matrix_op)l->op, is_transposed(l),
			   l->trans == OP_C, one, x.at, y.at);
		compact_put(solves ? &x : &y);
	}
	free(x.own);
	free(y.own);
	return r;
}

/* Adds a rank 1 or rank 2 update to A. If there is no y, x is used for both. */
static CUresult add_rank(struct gpukit_run *run, const struct level2 *l,
			 const struct matrix *a, const double alpha[2])
{
	struct compact x = {0}, y = {0};
	CUresult r = compact_take(run, GPUKIT_READS, l->x, a->type, a->m,
				  l->incx, false, &x);

	if (!r && l->y)
		r = compact_take(run, GPUKIT_READS, l->y, a->type, a->n,
				 l->incy, false, &y);
	if (!r)
		matrix_run(a, (enum matrix_op)l->op, false, l->trans == OP_C,
			   alpha, x.at, l->y ? y.at : x.at);
	free(x.own);
	free(y.own);
	return r;
}

CUresult run_level2(struct gpukit_run *run)
{
	const struct level2 *l = run->params;
	struct matrix a = l->matrix;
	uint64_t elements = matrix_extent(&a);
	double alpha[2] = {1, 0};
	size_t size;

	if (a.shape != SHAPE_TRIANGLE &&
	    !blas_read_scalar(run, &l->alpha, alpha))
		return CUDA_SUCCESS;
	if (scalar_is_zero(alpha))
		return l->op == MATRIX_MULTIPLY
			   ? compute_product(run, l, &a, alpha)
			   : CUDA_SUCCESS;
	if (__builtin_mul_overflow(elements, element_size(a.type), &size))
		size = SIZE_MAX;
	a.data = run->memory(
	    run, l->op > MATRIX_SOLVE ? GPUKIT_WRITES : GPUKIT_READS, l->a,
	    size);
	if (!a.data)
		return CUDA_SUCCESS;
	run->operations += 2 * elements;
	if (a.shape == SHAPE_TRIANGLE)
		return run_triangle(run, l, &a);
	return l->op == MATRIX_MULTIPLY ? compute_product(run, l, &a, alpha)
					: add_rank(run, l, &a, alpha);
}

/*
 * Describes a square matrix of which one triangle is stored: the diagonal and
 * the k diagonals beside it.
 */
static struct matrix half_of(enum element type, enum shape shape,
			     enum storage storage, int uplo, int64_t n,
			     int64_t k, int64_t ld)
{
	bool upper = uplo == FILL_UPPER;

	return (struct matrix){.type = type,
			       .shape = shape,
			       .storage = storage,
			       .m = n,
			       .n = n,
			       .ku = upper ? k : 0,
			       .kl = upper ? 0 : k,
			       .ld = ld};
}

static struct matrix full_of(enum element type, int64_t m, int64_t n,
			     int64_t ld)
{
	return (struct matrix){.type = type,
			       .storage = STORED_FULL,
			       .m = m,
			       .n = n,
			       .kl = m,
			       .ku = n,
			       .ld = ld};
}

/*
 * Whether the leading dimension, if the matrix has one, is at least the length
 * of a column.
 */
static bool is_held(const struct matrix *a)
{
	if (a->storage == STORED_PACKED)
		return true;
	if (a->storage == STORED_BAND)
		return holds(a->ld, a->kl + a->ku + 1);
	return holds(a->ld, a->m);
}

static bool is_sized(const struct matrix *a)
{
	return a->m >= 0 && a->n >= 0 && a->kl >= 0 && a->ku >= 0;
}

static cublasStatus_t launch_multiply(cublasHandle_t handle,
				      const struct matrix *a, int trans,
				      const void *alpha, const void *data,
				      const void *x, int64_t incx,
				      const void *beta, void *y, int64_t incy)
{
	struct level2 l = {.matrix = *a,
			   .op = MATRIX_MULTIPLY,
			   .trans = (enum operation)trans,
			   .a = address_of(data),
			   .x = address_of(x),
			   .y = address_of(y),
			   .incx = incx,
			   .incy = incy};

	ENTER(handle);
	REQUIRE(is_sized(a) && is_held(a) && is_operation(trans));
	REQUIRE(incx && incy && alpha && beta);
	if (!a->m || !a->n)
		return CUBLAS_STATUS_SUCCESS;
	l.alpha = blas_take_scalar(handle, alpha, a->type);
	l.beta = blas_take_scalar(handle, beta, a->type);
	return blas_launch(handle, KERNEL_level2, &l);
}

static cublasStatus_t launch_half(cublasHandle_t handle, const struct matrix *a,
				  int uplo, const void *alpha, const void *data,
				  const void *x, int64_t incx, const void *beta,
				  void *y, int64_t incy)
{
	ENTER(handle);
	REQUIRE(is_triangle(uplo));
	return launch_multiply(handle, a, OP_N, alpha, data, x, incx, beta, y,
			       incy);
}

static cublasStatus_t launch_triangle(cublasHandle_t handle, struct matrix *a,
				      enum matrix_op op, int uplo, int trans,
				      int diag, const void *data, void *x,
				      int64_t incx)
{
	struct level2 l = {.op = op,
			   .trans = (enum operation)trans,
			   .a = address_of(data),
			   .x = address_of(x),
			   .incx = incx};

	ENTER(handle);
	REQUIRE(is_triangle(uplo) && is_operation(trans) && is_flag(diag));
	REQUIRE(is_sized(a) && is_held(a) && incx);
	if (!a->n)
		return CUBLAS_STATUS_SUCCESS;
	a->unit = diag == DIAG_UNIT;
	l.matrix = *a;
	return blas_launch(handle, KERNEL_level2, &l);
}

/*
 * Pass FILL_UPPER as uplo for a general matrix, and a real alpha_type if A is
 * Hermitian.
 */
static cublasStatus_t launch_rank(cublasHandle_t handle, const struct matrix *a,
				  enum matrix_op op, int uplo, bool conjugated,
				  enum element alpha_type, const void *alpha,
				  const void *x, int64_t incx, const void *y,
				  int64_t incy, void *data)
{
	struct level2 l = {.matrix = *a,
			   .op = op,
			   .trans = conjugated ? OP_C : OP_N,
			   .a = address_of(data),
			   .x = address_of(x),
			   .y = address_of(y),
			   .incx = incx,
			   .incy = incy};

	ENTER(handle);
	REQUIRE(is_triangle(uplo) && is_sized(a) && is_held(a));
	REQUIRE(incx && incy && alpha);
	if (!a->m || !a->n)
		return CUBLAS_STATUS_SUCCESS;
	l.alpha = blas_take_scalar(handle, alpha, alpha_type);
	return blas_launch(handle, KERNEL_level2, &l);
}

/* Defines a function and its variant with 64-bit dimensions. */
#define BOTH(row, ...) row(, int, __VA_ARGS__) row(_64, int64_t, __VA_ARGS__)

#define GENERAL(w, N, p, t)                                                    \
	ENTRY(p##gemv_v2##w, cublasHandle_t h, int trans, N m, N n,            \
	      const void *alpha, const void *A, N lda, const void *x, N incx,  \
	      const void *beta, void *y, N incy)                               \
	{                                                                      \
		struct matrix a = full_of(t, m, n, lda);                       \
                                                                               \
		return launch_multiply(h, &a, trans, alpha, A, x, incx, beta,  \
				       y, incy);                               \
	}                                                                      \
	ENTRY(p##gbmv_v2##w, cublasHandle_t h, int trans, N m, N n, N kl,      \
	      N ku, const void *alpha, const void *A, N lda, const void *x,    \
	      N incx, const void *beta, void *y, N incy)                       \
	{                                                                      \
		struct matrix a = full_of(t, m, n, lda);                       \
                                                                               \
		a.storage = STORED_BAND;                                       \
		a.kl = kl;                                                     \
		a.ku = ku;                                                     \
		return launch_multiply(h, &a, trans, alpha, A, x, incx, beta,  \
				       y, incy);                               \
	}
BOTH(GENERAL, S, R_32F)
BOTH(GENERAL, D, R_64F)
BOTH(GENERAL, C, C_32F)
BOTH(GENERAL, Z, C_64F)

#define HALF_FULL(w, N, name, t, shape)                                        \
	ENTRY(name##_v2##w, cublasHandle_t h, int uplo, N n,                   \
	      const void *alpha, const void *A, N lda, const void *x, N incx,  \
	      const void *beta, void *y, N incy)                               \
	{                                                                      \
		struct matrix a =                                              \
		    half_of(t, shape, STORED_FULL, uplo, n, n, lda);           \
                                                                               \
		return launch_half(h, &a, uplo, alpha, A, x, incx, beta, y,    \
				   incy);                                      \
	}
BOTH(HALF_FULL, Ssymv, R_32F, SHAPE_SYMMETRIC)
BOTH(HALF_FULL, Dsymv, R_64F, SHAPE_SYMMETRIC)
BOTH(HALF_FULL, Csymv, C_32F, SHAPE_SYMMETRIC)
BOTH(HALF_FULL, Zsymv, C_64F, SHAPE_SYMMETRIC)
BOTH(HALF_FULL, Chemv, C_32F, SHAPE_HERMITIAN)
BOTH(HALF_FULL, Zhemv, C_64F, SHAPE_HERMITIAN)

#define HALF_BAND(w, N, name, t, shape)                                        \
	ENTRY(name##_v2##w, cublasHandle_t h, int uplo, N n, N k,              \
	      const void *alpha, const void *A, N lda, const void *x, N incx,  \
	      const void *beta, void *y, N incy)                               \
	{                                                                      \
		struct matrix a =                                              \
		    half_of(t, shape, STORED_BAND, uplo, n, k, lda);           \
                                                                               \
		return launch_half(h, &a, uplo, alpha, A, x, incx, beta, y,    \
				   incy);                                      \
	}
BOTH(HALF_BAND, Ssbmv, R_32F, SHAPE_SYMMETRIC)
BOTH(HALF_BAND, Dsbmv, R_64F, SHAPE_SYMMETRIC)
BOTH(HALF_BAND, Chbmv, C_32F, SHAPE_HERMITIAN)
BOTH(HALF_BAND, Zhbmv, C_64F, SHAPE_HERMITIAN)

#define HALF_PACKED(w, N, name, t, shape)                                      \
	ENTRY(name##_v2##w, cublasHandle_t h, int uplo, N n,                   \
	      const void *alpha, const void *AP, const void *x, N incx,        \
	      const void *beta, void *y, N incy)                               \
	{                                                                      \
		struct matrix a =                                              \
		    half_of(t, shape, STORED_PACKED, uplo, n, n, 0);           \
                                                                               \
		return launch_half(h, &a, uplo, alpha, AP, x, incx, beta, y,   \
				   incy);                                      \
	}
BOTH(HALF_PACKED, Sspmv, R_32F, SHAPE_SYMMETRIC)
BOTH(HALF_PACKED, Dspmv, R_64F, SHAPE_SYMMETRIC)
BOTH(HALF_PACKED, Chpmv, C_32F, SHAPE_HERMITIAN)
BOTH(HALF_PACKED, Zhpmv, C_64F, SHAPE_HERMITIAN)

#define TRIANGLES(w, N, p, t, solving, op)                                     \
	ENTRY(p##tr##solving##_v2##w, cublasHandle_t h, int uplo, int trans,   \
	      int diag, N n, const void *A, N lda, void *x, N incx)            \
	{                                                                      \
		struct matrix a =                                              \
		    half_of(t, SHAPE_TRIANGLE, STORED_FULL, uplo, n, n, lda);  \
                                                                               \
		return launch_triangle(h, &a, op, uplo, trans, diag, A, x,     \
				       incx);                                  \
	}                                                                      \
	ENTRY(p##tb##solving##_v2##w, cublasHandle_t h, int uplo, int trans,   \
	      int diag, N n, N k, const void *A, N lda, void *x, N incx)       \
	{                                                                      \
		struct matrix a =                                              \
		    half_of(t, SHAPE_TRIANGLE, STORED_BAND, uplo, n, k, lda);  \
                                                                               \
		return launch_triangle(h, &a, op, uplo, trans, diag, A, x,     \
				       incx);                                  \
	}                                                                      \
	ENTRY(p##tp##solving##_v2##w, cublasHandle_t h, int uplo, int trans,   \
	      int diag, N n, const void *AP, void *x, N incx)                  \
	{                                                                      \
		struct matrix a =                                              \
		    half_of(t, SHAPE_TRIANGLE, STORED_PACKED, uplo, n, n, 0);  \
                                                                               \
		return launch_triangle(h, &a, op, uplo, trans, diag, AP, x,    \
				       incx);                                  \
	}
#define TRIANGLES_OF(p, t)                                                     \
	BOTH(TRIANGLES, p, t, mv, MATRIX_MULTIPLY)                             \
	BOTH(TRIANGLES, p, t, sv, MATRIX_SOLVE)
TRIANGLES_OF(S, R_32F)
TRIANGLES_OF(D, R_64F)
TRIANGLES_OF(C, C_32F)
TRIANGLES_OF(Z, C_64F)

#define GER(w, N, name, t, conjugated)                                         \
	ENTRY(name##_v2##w, cublasHandle_t h, N m, N n, const void *alpha,     \
	      const void *x, N incx, const void *y, N incy, void *A, N lda)    \
	{                                                                      \
		struct matrix a = full_of(t, m, n, lda);                       \
                                                                               \
		return launch_rank(h, &a, MATRIX_RANK1, FILL_UPPER,            \
				   conjugated, t, alpha, x, incx, y, incy, A); \
	}
BOTH(GER, Sger, R_32F, false)
BOTH(GER, Dger, R_64F, false)
BOTH(GER, Cgeru, C_32F, false)
BOTH(GER, Zgeru, C_64F, false)
BOTH(GER, Cgerc, C_32F, true)
BOTH(GER, Zgerc, C_64F, true)

#define RANK1(w, N, name, t, alpha_type, shape)                                \
	ENTRY(name##_v2##w, cublasHandle_t h, int uplo, N n,                   \
	      const void *alpha, const void *x, N incx, void *A, N lda)        \
	{                                                                      \
		struct matrix a =                                              \
		    half_of(t, shape, STORED_FULL, uplo, n, n, lda);           \
                                                                               \
		return launch_rank(h, &a, MATRIX_RANK1, uplo,                  \
				   shape == SHAPE_HERMITIAN, alpha_type,       \
				   alpha, x, incx, NULL, 1, A);                \
	}
#define RANK1_PACKED(w, N, name, t, alpha_type, shape)                         \
	ENTRY(name##_v2##w, cublasHandle_t h, int uplo, N n,                   \
	      const void *alpha, const void *x, N incx, void *AP)              \
	{                                                                      \
		struct matrix a =                                              \
		    half_of(t, shape, STORED_PACKED, uplo, n, n, 0);           \
                                                                               \
		return launch_rank(h, &a, MATRIX_RANK1, uplo,                  \
				   shape == SHAPE_HERMITIAN, alpha_type,       \
				   alpha, x, incx, NULL, 1, AP);               \
	}
BOTH(RANK1, Ssyr, R_32F, R_32F, SHAPE_SYMMETRIC)
BOTH(RANK1, Dsyr, R_64F, R_64F, SHAPE_SYMMETRIC)
BOTH(RANK1, Csyr, C_32F, C_32F, SHAPE_SYMMETRIC)
BOTH(RANK1, Zsyr, C_64F, C_64F, SHAPE_SYMMETRIC)
BOTH(RANK1, Cher, C_32F, R_32F, SHAPE_HERMITIAN)
BOTH(RANK1, Zher, C_64F, R_64F, SHAPE_HERMITIAN)
BOTH(RANK1_PACKED, Sspr, R_32F, R_32F, SHAPE_SYMMETRIC)
BOTH(RANK1_PACKED, Dspr, R_64F, R_64F, SHAPE_SYMMETRIC)
BOTH(RANK1_PACKED, Chpr, C_32F, R_32F, SHAPE_HERMITIAN)
BOTH(RANK1_PACKED, Zhpr, C_64F, R_64F, SHAPE_HERMITIAN)

#define RANK2(w, N, name, t, shape)                                            \
	ENTRY(name##_v2##w, cublasHandle_t h, int uplo, N n,                   \
	      const void *alpha, const void *x, N incx, const void *y, N incy, \
	      void *A, N lda)                                                  \
	{                                                                      \
		struct matrix a =                                              \
		    half_of(t, shape, STORED_FULL, uplo, n, n, lda);           \
                                                                               \
		return launch_rank(h, &a, MATRIX_RANK2, uplo,                  \
				   shape == SHAPE_HERMITIAN, t, alpha, x,      \
				   incx, y, incy, A);                          \
	}
#define RANK2_PACKED(w, N, name, t, shape)                                     \
	ENTRY(name##_v2##w, cublasHandle_t h, int uplo, N n,                   \
	      const void *alpha, const void *x, N incx, const void *y, N incy, \
	      void *AP)                                                        \
	{                                                                      \
		struct matrix a =                                              \
		    half_of(t, shape, STORED_PACKED, uplo, n, n, 0);           \
                                                                               \
		return launch_rank(h, &a, MATRIX_RANK2, uplo,                  \
				   shape == SHAPE_HERMITIAN, t, alpha, x,      \
				   incx, y, incy, AP);                         \
	}
BOTH(RANK2, Ssyr2, R_32F, SHAPE_SYMMETRIC)
BOTH(RANK2, Dsyr2, R_64F, SHAPE_SYMMETRIC)
BOTH(RANK2, Csyr2, C_32F, SHAPE_SYMMETRIC)
BOTH(RANK2, Zsyr2, C_64F, SHAPE_SYMMETRIC)
BOTH(RANK2, Cher2, C_32F, SHAPE_HERMITIAN)
BOTH(RANK2, Zher2, C_64F, SHAPE_HERMITIAN)
BOTH(RANK2_PACKED, Sspr2, R_32F, SHAPE_SYMMETRIC)
BOTH(RANK2_PACKED, Dspr2, R_64F, SHAPE_SYMMETRIC)
BOTH(RANK2_PACKED, Chpr2, C_32F, SHAPE_HERMITIAN)
BOTH(RANK2_PACKED, Zhpr2, C_64F, SHAPE_HERMITIAN)
