/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spectrum_calls.c - the functions for singular values and eigenvalues: checks
 * and launches.
 */
#include "fronts/cusolver/calls.h"

#include <string.h>

#define SMALL_WORKSPACE(lwork) ((lwork) < WORKSPACE)
#define BATCH_SIDE             32 /* the largest m and n of gesvdjBatched */

static cusolverStatus_t launch_with(cusolverDnHandle_t h,
				    enum solver_kernel kernel,
				    const struct job *j)
{
	int values = j->n && (kernel == KERNEL_syevd || j->m);

	if (kernel == SOLVER_KERNELS)
		return CUSOLVER_STATUS_SUCCESS;
	return j->info && (j->values || !values) ? solver_launch(h, kernel, j)
						 : INVALID;
}

/* Returns the number of columns of U, or of rows of V^H, for a job letter. */
static int vectors_of(char job, int all, int few)
{
	return job == 'A' ? all : job == 'S' ? few : 0;
}

static bool is_job(char job)
{
	return job && strchr("ASON", job);
}

cusolverStatus_t solver_gesvd(cusolverDnHandle_t h, const struct job *j,
			      enum solver_kernel kernel)
{
	if (!is_handle(h))
		return CUSOLVER_STATUS_NOT_INITIALIZED;
	/* The documentation requires m >= n. */
	if (!is_matrix(j->a, j->m, j->n, kernel) || j->m < j->n)
		return INVALID;
	if (kernel == SOLVER_KERNELS)
		return CUSOLVER_STATUS_SUCCESS;
	if (!is_job(j->jobu) || !is_job(j->jobv) ||
	    (j->jobu == 'O' && j->jobv == 'O') ||
	    (j->jobu != 'N' && j->jobu != 'O' &&
	     !is_matrix(j->u, j->m, vectors_of(j->jobu, j->m, j->n), kernel)) ||
	    (j->jobv != 'N' && j->jobv != 'O' &&
	     !is_matrix(j->v, vectors_of(j->jobv, j->n, j->n), j->n, kernel)))
		return INVALID;
	return launch_with(h, kernel, j);
}

static cusolverStatus_t solver_gesvdj(cusolverDnHandle_t h, const struct job *j,
				      const struct gesvdjInfo *params,
				      enum solver_kernel kernel)
{
	int few = smaller(j->m, j->n);

	if (!is_handle(h))
		return CUSOLVER_STATUS_NOT_INITIALIZED;
	if (!params || !j->jobu || j->batch < 0 ||
	    !is_matrix(j->a, j->m, j->n, kernel))
		return INVALID;
	if (j->jobu == 'V' &&
	    (!is_matrix(j->u, j->m, j->economic ? few : j->m, kernel) ||
	     !is_matrix(j->v, j->n, j->economic ? few : j->n, kernel)))
		return INVALID;
	return launch_with(h, kernel, j);
}

cusolverStatus_t solver_syevd(cusolverDnHandle_t h, const struct job *j,
			      enum solver_kernel kernel)
{
	if (!is_handle(h))
		return CUSOLVER_STATUS_NOT_INITIALIZED;
	if (!j->jobu || !j->uplo || j->batch < 0 ||
	    !is_matrix(j->a, j->n, j->n, kernel))
		return INVALID;
	return launch_with(h, kernel, j);
}

#define SVD(X, T, R)                                                           \
	cusolverStatus_t cusolverDn##X##gesvd_bufferSize(                      \
	    cusolverDnHandle_t handle, int m, int n, int *lwork)               \
	{                                                                      \
		struct job j = {.type = TYPE_##X,                              \
				.m = m,                                        \
				.n = n,                                        \
				.a = {"", m > 1 ? m : 1}};                     \
                                                                               \
		return size_after(solver_gesvd(handle, &j, SOLVER_KERNELS),    \
				  lwork);                                      \
	}                                                                      \
	cusolverStatus_t cusolverDn##X##gesvd(                                 \
	    cusolverDnHandle_t handle, signed char jobu, signed char jobvt,    \
	    int m, int n, T *A, int lda, R *S, T *U, int ldu, T *VT, int ldvt, \
	    T *work, int lwork, R *rwork, int *info)                           \
	{                                                                      \
		struct job j = {.type = TYPE_##X,                              \
				.jobu = (char)jobu,                            \
				.jobv = (char)jobvt,                           \
				.m = m,                                        \
				.n = n,                                        \
				.a = {A, lda},                                 \
				.values = S,                                   \
				.u = {U, ldu},                                 \
				.v = {VT, ldvt},                               \
				.info = info,                                  \
				.batch = 1};                                   \
                                                                               \
		(void)work, (void)rwork;                                       \
		if (handle && SMALL_WORKSPACE(lwork))                          \
			return INVALID;                                        \
		return solver_gesvd(handle, &j, KERNEL_gesvd);                 \
	}
