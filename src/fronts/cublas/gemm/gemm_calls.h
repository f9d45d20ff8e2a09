/* gemm_calls.h - launching products; what their entry points share. */
#ifndef GKF_CUBLAS_GEMM_CALLS_H
#define GKF_CUBLAS_GEMM_CALLS_H

#include "fronts/cublas/kernels.h"

/* Types that go together: of A and B, of C, of the factors. */
struct gemm_types {
	enum element ab, c, scale, compute;
};

/* Whether a call's shape, and its types with it, can be computed. */
cublasStatus_t gemm_check(const struct gemm_call *call,
			  const struct gemm_types *types, const char *symbol);

/*
 * Checks a call but for its factors' and matrices' types, and launches it.
 * symbol: whose call is refused where a dimension is beyond 2^31.
 */
cublasStatus_t gemm_launch(cublasHandle_t handle, struct gemm_call *call,
			   const struct gemm_types *types, const void *alpha,
			   const void *beta, const char *symbol);

/*
 * The types for cublasComputeType_t. NOT_SUPPORTED: they do not go together;
 * INVALID_VALUE: no such computation.
 */
cublasStatus_t gemm_types_of(int compute, int a, int b, int c,
			     struct gemm_types *ret_types);

#define GEMM_SHAPE(ta, tb, m_, n_, k_, lda_, ldb_, ldc_)                       \
	.gemm = {.op_a = (enum operation)(ta),                                 \
		 .op_b = (enum operation)(tb),                                 \
		 .m = (m_),                                                    \
		 .n = (n_),                                                    \
		 .k = (k_),                                                    \
		 .lda = (lda_),                                                \
		 .ldb = (ldb_),                                                \
		 .ldc = (ldc_)}

#endif
