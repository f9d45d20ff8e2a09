/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gemm_calls.c - entry points of matrix products: single, batched, strided,
 * grouped.
 */
#include "fronts/cublas/gemm/gemm_calls.h"

/* Types of the functions that have a type in their name. */
static const struct gemm_types of_S = {R_32F, R_32F, R_32F, R_32F};
static const struct gemm_types of_D = {R_64F, R_64F, R_64F, R_64F};
static const struct gemm_types of_C = {C_32F, C_32F, C_32F, R_32F};
static const struct gemm_types of_Z = {C_64F, C_64F, C_64F, R_64F};
static const struct gemm_types of_H = {R_16F, R_16F, R_16F, R_32F};
static const struct gemm_types of_HSH = {R_16F, R_16F, R_32F, R_32F};
static const struct gemm_types of_HSS = {R_16F, R_32F, R_32F, R_32F};
static const struct gemm_types of_TST = {R_16BF, R_16BF, R_32F, R_32F};
static const struct gemm_types of_TSS = {R_16BF, R_32F, R_32F, R_32F};

/* Defines a function and its variant with 64-bit dimensions. */
#define BOTH(row, ...) row(, int, __VA_ARGS__) row(_64, int64_t, __VA_ARGS__)

/* Launches one product, or a batch of them. */
static cublasStatus_t launch_product(cublasHandle_t handle,
				     struct gemm_call *call,
				     const struct gemm_types *types,
				     const void *alpha, const void *a,
				     const void *b, const void *beta,
				     const void *c, const char *symbol)
{
	call->a = address_of(a);
	call->b = address_of(b);
	call->c = address_of(c);
	return gemm_launch(handle, call, types, alpha, beta, symbol);
}

#define SINGLE(w, N, name, types)                                              \
	ENTRY(name##w, cublasHandle_t h, int ta, int tb, N m, N n, N k,        \
	      const void *alpha, const void *A, N lda, const void *B, N ldb,   \
	      const void *beta, void *C, N ldc)                                \
	{                                                                      \
		struct gemm_call call = {                                      \
		    GEMM_SHAPE(ta, tb, m, n, k, lda, ldb, ldc), .count = 1};   \
                                                                               \
		return launch_product(h, &call, &types, alpha, A, B, beta, C,  \
				      __func__);                               \
	}
BOTH(SINGLE, Sgemm_v2, of_S)
BOTH(SINGLE, Dgemm_v2, of_D)
BOTH(SINGLE, Cgemm_v2, of_C)
BOTH(SINGLE, Zgemm_v2, of_Z)
BOTH(SINGLE, Cgemm3m, of_C)
BOTH(SINGLE, Zgemm3m, of_Z)
BOTH(SINGLE, Hgemm, of_H)

