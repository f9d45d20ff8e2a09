/* SPDX-License-Identifier: Apache-2.0 */
/* calls.c - the functions for LU, Cholesky and QR: checks and launches. */
#include "fronts/cusolver/calls.h"

/* Launches a checked job. Also checks info, which only a launch needs. */
static cusolverStatus_t launch_with(cusolverDnHandle_t h,
				    enum solver_kernel kernel,
				    const struct job *j)
{
	if (kernel == SOLVER_KERNELS)
		return CUSOLVER_STATUS_SUCCESS;
	return j->info ? solver_launch(h, kernel, j) : INVALID;
}

cusolverStatus_t solver_getrf(cusolverDnHandle_t h, const struct job *j,
			      enum solver_kernel kernel)
{
	if (!is_handle(h))
		return CUSOLVER_STATUS_NOT_INITIALIZED;
	if (!is_matrix(j->a, j->m, j->n, kernel))
		return INVALID;
	return launch_with(h, kernel, j);
}

cusolverStatus_t solver_getrs(cusolverDnHandle_t h, const struct job *j)
{
	if (!is_handle(h))
		return CUSOLVER_STATUS_NOT_INITIALIZED;
	if (!j->trans || !is_matrix(j->a, j->n, j->n, KERNEL_getrs) ||
	    !is_matrix(j->b, j->n, j->k, KERNEL_getrs))
		return INVALID;
	return launch_with(h, KERNEL_getrs, j);
}

cusolverStatus_t solver_potrf(cusolverDnHandle_t h, const struct job *j,
			      enum solver_kernel kernel)
{
	if (!is_handle(h))
		return CUSOLVER_STATUS_NOT_INITIALIZED;
	if (!j->uplo || j->batch < 0 || !is_matrix(j->a, j->n, j->n, kernel))
		return INVALID;
	return launch_with(h, kernel, j);
}

cusolverStatus_t solver_potrs(cusolverDnHandle_t h, const struct job *j)
{
	if (!is_handle(h))
		return CUSOLVER_STATUS_NOT_INITIALIZED;
	if (!j->uplo || j->batch < 0 ||
	    !is_matrix(j->a, j->n, j->n, KERNEL_potrs) ||
	    !is_matrix(j->b, j->n, j->k, KERNEL_potrs))
		return INVALID;
	return launch_with(h, KERNEL_potrs, j);
}

cusolverStatus_t solver_geqrf(cusolverDnHandle_t h, const struct job *j,
			      enum solver_kernel kernel)
{
	if (!is_handle(h))
		return CUSOLVER_STATUS_NOT_INITIALIZED;
	if (!is_matrix(j->a, j->m, j->n, kernel))
		return INVALID;
	return launch_with(h, kernel, j);
}

static cusolverStatus_t call_orgqr(cusolverDnHandle_t h, const struct job *j,
				   enum solver_kernel kernel)
{
	if (!is_handle(h))
		return CUSOLVER_STATUS_NOT_INITIALIZED;
	if (!is_matrix(j->a, j->m, j->n, kernel) || j->n > j->m || j->k < 0 ||
	    j->k > j->n)
		return INVALID;
	return launch_with(h, kernel, j);
}

static cusolverStatus_t call_ormqr(cusolverDnHandle_t h, const struct job *j,
				   enum solver_kernel kernel)
{
	int order = j->side == 'L' ? j->m : j->n;

	if (!is_handle(h))
		return CUSOLVER_STATUS_NOT_INITIALIZED;
	/*
	 * Real types do not support the conjugate transpose, complex ones the
	 * plain transpose.
	 */
	if (!j->side || !j->trans ||
	    j->trans == (type_is_complex(j->type) ? 'T' : 'C') ||
	    !is_matrix(j->b, j->m, j->n, kernel) || j->k < 0 || j->k > order ||
	    !is_matrix(j->a, order, j->k, kernel))
		return INVALID;
	return launch_with(h, kernel, j);
}

static char letter_of_side(cublasSideMode_t side)
{
	return "LR"[side == CUBLAS_SIDE_RIGHT] *
	       ((unsigned)side <= CUBLAS_SIDE_RIGHT);
}

#define SMALL_WORKSPACE(lwork) ((lwork) < WORKSPACE)

