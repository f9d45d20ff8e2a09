/* SPDX-License-Identifier: Apache-2.0 */
/*
 * level3_blas.h - level 3 operations, except gemm, on host pointers.
 */
#ifndef GKF_CUBLAS_LEVEL3_BLAS_H
#define GKF_CUBLAS_LEVEL3_BLAS_H

#include "fronts/cublas/kernels.h"

/* side, uplo, trans and diag are OpenBLAS' constants. */
struct level3_blas {
	enum level3_op op;
	enum element type;
	int side, uplo, trans, diag;
	int m, n, k;
	const void *a, *b;
	void *c; /* both input and output of trmm and trsm */
	int lda, ldb, ldc;
};

/* Returns 0 or -ENOMEM. C is not read if beta is 0. */
int level3_run(const struct level3_blas *b, const double alpha[2],
	       const double beta[2]);

#endif
