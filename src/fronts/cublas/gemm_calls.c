/* gemm_calls.c - entry points of products: single, batched, strided, grouped.
 */
#include "fronts/cublas/gemm_calls.h"

/* The types of functions whose names tell them. */
static const struct gemm_types of_S = {R_32F, R_32F, R_32F, R_32F};
static const struct gemm_types of_D = {R_64F, R_64F, R_64F, R_64F};
static const struct gemm_types of_C = {C_32F, C_32F, C_32F, R_32F};
static const struct gemm_types of_Z = {C_64F, C_64F, C_64F, R_64F};
static const struct gemm_types of_H = {R_16F, R_16F, R_16F, R_32F};
static const struct gemm_types of_HSH = {R_16F, R_16F, R_32F, R_32F};
static const struct gemm_types of_HSS = {R_16F, R_32F, R_32F, R_32F};
static const struct gemm_types of_TST = {R_16BF, R_16BF, R_32F, R_32F};
static const struct gemm_types of_TSS = {R_16BF, R_32F, R_32F, R_32F};

/* A function and its twin of 64-bit dimensions. */
#define BOTH(row, ...) row(, int, __VA_ARGS__) row(_64, int64_t, __VA_ARGS__)

/* A batch by arrays of addresses, by strides, or one. */
static cublasStatus_t multiply(cublasHandle_t handle, struct gemm_call *call,
			       const struct gemm_types *types,
			       const void *alpha, const void *a, const void *b,
			       const void *beta, const void *c,
			       const char *symbol)
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
		return multiply(h, &call, &types, alpha, A, B, beta, C,        \
				__func__);                                     \
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
		return multiply(h, &call, &types, alpha, A, B, beta, C,        \
				__func__);                                     \
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
		return multiply(h, &call, &types, alpha, A, B, beta, C,        \
				__func__);                                     \
	}
BOTH(BATCHED, Sgemm, of_S)
BOTH(BATCHED, Dgemm, of_D)
BOTH(BATCHED, Cgemm, of_C)
BOTH(BATCHED, Zgemm, of_Z)
BOTH(BATCHED, Hgemm, of_H)
BOTH(BATCHED, Cgemm3m, of_C)

/* A vector times op(A): a product whose right-hand side has one column. */
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
		return multiply(h, &call, &of_##p, alpha, A, x, beta, y,       \
				__func__);                                     \
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
		return multiply(h, &call, &of_##p, alpha, A, x, beta, y,       \
				__func__);                                     \
	}
BOTH(GEMV, S)
BOTH(GEMV, D)
BOTH(GEMV, C)
BOTH(GEMV, Z)
BOTH(GEMV, HSH)
BOTH(GEMV, HSS)
BOTH(GEMV, TST)
BOTH(GEMV, TSS)

/* With cublasComputeType_t and types that go together with it. */
static cublasStatus_t multiply_ex(cublasHandle_t handle, struct gemm_call *call,
				  int compute, const int types[3],
				  const void *alpha, const void *a,
				  const void *b, const void *beta,
				  const void *c, const char *symbol)
{
	struct gemm_types t;
	cublasStatus_t status;

	ENTER(handle);
	status = gemm_types_of(compute, types[0], types[1], types[2], &t);
	return status
		   ? status
		   : multiply(handle, call, &t, alpha, a, b, beta, c, symbol);
}

/* The algorithms are hints; one that there is not is no hint. */
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
		return multiply_ex(h, &call, compute, (int[]){at, bt, ct},     \
				   alpha, A, B, beta, C, __func__);            \
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
		return multiply_ex(h, &call, compute, (int[]){at, bt, ct},     \
				   alpha, A, B, beta, C, __func__);            \
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
		return multiply_ex(h, &call, compute, (int[]){at, bt, ct},     \
				   alpha, A, B, beta, C, __func__);            \
	}
BOTH(EX, )

#define COMPUTE_32F 68

/* Factors of float or cuComplex, matrices of types that are said. */
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
		return multiply_ex(h, &call, COMPUTE_32F, (int[]){at, bt, ct}, \
				   alpha, A, B, beta, C, __func__);            \
	}
BOTH(NAMED_EX, SgemmEx, false)
BOTH(NAMED_EX, CgemmEx, true)
BOTH(NAMED_EX, Cgemm3mEx, true)

/* A group is a batch of one shape; its matrices follow those before it. */
#define GROUPED_LOOP(N, h, types, size)                                        \
	for (N g = 0, first = 0; g < groups; first += sizes[g++]) {            \
		struct gemm_call call = {GEMM_SHAPE(ta[g], tb[g], m[g], n[g],  \
						    k[g], lda[g], ldb[g],      \
						    ldc[g]),                   \
					 .count = sizes[g], .arrays = true};   \
		cublasStatus_t status = multiply(                              \
		    h, &call, types, (const char *)alpha + (size_t)g * (size), \
		    A + first, B + first,                                      \
		    (const char *)beta + (size_t)g * (size), C + first,        \
		    __func__);                                                 \
                                                                               \
		if (status)                                                    \
			return status;                                         \
	}

#define GROUPED_ARGUMENTS(N)                                                   \
	const int *ta, const int *tb, const N *m, const N *n, const N *k,      \
	    const void *alpha, const void *const *A
#define GROUPED(w, N, p)                                                       \
	ENTRY(p##gemmGroupedBatched##w, cublasHandle_t h,                      \
	      GROUPED_ARGUMENTS(N), const N *lda, const void *const *B,        \
	      const N *ldb, const void *beta, void *const *C, const N *ldc,    \
	      N groups, const N *sizes)                                        \
	{                                                                      \
		ENTER(h);                                                      \
		REQUIRE(groups >= 0 && alpha && beta);                         \
		GROUPED_LOOP(N, h, &of_##p, element_size(of_##p.scale))        \
		return CUBLAS_STATUS_SUCCESS;                                  \
	}
BOTH(GROUPED, S)
BOTH(GROUPED, D)

#define GROUPED_EX(w, N, unused)                                               \
	ENTRY(GemmGroupedBatchedEx##w, cublasHandle_t h, GROUPED_ARGUMENTS(N), \
	      int at, const N *lda, const void *const *B, int bt,              \
	      const N *ldb, const void *beta, void *const *C, int ct,          \
	      const N *ldc, N groups, const N *sizes, int compute)             \
	{                                                                      \
		struct gemm_types t;                                           \
		cublasStatus_t found;                                          \
                                                                               \
		ENTER(h);                                                      \
		REQUIRE(groups >= 0 && alpha && beta);                         \
		found = gemm_types_of(compute, at, bt, ct, &t);                \
		if (found)                                                     \
			return found;                                          \
		GROUPED_LOOP(N, h, &t, element_size(t.scale))                  \
		return CUBLAS_STATUS_SUCCESS;                                  \
	}
BOTH(GROUPED_EX, )
