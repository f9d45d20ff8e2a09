/* calls.h - how calls make their jobs: checks, and LAPACK's letters. */
#ifndef GKF_CUSOLVER_CALLS_H
#define GKF_CUSOLVER_CALLS_H

#include "fronts/cusolver/solver.h"

#define INVALID CUSOLVER_STATUS_INVALID_VALUE

/* The types of a function: its letter, its numbers, its real numbers. */
#define REAL_TYPES(X)                                                          \
	X(S, float, float)                                                     \
	X(D, double, double)
#define COMPLEX_TYPES(X)                                                       \
	X(C, cuComplex, float)                                                 \
	X(Z, cuDoubleComplex, double)
#define ALL_TYPES(X)                                                           \
	REAL_TYPES(X)                                                          \
	COMPLEX_TYPES(X)

/* Is it a matrix of that size? Its address counts where a kernel shall run. */
static inline bool is_matrix(struct matrix m, int rows, int cols,
			     enum solver_kernel kernel)
{
	return rows >= 0 && cols >= 0 && m.ld >= at_least_1(rows) &&
	       (m.at || !rows || !cols || kernel == SOLVER_KERNELS);
}

/* 0 where it is no such value; the calls answer INVALID_VALUE then. */
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

/* Checked jobs; kernel SOLVER_KERNELS: only the checks. */
cusolverStatus_t call_getrf(cusolverDnHandle_t h, const struct job *j,
			    enum solver_kernel kernel);
cusolverStatus_t call_getrs(cusolverDnHandle_t h, const struct job *j);
cusolverStatus_t call_potrf(cusolverDnHandle_t h, const struct job *j,
			    enum solver_kernel kernel);
cusolverStatus_t call_potrs(cusolverDnHandle_t h, const struct job *j);
cusolverStatus_t call_geqrf(cusolverDnHandle_t h, const struct job *j,
			    enum solver_kernel kernel);
cusolverStatus_t call_gesvd(cusolverDnHandle_t h, const struct job *j,
			    enum solver_kernel kernel);
cusolverStatus_t call_syevd(cusolverDnHandle_t h, const struct job *j,
			    enum solver_kernel kernel);

/* The size of a workspace, if the call to which it belongs is right. */
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
