/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gemm.h - multiplies matrices of any types, given by host pointers; shared by
 * cuBLAS and cuBLASLt. Matrices are column-major.
 *
 * 	D = alpha * op_a(A) * op_b(B) + beta * C
 */
#ifndef GKF_CUBLAS_GEMM_H
#define GKF_CUBLAS_GEMM_H

#include "fronts/common/element.h"

/* The values of cublasOperation_t. */
enum operation { OP_N, OP_T, OP_C, OP_CONJG };

struct gemm {
	enum operation op_a, op_b; /* not OP_CONJG */
	int64_t m, n, k;           /* op_a(A) is m x k, op_b(B) is k x n */
	const void *a, *b, *c;     /* c is not read if beta is 0 */
	/* may be `c` if both have the same type and leading dimension */
	void *d;
	int64_t lda, ldb, ldc, ldd;
	enum element type_a, type_b, type_c, type_d;
	/*
	 * The type of sums: R_64F, C_64F or R_32I; any other type means float.
	 * Sums of type R_32I are exact, but they wrap if D is R_32I, too. Sums
	 * are complex if A is.
	 */
	enum element compute;
	double alpha[2], beta[2]; /* real, imaginary */
	bool (*stopped)(void);    /* NULL: never stop early */
};

/*
 * m, n, k and the leading dimensions must be 0 to INT32_MAX. A and B are not
 * read if alpha is 0. Returns 0 on success or when stopped, which may leave D
 * incomplete. Otherwise D is unchanged, and the result is -ENOMEM, or -ENOSYS
 * if OpenBLAS is missing.
 */
int gemm_run(const struct gemm *g);

#endif
