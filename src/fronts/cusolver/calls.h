/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calls.h - checks, and conversions to LAPACK's letters, for functions that
 * make jobs.
 */
#ifndef GKF_CUSOLVER_CALLS_H
#define GKF_CUSOLVER_CALLS_H

#include "fronts/cusolver/solver.h"

#define INVALID CUSOLVER_STATUS_INVALID_VALUE

/* A function's types: X(letter, type of elements, real type). */
#define REAL_TYPES(X)                                                          \
	X(S, float, float)                                                     \
	X(D, double, double)
#define COMPLEX_TYPES(X)                                                       \
	X(C, cuComplex, float)                                                 \
	X(Z, cuDoubleComplex, double)
#define ALL_TYPES(X)                                                           \
	REAL_TYPES(X)                                                          \
	COMPLEX_TYPES(X)

/*
 * Whether m can be a rows x cols matrix. Its address is checked only for a
 * launch.
 */
static inline bool is_matrix(struct matrix m, int rows, int cols,
			     enum solver_kernel kernel)
{
	return rows >= 0 && cols >= 0 && m.ld >= at_least_1(rows) &&
	       (m.at || !rows || !cols || kernel == SOLVER_KERNELS);
}

/*
 * Return LAPACK's letter, or 0 for an invalid value, which makes the call
 * return INVALID_VALUE.
 */
static inline char letter_of_uplo(cublasFillMode_t uplo)
{
	return "LU"[uplo == CUBLAS_FILL_MODE_UPPER] *
	       ((unsigned)uplo <= CUBLAS_FILL_MODE_UPPER);
}

static inline char letter_of_operation(cublasOperation_t op)
{
	return (unsigned)op <= CUBLAS_OP_C ? "NTC"[op] : 0;
}

static inline char letter_of_mode(cusolverEigMode_t mode)
{
	return "NV"[mode == CUSOLVER_EIG_MODE_VECTOR] *
	       ((unsigned)mode <= CUSOLVER_EIG_MODE_VECTOR);
}

/* Check a job and launch it; if `kernel` is SOLVER_KERNELS, only check it. */
cusolverStatus_t solver_getrf(cusolverDnHandle_t h, const struct job *j,
			      enum solver_kernel kernel);
cusolverStatus_t solver_getrs(cusolverDnHandle_t h, const struct job *j);
cusolverStatus_t solver_potrf(cusolverDnHandle_t h, const struct job *j,
			      enum solver_kernel kernel);
cusolverStatus_t solver_potrs(cusolverDnHandle_t h, const struct job *j);
cusolverStatus_t solver_geqrf(cusolverDnHandle_t h, const struct job *j,
			      enum solver_kernel kernel);
cusolverStatus_t solver_gesvd(cusolverDnHandle_t h, const struct job *j,
			      enum solver_kernel kernel);
cusolverStatus_t solver_syevd(cusolverDnHandle_t h, const struct job *j,
			      enum solver_kernel kernel);

/*
 * Sets *size to the size of a workspace if `status`, the result of the call's
 * checks, is success.
 */
static inline cusolverStatus_t size_after(cusolverStatus_t status, int *size)
{
	if (status)
		return status;
	if (!size)
		return INVALID;
	*size = WORKSPACE;
	return CUSOLVER_STATUS_SUCCESS;
}

#endif