#define LU(X, T, R)                                                            \
	cusolverStatus_t cusolverDn##X##getrf_bufferSize(                      \
	    cusolverDnHandle_t handle, int m, int n, T *A, int lda,            \
	    int *Lwork)                                                        \
	{                                                                      \
		struct job j = {.type = TYPE_##X,                              \
				.m = m,                                        \
				.n = n,                                        \
				.a = {A, lda},                                 \
				.batch = 1};                                   \
                                                                               \
		return size_after(solver_getrf(handle, &j, SOLVER_KERNELS),    \
				  Lwork);                                      \
	}                                                                      \
	cusolverStatus_t cusolverDn##X##getrf(                                 \
	    cusolverDnHandle_t handle, int m, int n, T *A, int lda,            \
	    T *Workspace, int *devIpiv, int *devInfo)                          \
	{                                                                      \
		struct job j = {.type = TYPE_##X,                              \
				.m = m,                                        \
				.n = n,                                        \
				.a = {A, lda},                                 \
				.pivots = devIpiv,                             \
				.info = devInfo,                               \
				.batch = 1};                                   \
                                                                               \
		(void)Workspace;                                               \
		return solver_getrf(handle, &j, KERNEL_getrf);                 \
	}                                                                      \
	cusolverStatus_t cusolverDn##X##getrs(                                 \
	    cusolverDnHandle_t handle, cublasOperation_t trans, int n,         \
	    int nrhs, const T *A, int lda, const int *devIpiv, T *B, int ldb,  \
	    int *devInfo)                                                      \
	{                                                                      \
		struct job j = {.type = TYPE_##X,                              \
				.trans = letter_of_operation(trans),           \
				.n = n,                                        \
				.k = nrhs,                                     \
				.a = {A, lda},                                 \
				.b = {B, ldb},                                 \
				.pivots = devIpiv,                             \
				.info = devInfo,                               \
				.batch = 1};                                   \
                                                                               \
		return solver_getrs(handle, &j);                               \
	}
ALL_TYPES(LU)

/* `name` is potrf or potri, which differ only in their kernels. */
#define CHOLESKY(name, X, T)                                                   \
	cusolverStatus_t cusolverDn##X##name##_bufferSize(                     \
	    cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, T *A,     \
	    int lda, int *Lwork)                                               \
	{                                                                      \
		struct job j = {.type = TYPE_##X,                              \
				.uplo = letter_of_uplo(uplo),                  \
				.n = n,                                        \
				.a = {A, lda},                                 \
				.batch = 1};                                   \
                                                                               \
		return size_after(solver_potrf(handle, &j, SOLVER_KERNELS),    \
				  Lwork);                                      \
	}                                                                      \
	cusolverStatus_t cusolverDn##X##name(                                  \
	    cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, T *A,     \
	    int lda, T *Workspace, int Lwork, int *devInfo)                    \
	{                                                                      \
		struct job j = {.type = TYPE_##X,                              \
				.uplo = letter_of_uplo(uplo),                  \
				.n = n,                                        \
				.a = {A, lda},                                 \
				.info = devInfo,                               \
				.batch = 1};                                   \
                                                                               \
		(void)Workspace;                                               \
		if (handle && SMALL_WORKSPACE(Lwork))                          \
			return INVALID;                                        \
		return solver_potrf(handle, &j, KERNEL_##name);                \
	}

#define CHOLESKY_SOLVE(X, T, R)                                                \
	CHOLESKY(potrf, X, T)                                                  \
	CHOLESKY(potri, X, T)                                                  \
	cusolverStatus_t cusolverDn##X##potrs(                                 \
	    cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, int nrhs, \
	    const T *A, int lda, T *B, int ldb, int *devInfo)                  \
	{                                                                      \
		struct job j = {.type = TYPE_##X,                              \
				.uplo = letter_of_uplo(uplo),                  \
				.n = n,                                        \
				.k = nrhs,                                     \
				.a = {A, lda},                                 \
				.b = {B, ldb},                                 \
				.info = devInfo,                               \
				.batch = 1};                                   \
                                                                               \
		return solver_potrs(handle, &j);                               \
	}                                                                      \
	cusolverStatus_t cusolverDn##X##potrfBatched(                          \
	    cusolverDnHandle_t handle, cublasFillMode_t uplo, int n,           \
	    T *Aarray[], int lda, int *infoArray, int batchSize)               \
	{                                                                      \
		struct job j = {.type = TYPE_##X,                              \
				.uplo = letter_of_uplo(uplo),                  \
				.n = n,                                        \
				.a = {Aarray, lda},                            \
				.info = infoArray,                             \
				.batch = batchSize,                            \
				.pointers = true};                             \
                                                                               \
		return solver_potrf(handle, &j, KERNEL_potrf);                 \
	}                                                                      \
	cusolverStatus_t cusolverDn##X##potrsBatched(                          \
	    cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, int nrhs, \
	    T *A[], int lda, T *B[], int ldb, int *d_info, int batchSize)      \
	{                                                                      \
		struct job j = {.type = TYPE_##X,                              \
				.uplo = letter_of_uplo(uplo),                  \
				.n = n,                                        \
				.k = nrhs,                                     \
				.a = {A, lda},                                 \
				.b = {B, ldb},                                 \
				.info = d_info,                                \
				.batch = batchSize,                            \
				.pointers = true};                             \
                                                                               \
		/* The documentation allows only one right-hand side. */       \
		if (handle && nrhs != 1)                                       \
			return INVALID;                                        \
		return solver_potrs(handle, &j);                               \
	}
ALL_TYPES(CHOLESKY_SOLVE)