#define BATCHED(w, N, name, types)                                             \
	ENTRY(name##Batched##w, cublasHandle_t h, int ta, int tb, N m, N n,    \
	      N k, const void *alpha, const void *const *A, N lda,             \
	      const void *const *B, N ldb, const void *beta, void *const *C,   \
	      N ldc, N count)                                                  \
	{                                                                      \
		struct gemm_call call = {                                      \
		    GEMM_SHAPE(ta, tb, m, n, k, lda, ldb, ldc),                \
		    .count = count, .arrays = true};                           \
                                                                               \
		return launch_product(h, &call, &types, alpha, A, B, beta, C,  \
				      __func__);                               \
	}                                                                      \
	STRIDED(w, N, name##StridedBatched, types)
#define STRIDED(w, N, name, types)                                             \
	ENTRY(name##w, cublasHandle_t h, int ta, int tb, N m, N n, N k,        \
	      const void *alpha, const void *A, N lda, long long sa,           \
	      const void *B, N ldb, long long sb, const void *beta, void *C,   \
	      N ldc, long long sc, N count)                                    \
	{                                                                      \
		struct gemm_call call = {                                      \
		    GEMM_SHAPE(ta, tb, m, n, k, lda, ldb, ldc),                \
		    .stride_a = sa, .stride_b = sb, .stride_c = sc,            \
		    .count = count};                                           \
                                                                               \
		return launch_product(h, &call, &types, alpha, A, B, beta, C,  \
				      __func__);                               \
	}
BOTH(BATCHED, Sgemm, of_S)
BOTH(BATCHED, Dgemm, of_D)
BOTH(BATCHED, Cgemm, of_C)
BOTH(BATCHED, Zgemm, of_Z)
BOTH(BATCHED, Hgemm, of_H)
BOTH(BATCHED, Cgemm3m, of_C)

/*
 * Multiplying a matrix by a vector is a product whose right-hand matrix has one
 * column.
 */
#define GEMV_SHAPE(trans, m, n, lda, incx_, incy_)                             \
	GEMM_SHAPE(trans, OP_N, (trans) == OP_N ? (m) : (n), 1,                \
		   (trans) == OP_N ? (n) : (m), lda, 1, 1),                    \
	    .vectors = true, .incx = (incx_), .incy = (incy_)
#define GEMV(w, N, p)                                                          \
	ENTRY(p##gemvBatched##w, cublasHandle_t h, int trans, N m, N n,        \
	      const void *alpha, const void *const *A, N lda,                  \
	      const void *const *x, N incx, const void *beta, void *const *y,  \
	      N incy, N count)                                                 \
	{                                                                      \
		struct gemm_call call = {                                      \
		    GEMV_SHAPE(trans, m, n, lda, incx, incy), .count = count,  \
		    .arrays = true};                                           \
                                                                               \
		return launch_product(h, &call, &of_##p, alpha, A, x, beta, y, \
				      __func__);                               \
	}                                                                      \
	ENTRY(p##gemvStridedBatched##w, cublasHandle_t h, int trans, N m, N n, \
	      const void *alpha, const void *A, N lda, long long sa,           \
	      const void *x, N incx, long long sx, const void *beta, void *y,  \
	      N incy, long long sy, N count)                                   \
	{                                                                      \
		struct gemm_call call = {                                      \
		    GEMV_SHAPE(trans, m, n, lda, incx, incy), .stride_a = sa,  \
		    .stride_b = sx, .stride_c = sy, .count = count};           \
                                                                               \
		return launch_product(h, &call, &of_##p, alpha, A, x, beta, y, \
				      __func__);                               \
	}
BOTH(GEMV, S)
BOTH(GEMV, D)
BOTH(GEMV, C)
BOTH(GEMV, Z)
BOTH(GEMV, HSH)
BOTH(GEMV, HSS)
BOTH(GEMV, TST)
BOTH(GEMV, TSS)

/* Launches a product given by a cublasComputeType_t and the matrices' types. */
static cublasStatus_t launch_product_ex(cublasHandle_t handle,
					struct gemm_call *call, int compute,
					const int types[3], const void *alpha,
					const void *a, const void *b,
					const void *beta, const void *c,
					const char *symbol)
{
	struct gemm_types t;
	cublasStatus_t status;

	ENTER(handle);
	status = gemm_types_of(compute, types[0], types[1], types[2], &t);
	return status ? status
		      : launch_product(handle, call, &t, alpha, a, b, beta, c,
				       symbol);
}

/*
 * Whether an algorithm is valid. Valid algorithms are hints without effect
 * here.
 */
static bool is_algorithm(int algo)
{
	return (algo >= -1 && algo <= 23) || (algo >= 99 && algo <= 115) ||
	       algo == 999;
}

#define EX(w, N, unused)                                                       \
	ENTRY(GemmEx##w, cublasHandle_t h, int ta, int tb, N m, N n, N k,      \
	      const void *alpha, const void *A, int at, N lda, const void *B,  \
	      int bt, N ldb, const void *beta, void *C, int ct, N ldc,         \
	      int compute, int algo)                                           \
	{                                                                      \
		struct gemm_call call = {                                      \
		    GEMM_SHAPE(ta, tb, m, n, k, lda, ldb, ldc), .count = 1};   \
                                                                               \
		ENTER(h);                                                      \
		REQUIRE(is_algorithm(algo));                                   \
		return launch_product_ex(h, &call, compute,                    \
					 (int[]){at, bt, ct}, alpha, A, B,     \
					 beta, C, __func__);                   \
	}                                                                      \
	ENTRY(GemmBatchedEx##w, cublasHandle_t h, int ta, int tb, N m, N n,    \
	      N k, const void *alpha, const void *const *A, int at, N lda,     \
	      const void *const *B, int bt, N ldb, const void *beta,           \
	      void *const *C, int ct, N ldc, N count, int compute, int algo)   \
	{                                                                      \
		struct gemm_call call = {                                      \
		    GEMM_SHAPE(ta, tb, m, n, k, lda, ldb, ldc),                \
		    .count = count, .arrays = true};                           \
                                                                               \
		ENTER(h);                                                      \
		REQUIRE(is_algorithm(algo));                                   \
		return launch_product_ex(h, &call, compute,                    \
					 (int[]){at, bt, ct}, alpha, A, B,     \
					 beta, C, __func__);                   \
	}                                                                      \
	ENTRY(GemmStridedBatchedEx##w, cublasHandle_t h, int ta, int tb, N m,  \
	      N n, N k, const void *alpha, const void *A, int at, N lda,       \
	      long long sa, const void *B, int bt, N ldb, long long sb,        \
	      const void *beta, void *C, int ct, N ldc, long long sc, N count, \
	      int compute, int algo)                                           \
	{                                                                      \
		struct gemm_call call = {                                      \
		    GEMM_SHAPE(ta, tb, m, n, k, lda, ldb, ldc),                \
		    .stride_a = sa, .stride_b = sb, .stride_c = sc,            \
		    .count = count};                                           \
                                                                               \
		ENTER(h);                                                      \
		REQUIRE(is_algorithm(algo));                                   \
		return launch_product_ex(h, &call, compute,                    \
					 (int[]){at, bt, ct}, alpha, A, B,     \
					 beta, C, __func__);                   \
	}
BOTH(EX, )

#define COMPUTE_32F 68

/*
 * alpha and beta are float or cuComplex; the types of the matrices are
 * parameters.
 */
#define NAMED_EX(w, N, name, is_complex)                                       \
	ENTRY(name##w, cublasHandle_t h, int ta, int tb, N m, N n, N k,        \
	      const void *alpha, const void *A, int at, N lda, const void *B,  \
	      int bt, N ldb, const void *beta, void *C, int ct, N ldc)         \
	{                                                                      \
		struct gemm_call call = {                                      \
		    GEMM_SHAPE(ta, tb, m, n, k, lda, ldb, ldc), .count = 1};   \
                                                                               \
		ENTER(h);                                                      \
		if (element_is_complex((enum element)at) != is_complex)        \
			return CUBLAS_STATUS_NOT_SUPPORTED;                    \
		return launch_product_ex(h, &call, COMPUTE_32F,                \
					 (int[]){at, bt, ct}, alpha, A, B,     \
					 beta, C, __func__);                   \
	}
BOTH(NAMED_EX, SgemmEx, false)
BOTH(NAMED_EX, CgemmEx, true)
BOTH(NAMED_EX, Cgemm3mEx, true)

/*
 * Each group is a batch of products of one shape. Its matrices follow those of
 * the previous group in the arrays. All groups are checked before any is
 * launched.
 */
struct groups {
	int64_t count;
	bool is_wide; /* whether numbers are int64_t rather than int */
	const int *ta, *tb;
	const void *m, *n, *k, *lda, *ldb, *ldc, *sizes;
	const void *alpha, *beta;
	const void *const *a, *const *b;
	void *const *c;
};

static int64_t number_at(const struct groups *g, const void *numbers, int64_t i)
{
	return g->is_wide ? ((const int64_t *)numbers)[i]
			  : ((const int *)numbers)[i];
}

static struct gemm_call describe_group(const struct groups *g, int64_t i)
{
#define AT(field) number_at(g, g->field, i)
	return (struct gemm_call){GEMM_SHAPE(g->ta[i], g->tb[i], AT(m), AT(n),
					     AT(k), AT(lda), AT(ldb), AT(ldc)),
				  .count = AT(sizes), .arrays = true};
#undef AT
}

static cublasStatus_t multiply_groups(cublasHandle_t handle,
				      const struct groups *g,
				      const struct gemm_types *types,
				      const char *symbol)
{
	size_t size = element_size(types->scale);
	cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
	int64_t first = 0;

	ENTER(handle);
	REQUIRE(g->count >= 0 && g->alpha && g->beta);
	for (int64_t i = 0; !status && i < g->count; i++) {
		struct gemm_call call = describe_group(g, i);

		status = gemm_check(&call, types, symbol);
	}
	for (int64_t i = 0; !status && i < g->count; i++) {
		struct gemm_call call = describe_group(g, i);

		status = launch_product(
		    handle, &call, types,
		    (const char *)g->alpha + (size_t)i * size, g->a + first,
		    g->b + first, (const char *)g->beta + (size_t)i * size,
		    g->c + first, symbol);
		first += call.count;
	}
	return status;
}

#define GROUPS(N)                                                              \
	{                                                                      \
		groups, sizeof(N) == sizeof(int64_t), ta, tb, m, n, k, lda,    \
		    ldb, ldc, sizes, alpha, beta, A, B, C                      \
	}
#define GROUPED(w, N, p)                                                       \
	ENTRY(p##gemmGroupedBatched##w, cublasHandle_t h, const int *ta,       \
	      const int *tb, const N *m, const N *n, const N *k,               \
	      const void *alpha, const void *const *A, const N *lda,           \
	      const void *const *B, const N *ldb, const void *beta,            \
	      void *const *C, const N *ldc, N groups, const N *sizes)          \
	{                                                                      \
		return multiply_groups(h, &(struct groups)GROUPS(N), &of_##p,  \
				       __func__);                              \
	}
BOTH(GROUPED, S)
BOTH(GROUPED, D)

#define GROUPED_EX(w, N, unused)                                               \
	ENTRY(GemmGroupedBatchedEx##w, cublasHandle_t h, const int *ta,        \
	      const int *tb, const N *m, const N *n, const N *k,               \
	      const void *alpha, const void *const *A, int at, const N *lda,   \
	      const void *const *B, int bt, const N *ldb, const void *beta,    \
	      void *const *C, int ct, const N *ldc, N groups, const N *sizes,  \
	      int compute)                                                     \
	{                                                                      \
		struct gemm_types t;                                           \
		cublasStatus_t found;                                          \
                                                                               \
		ENTER(h);                                                      \
		found = gemm_types_of(compute, at, bt, ct, &t);                \
		if (found)                                                     \
			return found;                                          \
		return multiply_groups(h, &(struct groups)GROUPS(N), &t,       \
				       __func__);                              \
	}
BOTH(GROUPED_EX, )
