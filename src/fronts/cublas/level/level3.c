/* SPDX-License-Identifier: Apache-2.0 */
/*
 * level3.c - entry points of level 3, except gemm, and the body of their
 * kernel.
 */
#include "fronts/cublas/level/level3_blas.h"
#include "fronts/cublas/cblas.h"

#include <stdlib.h>
#include <string.h>

static bool is_triangular(const struct level3 *l)
{
	return l->op == LEVEL3_TRMM || l->op == LEVEL3_TRSM;
}

/*
 * Whether A is square and stands to the left or right of B. True for symm,
 * hemm, trmm and trsm.
 */
static bool has_side(const struct level3 *l)
{
	return l->op == LEVEL3_SYMM || l->op == LEVEL3_HEMM || is_triangular(l);
}

static bool has_b(const struct level3 *l)
{
	return l->op != LEVEL3_SYRK && l->op != LEVEL3_HERK &&
	       l->op != LEVEL3_TRSM;
}

/*
 * Finds the number of rows and of columns of A as it is stored. In operations
 * with a parameter k, B as stored has the same size.
 */
static void size_a(const struct level3 *l, int64_t *rows, int64_t *columns)
{
	if (has_side(l)) {
		*rows = *columns = l->side == SIDE_LEFT ? l->m : l->n;
		return;
	}
	*rows = l->trans == OP_N ? l->n : l->k;
	*columns = l->trans == OP_N ? l->k : l->n;
}

static struct level3_blas describe_blas(const struct level3 *l)
{
	return (struct level3_blas){.op = l->op,
				    .type = l->type,
				    .side = BLAS_LEFT + (int)l->side,
				    .uplo = l->uplo == FILL_UPPER ? BLAS_UPPER
								  : BLAS_LOWER,
				    .trans = BLAS_NO_TRANS + (int)l->trans,
				    .diag = BLAS_NON_UNIT + (int)l->diag,
				    .m = (int)l->m,
				    .n = (int)l->n,
				    .k = (int)l->k,
				    .lda = (int)l->lda,
				    .ldb = (int)l->ldb,
				    .ldc = (int)l->ldc};
}

/* Converts A to the type in which to compute; the caller frees *ret_own. */
static CUresult convert_a(const struct level3 *l, struct level3_blas *b,
			  void **ret_own)
{
	size_t to = element_size(l->type), from = element_size(l->a_type);
	int64_t rows, columns;
	char *all;

	size_a(l, &rows, &columns);
	all = malloc((size_t)rows * (size_t)columns * to + 1);
	if (!all)
		return CUDA_ERROR_OUT_OF_MEMORY;
	for (int64_t j = 0; j < columns; j++)
		element_convert(all + (size_t)(j * rows) * to, l->type,
				(const char *)b->a +
				    (size_t)(j * l->lda) * from,
				l->a_type, (size_t)rows);
	b->a = *ret_own = all;
	b->lda = rows ? (int)rows : 1;
	return CUDA_SUCCESS;
}

/* Copies B to C, which trmm then multiplies in place. */
static void copy_b(const struct level3 *l, const struct level3_blas *b)
{
	size_t size = element_size(l->type);

	for (int64_t j = 0; b->b != b->c && j < l->n; j++)
		memcpy((char *)b->c + (size_t)(j * l->ldc) * size,
		       (const char *)b->b + (size_t)(j * l->ldb) * size,
		       (size_t)l->m * size);
}

static bool place_all(struct gpukit_run *run, const struct level3 *l,
		      struct level3_blas *b, bool reads, const uint64_t at[3])
{
	int64_t rows, columns;

	b->c = blas_place_matrix(run, GPUKIT_WRITES, at[2], l->type,
				 has_side(l) ? l->m : l->n, l->n, l->ldc);
	if (!b->c || !reads)
		return b->c;
	size_a(l, &rows, &columns);
	b->a = blas_place_matrix(run, GPUKIT_READS, at[0], l->a_type, rows,
				 columns, l->lda);
	if (!b->a || !has_b(l))
		return b->a;
	if (has_side(l)) {
		rows = l->m;
		columns = l->n;
	}
	b->b = blas_place_matrix(run, GPUKIT_READS, at[1], l->type, rows,
				 columns, l->ldb);
	return b->b;
}

