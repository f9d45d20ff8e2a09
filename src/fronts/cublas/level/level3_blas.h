/*
 * level3_blas.h - level 3 but for gemm, on host pointers.
 */
#ifndef GKF_CUBLAS_LEVEL3_BLAS_H
#define GKF_CUBLAS_LEVEL3_BLAS_H

#include "fronts/cublas/kernels.h"

/* In OpenBLAS' constants. */
struct level3_blas {
	enum level3_op op;
	enum element type;
	int side, uplo, trans, diag;
	int m, n, k;
	const void *a, *b;
	void *c; /* of trmm and trsm: in and out */
	int lda, ldb, ldc;
};

/* 0, or -ENOMEM. Where beta is 0, what C holds does not count. */
int level3_run(const struct level3_blas *b, const double alpha[2],
	       const double beta[2]);

#endif
