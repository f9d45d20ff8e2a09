/* SPDX-License-Identifier: Apache-2.0 */
/*
 * extension.c - adds matrices, multiplies by diagonal matrices, and packs
 * triangles: the entry points and the body of their kernel.
 */
#include "fronts/cublas/kernels.h"

#define T          float
#define OF(name)   name##_s
#define IS_COMPLEX 0
#include "fronts/cublas/level/extension_type.def"

#define T          double
#define OF(name)   name##_d
#define IS_COMPLEX 0
#include "fronts/cublas/level/extension_type.def"

#define T          _Complex float
#define OF(name)   name##_c
#define IS_COMPLEX 1
#include "fronts/cublas/level/extension_type.def"

#define T          _Complex double
#define OF(name)   name##_z
#define IS_COMPLEX 1
#include "fronts/cublas/level/extension_type.def"

static void run_type(const struct extension *e, const double alpha[2],
		     const double beta[2], void *a, const void *b, void *c)
{
	if (e->type == R_32F)
		run_s(e, alpha, beta, a, b, c);
	else if (e->type == R_64F)
		run_d(e, alpha, beta, a, b, c);
	else if (e->type == C_32F)
		run_c(e, alpha, beta, a, b, c);
	else
		run_z(e, alpha, beta, a, b, c);
}

/* Returns the memory of a matrix for which op(matrix) is m x n. */
static void *place_operand(struct gpukit_run *run, const struct extension *e,
			   uint64_t at, enum operation op, int64_t ld)
{
	return blas_place_matrix(run, GPUKIT_READS, at, e->type,
				 op == OP_N ? e->m : e->n,
				 op == OP_N ? e->n : e->m, ld);
}

static CUresult add_matrices(struct gpukit_run *run, const struct extension *e)
{
	void *a = NULL, *b = NULL, *c;
	double alpha[2], beta[2];

	if (!blas_read_scalar(run, &e->alpha, alpha) ||
	    !blas_read_scalar(run, &e->beta, beta))
		return CUDA_SUCCESS;
	c = blas_place_matrix(run, GPUKIT_WRITES, e->c, e->type, e->m, e->n,
			      e->ldc);
	if (!scalar_is_zero(alpha))
		a = place_operand(run, e, e->a, e->trans_a, e->lda);
	if (!scalar_is_zero(beta))
		b = place_operand(run, e, e->b, e->trans_b, e->ldb);
	if (!run->fault)
		run_type(e, alpha, beta, a, b, c);
	return CUDA_SUCCESS;
}

static CUresult scale_matrix(struct gpukit_run *run, const struct extension *e)
{
	int64_t n = e->side_or_uplo == SIDE_LEFT ? e->m : e->n;
	void *a = blas_place_matrix(run, GPUKIT_READS, e->a, e->type, e->m,
				    e->n, e->lda);
	void *x =
	    blas_place_vector(run, GPUKIT_READS, e->b, e->type, n, e->incx);
	void *c = blas_place_matrix(run, GPUKIT_WRITES, e->c, e->type, e->m,
				    e->n, e->ldc);

	if (a && x && c)
		run_type(e, NULL, NULL, a, x, c);
	return CUDA_SUCCESS;
}

static CUresult pack_triangle(struct gpukit_run *run, const struct extension *e)
{
	bool packs = e->op == EXTENSION_TRTTP;
	void *full =
	    blas_place_matrix(run, packs ? GPUKIT_READS : GPUKIT_WRITES, e->a,
			      e->type, e->n, e->n, e->lda);
	void *packed =
	    blas_place_vector(run, packs ? GPUKIT_WRITES : GPUKIT_READS, e->c,
			      e->type, e->n * (e->n + 1) / 2, 1);

	if (full && packed)
		run_type(e, NULL, NULL, full, NULL, packed);
	return CUDA_SUCCESS;
}

CUresult run_extension(struct gpukit_run *run)
{
	const struct extension *e = run->params;

	run->operations += (uint64_t)e->m * (uint64_t)e->n;
	if (e->op == EXTENSION_GEAM)
		return add_matrices(run, e);
	return e->op == EXTENSION_DGMM ? scale_matrix(run, e)
				       : pack_triangle(run, e);
}

/*
 * An operand may be the matrix C only if it is not transposed and has C's
 * leading dimension.
 */
static bool is_in_place(const struct extension *e, uint64_t operand,
			enum operation op, int64_t ld)
{
	return operand != e->c || (op == OP_N && ld == e->ldc);
}