ALL_TYPES(SVD)

#define JACOBI(X, T, R)                                                        \
	cusolverStatus_t cusolverDn##X##gesvdj_bufferSize(                     \
	    cusolverDnHandle_t handle, cusolverEigMode_t jobz, int econ,       \
	    int m, int n, const T *A, int lda, const R *S, const T *U,         \
	    int ldu, const T *V, int ldv, int *lwork, gesvdjInfo_t params)     \
	{                                                                      \
		struct job j = {.type = TYPE_##X,                              \
				.jobu = letter_of_mode(jobz),                  \
				.economic = econ,                              \
				.m = m,                                        \
				.n = n,                                        \
				.a = {A, lda},                                 \
				.values = S,                                   \
				.u = {U, ldu},                                 \
				.v = {V, ldv},                                 \
				.batch = 1};                                   \
                                                                               \
		return size_after(                                             \
		    solver_gesvdj(handle, &j, params, SOLVER_KERNELS), lwork); \
	}                                                                      \
	cusolverStatus_t cusolverDn##X##gesvdj(                                \
	    cusolverDnHandle_t handle, cusolverEigMode_t jobz, int econ,       \
	    int m, int n, T *A, int lda, R *S, T *U, int ldu, T *V, int ldv,   \
	    T *work, int lwork, int *info, gesvdjInfo_t params)                \
	{                                                                      \
		struct job j = {.type = TYPE_##X,                              \
				.jobu = letter_of_mode(jobz),                  \
				.economic = econ,                              \
				.m = m,                                        \
				.n = n,                                        \
				.a = {A, lda},                                 \
				.values = S,                                   \
				.u = {U, ldu},                                 \
				.v = {V, ldv},                                 \
				.info = info,                                  \
				.batch = 1};                                   \
                                                                               \
		(void)work;                                                    \
		if (handle && SMALL_WORKSPACE(lwork))                          \
			return INVALID;                                        \
		return solver_gesvdj(handle, &j, params, KERNEL_gesvdj);       \
	}                                                                      \
	cusolverStatus_t cusolverDn##X##gesvdjBatched_bufferSize(              \
	    cusolverDnHandle_t handle, cusolverEigMode_t jobz, int m, int n,   \
	    const T *A, int lda, const R *S, const T *U, int ldu, const T *V,  \
	    int ldv, int *lwork, gesvdjInfo_t params, int batchSize)           \
	{                                                                      \
		struct job j = {.type = TYPE_##X,                              \
				.jobu = letter_of_mode(jobz),                  \
				.m = m,                                        \
				.n = n,                                        \
				.a = {A, lda},                                 \
				.values = S,                                   \
				.u = {U, ldu},                                 \
				.v = {V, ldv},                                 \
				.batch = batchSize};                           \
                                                                               \
		if (handle && (m > BATCH_SIDE || n > BATCH_SIDE))              \
			return INVALID;                                        \
		return size_after(                                             \
		    solver_gesvdj(handle, &j, params, SOLVER_KERNELS), lwork); \
	}                                                                      \
	cusolverStatus_t cusolverDn##X##gesvdjBatched(                         \
	    cusolverDnHandle_t handle, cusolverEigMode_t jobz, int m, int n,   \
	    T *A, int lda, R *S, T *U, int ldu, T *V, int ldv, T *work,        \
	    int lwork, int *info, gesvdjInfo_t params, int batchSize)          \
	{                                                                      \
		struct job j = {.type = TYPE_##X,                              \
				.jobu = letter_of_mode(jobz),                  \
				.m = m,                                        \
				.n = n,                                        \
				.a = {A, lda},                                 \
				.values = S,                                   \
				.u = {U, ldu},                                 \
				.v = {V, ldv},                                 \
				.info = info,                                  \
				.batch = batchSize};                           \
                                                                               \
		(void)work;                                                    \
		if (handle && (SMALL_WORKSPACE(lwork) || m > BATCH_SIDE ||     \
			       n > BATCH_SIDE))                                \
			return INVALID;                                        \
		return solver_gesvdj(handle, &j, params, KERNEL_gesvdj);       \
	}
ALL_TYPES(JACOBI)

/*
 * evd and its Jacobi variant, evj, do the same here. `sy` is "sy" for real
 * types, "he" for complex ones.
 */