/* Runs one operation; does not access A and B if alpha is 0. */
static CUresult run_one(struct gpukit_run *run, const struct level3 *l,
			const uint64_t at[3], const double alpha[2],
			const double beta[2])
{
	bool reads = !scalar_is_zero(alpha) && (has_side(l) || l->k);
	struct level3_blas b = describe_blas(l);
	void *own = NULL;
	CUresult r = CUDA_SUCCESS;

	if (!place_all(run, l, &b, reads, at))
		return CUDA_ERROR_ILLEGAL_ADDRESS;
	if (reads && l->op == LEVEL3_TRMM)
		copy_b(l, &b);
	if (reads && l->a_type != l->type)
		r = convert_a(l, &b, &own);
	if (!r)
		r = blas_result(level3_run(&b, alpha, beta));
	free(own);
	return r;
}

/* Reads the addresses of matrices i of a batch from arrays in device memory. */
static bool find_addresses(struct gpukit_run *run, const struct level3 *l,
			   int64_t i, uint64_t at[3])
{
	const uint64_t *a, *c;

	at[0] = l->a;
	at[1] = l->b;
	at[2] = l->c;
	if (!l->arrays)
		return true;
	a = run->memory(run, GPUKIT_READS, l->a + (uint64_t)i * sizeof *a,
			sizeof *a);
	c = run->memory(run, GPUKIT_READS, l->c + (uint64_t)i * sizeof *c,
			sizeof *c);
	if (!a || !c)
		return false;
	at[0] = *a;
	at[2] = *c;
	return true;
}

CUresult run_level3(struct gpukit_run *run)
{
	const struct level3 *l = run->params;
	double alpha[2], beta[2];
	CUresult r = CUDA_SUCCESS;

	if (!blas_read_scalar(run, &l->alpha, alpha) ||
	    !blas_read_scalar(run, &l->beta, beta))
		return r;
	for (int64_t i = 0; !r && i < l->count && !run->stopped(); i++) {
		uint64_t at[3];
		int64_t rows, columns;

		if (!find_addresses(run, l, i, at))
			return CUDA_ERROR_ILLEGAL_ADDRESS;
		r = run_one(run, l, at, alpha, beta);
		size_a(l, &rows, &columns);
		run->operations += (uint64_t)rows * (uint64_t)columns *
				   (uint64_t)(has_side(l) ? l->m : l->n);
	}
	return r;
}

static bool is_shaped(const struct level3 *l)
{
	int64_t rows, columns;

	if (l->m < 0 || l->n < 0 || l->k < 0 || l->count < 0)
		return false;
	if (!is_triangle((int)l->uplo) || !is_flag((int)l->side) ||
	    !is_flag((int)l->diag) || !is_operation((int)l->trans))
		return false;
	size_a(l, &rows, &columns);
	if (!holds(l->lda, rows) || !holds(l->ldc, has_side(l) ? l->m : l->n))
		return false;
	return !has_b(l) || holds(l->ldb, has_side(l) ? l->m : rows);
}

/*
 * Hermitian updates do not support OP_T. Complex symmetric updates do not
 * support OP_C.
 */
static bool is_transposable(const struct level3 *l)
{
	bool is_complex = element_is_complex(l->type);

	if (l->op == LEVEL3_HERK || l->op == LEVEL3_HER2K ||
	    l->op == LEVEL3_HERKX)
		return l->trans != OP_T;
	if (is_complex && (l->op == LEVEL3_SYRK || l->op == LEVEL3_SYR2K ||
			   l->op == LEVEL3_SYRKX))
		return l->trans != OP_C;
	return true;
}

static bool is_within_int(const struct level3 *l)
{
	return l->m <= INT32_MAX && l->n <= INT32_MAX && l->k <= INT32_MAX &&
	       l->lda <= INT32_MAX && l->ldb <= INT32_MAX &&
	       l->ldc <= INT32_MAX;
}

/* beta is NULL for a function without beta. */
static cublasStatus_t launch_level3(cublasHandle_t handle, struct level3 *l,
				    const void *alpha, enum element alpha_type,
				    const void *beta, enum element beta_type,
				    const char *symbol)
{
	ENTER(handle);
	REQUIRE(is_shaped(l) && is_transposable(l) && alpha);
	REQUIRE(beta || is_triangular(l));
	if (!l->n || (has_side(l) && !l->m) || !l->count)
		return CUBLAS_STATUS_SUCCESS;
	if (!is_within_int(l))
		return blas_refuse(symbol);
	l->alpha = blas_take_scalar(handle, alpha, alpha_type);
	if (beta)
		l->beta = blas_take_scalar(handle, beta, beta_type);
	return blas_launch(handle, KERNEL_level3, l);
}