#define QR(X, T, R)                                                            \
	cusolverStatus_t cusolverDn##X##geqrf_bufferSize(                      \
	    cusolverDnHandle_t handle, int m, int n, T *A, int lda,            \
	    int *lwork)                                                        \
	{                                                                      \
		struct job j = {.type = TYPE_##X,                              \
				.m = m,                                        \
				.n = n,                                        \
				.a = {A, lda},                                 \
				.batch = 1};                                   \
                                                                               \
		return size_after(solver_geqrf(handle, &j, SOLVER_KERNELS),    \
				  lwork);                                      \
	}                                                                      \
	cusolverStatus_t cusolverDn##X##geqrf(                                 \
	    cusolverDnHandle_t handle, int m, int n, T *A, int lda, T *TAU,    \
	    T *Workspace, int Lwork, int *devInfo)                             \
	{                                                                      \
		struct job j = {.type = TYPE_##X,                              \
				.m = m,                                        \
				.n = n,                                        \
				.a = {A, lda},                                 \
				.tau = TAU,                                    \
				.info = devInfo,                               \
				.batch = 1};                                   \
                                                                               \
		(void)Workspace;                                               \
		if (handle && SMALL_WORKSPACE(Lwork))                          \
			return INVALID;                                        \
		return solver_geqrf(handle, &j, KERNEL_geqrf);                 \
	}
ALL_TYPES(QR)

/* `or` is "or" (orthogonal) for real types, "un" (unitary) for complex ones. */
#define Q_OF_QR(X, T, or)                                                      \
	cusolverStatus_t cusolverDn##X## or                                    \
	    ##gqr_bufferSize(cusolverDnHandle_t handle, int m, int n, int k,   \
			     const T *A, int lda, const T *tau, int *lwork)    \
	{                                                                      \
		struct job j = {.type = TYPE_##X,                              \
				.m = m,                                        \
				.n = n,                                        \
				.k = k,                                        \
				.a = {A, lda},                                 \
				.batch = 1};                                   \
                                                                               \
		(void)tau;                                                     \
		return size_after(call_orgqr(handle, &j, SOLVER_KERNELS),      \
				  lwork);                                      \
	}                                                                      \
	cusolverStatus_t cusolverDn##X## or                                    \
	    ##gqr(cusolverDnHandle_t handle, int m, int n, int k, T *A,        \
		  int lda, const T *tau, T *work, int lwork, int *info)        \
	{                                                                      \
		struct job j = {.type = TYPE_##X,                              \
				.m = m,                                        \
				.n = n,                                        \
				.k = k,                                        \
				.a = {A, lda},                                 \
				.tau = tau,                                    \
				.info = info,                                  \
				.batch = 1};                                   \
                                                                               \
		(void)work;                                                    \
		if (handle && SMALL_WORKSPACE(lwork))                          \
			return INVALID;                                        \
		return call_orgqr(handle, &j, KERNEL_orgqr);                   \
	}                                                                      \
	cusolverStatus_t cusolverDn##X## or                                    \
	    ##mqr_bufferSize(cusolverDnHandle_t handle, cublasSideMode_t side, \
			     cublasOperation_t trans, int m, int n, int k,     \
			     const T *A, int lda, const T *tau, const T *C,    \
			     int ldc, int *lwork)                              \
	{                                                                      \
		struct job j = {.type = TYPE_##X,                              \
				.side = letter_of_side(side),                  \
				.trans = letter_of_operation(trans),           \
				.m = m,                                        \
				.n = n,                                        \
				.k = k,                                        \
				.a = {A, lda},                                 \
				.b = {C, ldc},                                 \
				.batch = 1};                                   \
                                                                               \
		(void)tau;                                                     \
		return size_after(call_ormqr(handle, &j, SOLVER_KERNELS),      \
				  lwork);                                      \
	}                                                                      \
	cusolverStatus_t cusolverDn##X## or                                    \
	    ##mqr(cusolverDnHandle_t handle, cublasSideMode_t side,            \
		  cublasOperation_t trans, int m, int n, int k, const T *A,    \
		  int lda, const T *tau, T *C, int ldc, T *work, int lwork,    \
		  int *devInfo)                                                \
	{                                                                      \
		struct job j = {.type = TYPE_##X,                              \
				.side = letter_of_side(side),                  \
				.trans = letter_of_operation(trans),           \
				.m = m,                                        \
				.n = n,                                        \
				.k = k,                                        \
				.a = {A, lda},                                 \
				.b = {C, ldc},                                 \
				.tau = tau,                                    \
				.info = devInfo,                               \
				.batch = 1};                                   \
                                                                               \
		(void)work;                                                    \
		if (handle && SMALL_WORKSPACE(lwork))                          \
			return INVALID;                                        \
		return call_ormqr(handle, &j, KERNEL_ormqr);                   \
	}
#define REAL_Q(X, T, R)    Q_OF_QR(X, T, or)
#define COMPLEX_Q(X, T, R) Q_OF_QR(X, T, un)
REAL_TYPES(REAL_Q)
COMPLEX_TYPES(COMPLEX_Q)