static cublasStatus_t launch_add(cublasHandle_t handle, struct extension *e,
				 const void *alpha, const void *beta)
{
	ENTER(handle);
	REQUIRE(e->m >= 0 && e->n >= 0 && alpha && beta);
	REQUIRE(is_operation((int)e->trans_a) && is_operation((int)e->trans_b));
	REQUIRE(holds(e->lda, e->trans_a == OP_N ? e->m : e->n));
	REQUIRE(holds(e->ldb, e->trans_b == OP_N ? e->m : e->n));
	REQUIRE(holds(e->ldc, e->m));
	REQUIRE(is_in_place(e, e->a, e->trans_a, e->lda));
	REQUIRE(is_in_place(e, e->b, e->trans_b, e->ldb));
	if (!e->m || !e->n)
		return CUBLAS_STATUS_SUCCESS;
	e->alpha = blas_take_scalar(handle, alpha, e->type);
	e->beta = blas_take_scalar(handle, beta, e->type);
	return blas_launch(handle, KERNEL_extension, e);
}

static cublasStatus_t launch_scale(cublasHandle_t handle, struct extension *e)
{
	ENTER(handle);
	REQUIRE(e->m >= 0 && e->n >= 0 && is_flag(e->side_or_uplo));
	REQUIRE(holds(e->lda, e->m) && holds(e->ldc, e->m));
	REQUIRE(is_in_place(e, e->a, OP_N, e->lda));
	if (!e->m || !e->n)
		return CUBLAS_STATUS_SUCCESS;
	return blas_launch(handle, KERNEL_extension, e);
}

static cublasStatus_t launch_pack(cublasHandle_t handle, struct extension *e)
{
	ENTER(handle);
	REQUIRE(e->n >= 0 && is_triangle(e->side_or_uplo) &&
		holds(e->lda, e->n));
	if (!e->n)
		return CUBLAS_STATUS_SUCCESS;
	return blas_launch(handle, KERNEL_extension, e);
}

/* Defines a function and its variant with 64-bit dimensions. */
#define BOTH(row, ...) row(, int, __VA_ARGS__) row(_64, int64_t, __VA_ARGS__)

#define MATRICES(w, N, p, t)                                                   \
	ENTRY(p##geam##w, cublasHandle_t h, int ta, int tb, N m_, N n_,        \
	      const void *alpha, const void *A, N lda_, const void *beta,      \
	      const void *B, N ldb_, void *C, N ldc_)                          \
	{                                                                      \
		struct extension e = {.op = EXTENSION_GEAM,                    \
				      .type = t,                               \
				      .trans_a = (enum operation)ta,           \
				      .trans_b = (enum operation)tb,           \
				      .m = m_,                                 \
				      .n = n_,                                 \
				      .a = address_of(A),                      \
				      .b = address_of(B),                      \
				      .c = address_of(C),                      \
				      .lda = lda_,                             \
				      .ldb = ldb_,                             \
				      .ldc = ldc_};                            \
                                                                               \
		return launch_add(h, &e, alpha, beta);                         \
	}                                                                      \
	ENTRY(p##dgmm##w, cublasHandle_t h, int side, N m_, N n_,              \
	      const void *A, N lda_, const void *x, N incx_, void *C, N ldc_)  \
	{                                                                      \
		struct extension e = {.op = EXTENSION_DGMM,                    \
				      .type = t,                               \
				      .side_or_uplo = side,                    \
				      .m = m_,                                 \
				      .n = n_,                                 \
				      .a = address_of(A),                      \
				      .b = address_of(x),                      \
				      .c = address_of(C),                      \
				      .lda = lda_,                             \
				      .incx = incx_,                           \
				      .ldc = ldc_};                            \
                                                                               \
		return launch_scale(h, &e);                                    \
	}
BOTH(MATRICES, S, R_32F)
BOTH(MATRICES, D, R_64F)
BOTH(MATRICES, C, C_32F)
BOTH(MATRICES, Z, C_64F)

#define TRIANGLES(p, t)                                                        \
	ENTRY(p##tpttr, cublasHandle_t h, int uplo, int n_, const void *AP,    \
	      void *A, int lda_)                                               \
	{                                                                      \
		struct extension e = {.op = EXTENSION_TPTTR,                   \
				      .type = t,                               \
				      .side_or_uplo = uplo,                    \
				      .n = n_,                                 \
				      .a = address_of(A),                      \
				      .c = address_of(AP),                     \
				      .lda = lda_};                            \
                                                                               \
		return launch_pack(h, &e);                                     \
	}                                                                      \
	ENTRY(p##trttp, cublasHandle_t h, int uplo, int n_, const void *A,     \
	      int lda_, void *AP)                                              \
	{                                                                      \
		struct extension e = {.op = EXTENSION_TRTTP,                   \
				      .type = t,                               \
				      .side_or_uplo = uplo,                    \
				      .n = n_,                                 \
				      .a = address_of(A),                      \
				      .c = address_of(AP),                     \
				      .lda = lda_};                            \
                                                                               \
		return launch_pack(h, &e);                                     \
	}
TRIANGLES(S, R_32F)
TRIANGLES(D, R_64F)
TRIANGLES(C, C_32F)
TRIANGLES(Z, C_64F)