#define EIGEN(X, T, R, sy)                                                     \
	cusolverStatus_t cusolverDn##X##sy##evd_bufferSize(                    \
	    cusolverDnHandle_t handle, cusolverEigMode_t jobz,                 \
	    cublasFillMode_t uplo, int n, const T *A, int lda, const R *W,     \
	    int *lwork)                                                        \
	{                                                                      \
		struct job j = EIGEN_JOB(X, NULL, 1);                          \
                                                                               \
		return size_after(solver_syevd(handle, &j, SOLVER_KERNELS),    \
				  lwork);                                      \
	}                                                                      \
	cusolverStatus_t cusolverDn##X##sy##evd(                               \
	    cusolverDnHandle_t handle, cusolverEigMode_t jobz,                 \
	    cublasFillMode_t uplo, int n, T *A, int lda, R *W, T *work,        \
	    int lwork, int *info)                                              \
	{                                                                      \
		struct job j = EIGEN_JOB(X, info, 1);                          \
                                                                               \
		(void)work;                                                    \
		if (handle && SMALL_WORKSPACE(lwork))                          \
			return INVALID;                                        \
		return solver_syevd(handle, &j, KERNEL_syevd);                 \
	}                                                                      \
	cusolverStatus_t cusolverDn##X##sy##evj_bufferSize(                    \
	    cusolverDnHandle_t handle, cusolverEigMode_t jobz,                 \
	    cublasFillMode_t uplo, int n, const T *A, int lda, const R *W,     \
	    int *lwork, syevjInfo_t params)                                    \
	{                                                                      \
		struct job j = EIGEN_JOB(X, NULL, 1);                          \
                                                                               \
		if (handle && !params)                                         \
			return INVALID;                                        \
		return size_after(solver_syevd(handle, &j, SOLVER_KERNELS),    \
				  lwork);                                      \
	}                                                                      \
	cusolverStatus_t cusolverDn##X##sy##evj(                               \
	    cusolverDnHandle_t handle, cusolverEigMode_t jobz,                 \
	    cublasFillMode_t uplo, int n, T *A, int lda, R *W, T *work,        \
	    int lwork, int *info, syevjInfo_t params)                          \
	{                                                                      \
		struct job j = EIGEN_JOB(X, info, 1);                          \
                                                                               \
		(void)work;                                                    \
		if (handle && (SMALL_WORKSPACE(lwork) || !params))             \
			return INVALID;                                        \
		return solver_syevd(handle, &j, KERNEL_syevd);                 \
	}                                                                      \
	cusolverStatus_t cusolverDn##X##sy##evjBatched_bufferSize(             \
	    cusolverDnHandle_t handle, cusolverEigMode_t jobz,                 \
	    cublasFillMode_t uplo, int n, const T *A, int lda, const R *W,     \
	    int *lwork, syevjInfo_t params, int batchSize)                     \
	{                                                                      \
		struct job j = EIGEN_JOB(X, NULL, batchSize);                  \
                                                                               \
		if (handle && !params)                                         \
			return INVALID;                                        \
		return size_after(solver_syevd(handle, &j, SOLVER_KERNELS),    \
				  lwork);                                      \
	}                                                                      \
	cusolverStatus_t cusolverDn##X##sy##evjBatched(                        \
	    cusolverDnHandle_t handle, cusolverEigMode_t jobz,                 \
	    cublasFillMode_t uplo, int n, T *A, int lda, R *W, T *work,        \
	    int lwork, int *info, syevjInfo_t params, int batchSize)           \
	{                                                                      \
		struct job j = EIGEN_JOB(X, info, batchSize);                  \
                                                                               \
		(void)work;                                                    \
		if (handle && (SMALL_WORKSPACE(lwork) || !params))             \
			return INVALID;                                        \
		return solver_syevd(handle, &j, KERNEL_syevd);                 \
	}

/* Makes a job from the parameters that all these functions have in common. */
#define EIGEN_JOB(X, where, count)                                             \
	{                                                                      \
		.type = TYPE_##X, .jobu = letter_of_mode(jobz),                \
		.uplo = letter_of_uplo(uplo), .n = n, .a = {A, lda},           \
		.values = W, .info = (where), .batch = (count)                 \
	}

#define REAL_EIGEN(X, T, R)    EIGEN(X, T, R, sy)
#define COMPLEX_EIGEN(X, T, R) EIGEN(X, T, R, he)
REAL_TYPES(REAL_EIGEN)
COMPLEX_TYPES(COMPLEX_EIGEN)