/* Defines a function and its variant with 64-bit dimensions. */
#define BOTH(row, ...) row(, int, __VA_ARGS__) row(_64, int64_t, __VA_ARGS__)

#define MATRICES(op_, t, A, lda_, B, ldb_, C, ldc_)                            \
	.op = (op_), .type = (t), .a_type = (t), .a = address_of(A),           \
	.b = address_of(B), .c = address_of(C), .lda = (lda_), .ldb = (ldb_),  \
	.ldc = (ldc_), .count = 1

#define SYMM(w, N, name, t, op)                                                \
	ENTRY(name##_v2##w, cublasHandle_t h, int side, int uplo, N m, N n,    \
	      const void *alpha, const void *A, N lda, const void *B, N ldb,   \
	      const void *beta, void *C, N ldc)                                \
	{                                                                      \
		struct level3 l = {MATRICES(op, t, A, lda, B, ldb, C, ldc),    \
				   .side = (enum side)side,                    \
				   .uplo = (enum fill)uplo, .m = m, .n = n};   \
                                                                               \
		return launch_level3(h, &l, alpha, t, beta, t, __func__);      \
	}
BOTH(SYMM, Ssymm, R_32F, LEVEL3_SYMM)
BOTH(SYMM, Dsymm, R_64F, LEVEL3_SYMM)
BOTH(SYMM, Csymm, C_32F, LEVEL3_SYMM)
BOTH(SYMM, Zsymm, C_64F, LEVEL3_SYMM)
BOTH(SYMM, Chemm, C_32F, LEVEL3_HEMM)
BOTH(SYMM, Zhemm, C_64F, LEVEL3_HEMM)

#define SYRK(w, N, name, t, factor, op)                                        \
	ENTRY(name##_v2##w, cublasHandle_t h, int uplo, int trans, N n, N k,   \
	      const void *alpha, const void *A, N lda, const void *beta,       \
	      void *C, N ldc)                                                  \
	{                                                                      \
		struct level3 l = {MATRICES(op, t, A, lda, NULL, 1, C, ldc),   \
				   .uplo = (enum fill)uplo,                    \
				   .trans = (enum operation)trans, .n = n,     \
				   .k = k};                                    \
                                                                               \
		return launch_level3(h, &l, alpha, factor, beta, factor,       \
				     __func__);                                \
	}
BOTH(SYRK, Ssyrk, R_32F, R_32F, LEVEL3_SYRK)
BOTH(SYRK, Dsyrk, R_64F, R_64F, LEVEL3_SYRK)
BOTH(SYRK, Csyrk, C_32F, C_32F, LEVEL3_SYRK)
BOTH(SYRK, Zsyrk, C_64F, C_64F, LEVEL3_SYRK)
BOTH(SYRK, Cherk, C_32F, R_32F, LEVEL3_HERK)
BOTH(SYRK, Zherk, C_64F, R_64F, LEVEL3_HERK)

#define SYR2K(w, N, name, t, beta_type, op)                                    \
	ENTRY(name##w, cublasHandle_t h, int uplo, int trans, N n, N k,        \
	      const void *alpha, const void *A, N lda, const void *B, N ldb,   \
	      const void *beta, void *C, N ldc)                                \
	{                                                                      \
		struct level3 l = {MATRICES(op, t, A, lda, B, ldb, C, ldc),    \
				   .uplo = (enum fill)uplo,                    \
				   .trans = (enum operation)trans, .n = n,     \
				   .k = k};                                    \
                                                                               \
		return launch_level3(h, &l, alpha, t, beta, beta_type,         \
				     __func__);                                \
	}
