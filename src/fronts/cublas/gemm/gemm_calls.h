/* SPDX-License-Identifier: Apache-2.0 */
/* gemm_calls.h - checks and launches products, for their entry points. */
#ifndef GKF_CUBLAS_GEMM_CALLS_H
#define GKF_CUBLAS_GEMM_CALLS_H

#include "fronts/cublas/kernels.h"

/*
 * The types of A and B, of C, of alpha and beta, and of the sums, in that
 * order.
 */
struct gemm_types {
	enum element ab, c, scale, compute;
};

/* Checks a call's dimensions and types. */
cublasStatus_t gemm_check(const struct gemm_call *call,
			  const struct gemm_types *types, const char *symbol);

/*
 * Checks a call, except for its types, and launches it. If a dimension exceeds
 * 2^31 - 1, the call is refused. `symbol` is the name of the entry point, under
 * which the refusal is counted.
 */
cublasStatus_t gemm_launch(cublasHandle_t handle, struct gemm_call *call,
			   const struct gemm_types *types, const void *alpha,
			   const void *beta, const char *symbol);

/*
 * Finds the types for a cublasComputeType_t. Returns NOT_SUPPORTED for an
 * unsupported combination, INVALID_VALUE if `compute` is invalid.
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
