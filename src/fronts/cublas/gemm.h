/*
 * gemm.h - one product of matrices on host pointers, of any types: what cuBLAS
 * and cuBLASLt share. Column-major.
 *
 *	D = alpha * op_a(A) * op_b(B) + beta * C
 */
#ifndef GKF_CUBLAS_GEMM_H
#define GKF_CUBLAS_GEMM_H

#include "fronts/common/element.h"

/* cublasOperation_t. */
enum operation { OP_N, OP_T, OP_C, OP_CONJG };

struct gemm {
	enum operation op_a, op_b; /* not OP_CONJG */
	int64_t m, n, k;           /* op_a(A): m x k; op_b(B): k x n */
	const void *a, *b, *c;     /* c is not read where beta is 0 */
	void *d;                   /* may be c, of the same type and ld then */
	int64_t lda, ldb, ldc, ldd;
	enum element type_a, type_b, type_c, type_d;
	/*
	 * What products are summed in: R_64F or C_64F; R_32I, which is exact
	 * and, in a D of R_32I, wraps; else float. Complex where A is.
	 */
	enum element compute;
	double alpha[2], beta[2]; /* real, imaginary */
	bool (*stopped)(void);    /* NULL: nothing stops it */
};

/*
 * All of m, n, k and leading dimensions are at most INT32_MAX, or 0; D is
 * written only when this answers 0, but for a stopped one. A and B are not read
 * where alpha is 0. Negative: ENOMEM, or ENOSYS where OpenBLAS is absent.
 */
int gemm_run(const struct gemm *g);

#endif