BOTH(SYR2K, Ssyr2k_v2, R_32F, R_32F, LEVEL3_SYR2K)
BOTH(SYR2K, Dsyr2k_v2, R_64F, R_64F, LEVEL3_SYR2K)
BOTH(SYR2K, Csyr2k_v2, C_32F, C_32F, LEVEL3_SYR2K)
BOTH(SYR2K, Zsyr2k_v2, C_64F, C_64F, LEVEL3_SYR2K)
BOTH(SYR2K, Cher2k_v2, C_32F, R_32F, LEVEL3_HER2K)
BOTH(SYR2K, Zher2k_v2, C_64F, R_64F, LEVEL3_HER2K)
BOTH(SYR2K, Ssyrkx, R_32F, R_32F, LEVEL3_SYRKX)
BOTH(SYR2K, Dsyrkx, R_64F, R_64F, LEVEL3_SYRKX)
BOTH(SYR2K, Csyrkx, C_32F, C_32F, LEVEL3_SYRKX)
BOTH(SYR2K, Zsyrkx, C_64F, C_64F, LEVEL3_SYRKX)
BOTH(SYR2K, Cherkx, C_32F, R_32F, LEVEL3_HERKX)
BOTH(SYR2K, Zherkx, C_64F, R_64F, LEVEL3_HERKX)

/* A has complex 8-bit integers or complex floats; C has complex floats. */
#define SYRK_EX(w, N, name, factor, op_)                                       \
	ENTRY(name##w, cublasHandle_t h, int uplo, int trans, N n, N k,        \
	      const void *alpha, const void *A, int at, N lda,                 \
	      const void *beta, void *C, int ct, N ldc)                        \
	{                                                                      \
		struct level3 l = {                                            \
		    MATRICES(op_, C_32F, A, lda, NULL, 1, C, ldc),             \
		    .uplo = (enum fill)uplo, .trans = (enum operation)trans,   \
		    .n = n, .k = k};                                           \
                                                                               \
		ENTER(h);                                                      \
		if ((at != C_8I && at != C_32F) || ct != C_32F)                \
			return CUBLAS_STATUS_NOT_SUPPORTED;                    \
		l.a_type = (enum element)at;                                   \
		return launch_level3(h, &l, alpha, factor, beta, factor,       \
				     __func__);                                \
	}
BOTH(SYRK_EX, CsyrkEx, C_32F, LEVEL3_SYRK)
BOTH(SYRK_EX, Csyrk3mEx, C_32F, LEVEL3_SYRK)
BOTH(SYRK_EX, CherkEx, R_32F, LEVEL3_HERK)
BOTH(SYRK_EX, Cherk3mEx, R_32F, LEVEL3_HERK)

#define TRIANGLE                                                               \
	.side = (enum side)side, .uplo = (enum fill)uplo,                      \
	.trans = (enum operation)trans, .diag = (enum diagonal)diag, .m = m,   \
	.n = n
#define TRMM(w, N, p, t)                                                       \
	ENTRY(p##trmm_v2##w, cublasHandle_t h, int side, int uplo, int trans,  \
	      int diag, N m, N n, const void *alpha, const void *A, N lda,     \
	      const void *B, N ldb, void *C, N ldc)                            \
	{                                                                      \
		struct level3 l = {                                            \
		    MATRICES(LEVEL3_TRMM, t, A, lda, B, ldb, C, ldc),          \
		    TRIANGLE};                                                 \
                                                                               \
		return launch_level3(h, &l, alpha, t, NULL, t, __func__);      \
	}                                                                      \
	ENTRY(p##trsm_v2##w, cublasHandle_t h, int side, int uplo, int trans,  \
	      int diag, N m, N n, const void *alpha, const void *A, N lda,     \
	      void *B, N ldb)                                                  \
	{                                                                      \
		struct level3 l = {                                            \
		    MATRICES(LEVEL3_TRSM, t, A, lda, NULL, 1, B, ldb),         \
		    TRIANGLE};                                                 \
                                                                               \
		return launch_level3(h, &l, alpha, t, NULL, t, __func__);      \
	}                                                                      \
	ENTRY(p##trsmBatched##w, cublasHandle_t h, int side, int uplo,         \
	      int trans, int diag, N m, N n, const void *alpha,                \
	      const void *const *A, N lda, void *const *B, N ldb, N count_)    \
	{                                                                      \
		struct level3 l = {                                            \
		    MATRICES(LEVEL3_TRSM, t, A, lda, NULL, 1, B, ldb),         \
		    TRIANGLE, .arrays = true};                                 \
                                                                               \
		l.count = count_;                                              \
		return launch_level3(h, &l, alpha, t, NULL, t, __func__);      \
	}
BOTH(TRMM, S, R_32F)
BOTH(TRMM, D, R_64F)
BOTH(TRMM, C, C_32F)
BOTH(TRMM, Z, C_64F)
