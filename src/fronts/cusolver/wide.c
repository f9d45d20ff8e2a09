/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wide.c - the functions whose sizes have 64 bits and whose types are
 * parameters. LAPACK's sizes have 32 bits, so larger matrices are refused.
 */
#include "fronts/cusolver/calls.h"

#include <limits.h>

/*
 * Returns the type of all operands, or LAPACK_TYPES if LAPACK does not support
 * this combination.
 */
static enum lapack_type type_of(cudaDataType a, cudaDataType compute)
{
	if (a != compute)
		return LAPACK_TYPES;
	switch ((int)a) {
	case CUDA_R_32F:
		return TYPE_S;
	case CUDA_R_64F:
		return TYPE_D;
	case CUDA_C_32F:
		return TYPE_C;
	case CUDA_C_64F:
		return TYPE_Z;
	default:
		return LAPACK_TYPES;
	}
}

static bool is_real_of(cudaDataType real, enum lapack_type type)
{
	return real == (type % 2 ? CUDA_R_64F : CUDA_R_32F);
}

/*
 * Sets a job's sizes; negative ones stay negative. Returns false if one is too
 * large.
 */
static bool set_sizes(struct job *j, int64_t m, int64_t n, int64_t k)
{
	if (m > INT_MAX || n > INT_MAX || k > INT_MAX)
		return false;
	j->m = m < 0 ? -1 : (int)m;
	j->n = n < 0 ? -1 : (int)n;
	j->k = k < 0 ? -1 : (int)k;
	return true;
}

/* Returns false if ld does not fit LAPACK's 32 bits. */
static bool set_matrix(struct matrix *to, const void *at, int64_t ld)
{
	if (ld > INT_MAX)
		return false;
	*to = (struct matrix){at, ld < 0 ? 0 : (int)ld};
	return true;
}

/* Refuses the call unless a condition holds that LAPACK requires. */
#define NEEDS(condition)                                                       \
	do {                                                                   \
		if (handle && !(condition))                                    \
			return solver_refuse(__func__);                        \
	} while (0)

static cusolverStatus_t sizes_after(cusolverStatus_t status, size_t *device,
				    size_t *host)
{
	if (status)
		return status;
	if (!device || !host)
		return INVALID;
	*device = WORKSPACE * sizeof(cuDoubleComplex);
	*host = 0;
	return CUSOLVER_STATUS_SUCCESS;
}

/* The parameters for workspaces, which we do not use. */
#define WORKSPACES                                                             \
	void *bufferOnDevice, size_t workspaceInBytesOnDevice,                 \
	    void *bufferOnHost, size_t workspaceInBytesOnHost

#define IGNORE_WORKSPACES()                                                    \
	((void)bufferOnDevice, (void)workspaceInBytesOnDevice,                 \
	 (void)bufferOnHost, (void)workspaceInBytesOnHost)

#define SIZES size_t *workspaceInBytesOnDevice, size_t *workspaceInBytesOnHost
#define SIZES_AFTER(call)                                                      \
	sizes_after(call, workspaceInBytesOnDevice, workspaceInBytesOnHost)

cusolverStatus_t cusolverDnXgetrf_bufferSize(cusolverDnHandle_t handle,
					     cusolverDnParams_t params,
					     int64_t m, int64_t n,
					     cudaDataType dataTypeA,
					     const void *A, int64_t lda,
					     cudaDataType computeType, SIZES)
{
	struct job j = {.type = type_of(dataTypeA, computeType), .batch = 1};

	(void)params;
	NEEDS(j.type < LAPACK_TYPES && set_sizes(&j, m, n, 0) &&
	      set_matrix(&j.a, A, lda));
	return SIZES_AFTER(solver_getrf(handle, &j, SOLVER_KERNELS));
}

cusolverStatus_t cusolverDnXgetrf(cusolverDnHandle_t handle,
				  cusolverDnParams_t params, int64_t m,
				  int64_t n, cudaDataType dataTypeA, void *A,
				  int64_t lda, int64_t *ipiv,
				  cudaDataType computeType, WORKSPACES,
				  int *info)
{
	struct job j = {.type = type_of(dataTypeA, computeType),
			.pivots = ipiv,
			.wide_pivots = true,
			.info = info,
			.batch = 1};

	(void)params, IGNORE_WORKSPACES();
	NEEDS(j.type < LAPACK_TYPES && set_sizes(&j, m, n, 0) &&
	      set_matrix(&j.a, A, lda));
	return solver_getrf(handle, &j, KERNEL_getrf);
}

cusolverStatus_t cusolverDnXgetrs(cusolverDnHandle_t handle,
				  cusolverDnParams_t params,
				  cublasOperation_t trans, int64_t n,
				  int64_t nrhs, cudaDataType dataTypeA,
				  const void *A, int64_t lda,
				  const int64_t *ipiv, cudaDataType dataTypeB,
				  void *B, int64_t ldb, int *info)
{
	struct job j = {.type = type_of(dataTypeA, dataTypeB),
			.trans = letter_of_operation(trans),
			.pivots = ipiv,
			.wide_pivots = true,
			.info = info,
			.batch = 1};

	(void)params;
	NEEDS(j.type < LAPACK_TYPES && set_sizes(&j, 0, n, nrhs) &&
	      set_matrix(&j.a, A, lda) && set_matrix(&j.b, B, ldb));
	return solver_getrs(handle, &j);
}

cusolverStatus_t cusolverDnXpotrf_bufferSize(cusolverDnHandle_t handle,
					     cusolverDnParams_t params,
					     cublasFillMode_t uplo, int64_t n,
					     cudaDataType dataTypeA,
					     const void *A, int64_t lda,
					     cudaDataType computeType, SIZES)
{
	struct job j = {.type = type_of(dataTypeA, computeType),
			.uplo = letter_of_uplo(uplo),
			.batch = 1};

	(void)params;
	NEEDS(j.type < LAPACK_TYPES && set_sizes(&j, 0, n, 0) &&
	      set_matrix(&j.a, A, lda));
	return SIZES_AFTER(solver_potrf(handle, &j, SOLVER_KERNELS));
}

cusolverStatus_t cusolverDnXpotrf(cusolverDnHandle_t handle,
				  cusolverDnParams_t params,
				  cublasFillMode_t uplo, int64_t n,
				  cudaDataType dataTypeA, void *A, int64_t lda,
				  cudaDataType computeType, WORKSPACES,
				  int *info)
{
	struct job j = {.type = type_of(dataTypeA, computeType),
			.uplo = letter_of_uplo(uplo),
			.info = info,
			.batch = 1};

	(void)params, IGNORE_WORKSPACES();
	NEEDS(j.type < LAPACK_TYPES && set_sizes(&j, 0, n, 0) &&
	      set_matrix(&j.a, A, lda));
	return solver_potrf(handle, &j, KERNEL_potrf);
}

cusolverStatus_t
cusolverDnXpotrs(cusolverDnHandle_t handle, cusolverDnParams_t params,
		 cublasFillMode_t uplo, int64_t n, int64_t nrhs,
		 cudaDataType dataTypeA, const void *A, int64_t lda,
		 cudaDataType dataTypeB, void *B, int64_t ldb, int *info)
{
	struct job j = {.type = type_of(dataTypeA, dataTypeB),
			.uplo = letter_of_uplo(uplo),
			.info = info,
			.batch = 1};

	(void)params;
	NEEDS(j.type < LAPACK_TYPES && set_sizes(&j, 0, n, nrhs) &&
	      set_matrix(&j.a, A, lda) && set_matrix(&j.b, B, ldb));
	return solver_potrs(handle, &j);
}

cusolverStatus_t cusolverDnXgeqrf_bufferSize(
    cusolverDnHandle_t handle, cusolverDnParams_t params, int64_t m, int64_t n,
    cudaDataType dataTypeA, const void *A, int64_t lda,
    cudaDataType dataTypeTau, const void *tau, cudaDataType computeType, SIZES)
{
	struct job j = {.type = type_of(dataTypeA, computeType), .batch = 1};

	(void)params, (void)tau;
	NEEDS(j.type < LAPACK_TYPES && dataTypeTau == dataTypeA &&
	      set_sizes(&j, m, n, 0) && set_matrix(&j.a, A, lda));
	return SIZES_AFTER(solver_geqrf(handle, &j, SOLVER_KERNELS));
}

cusolverStatus_t cusolverDnXgeqrf(cusolverDnHandle_t handle,
				  cusolverDnParams_t params, int64_t m,
				  int64_t n, cudaDataType dataTypeA, void *A,
				  int64_t lda, cudaDataType dataTypeTau,
				  void *tau, cudaDataType computeType,
				  WORKSPACES, int *info)
{
	struct job j = {.type = type_of(dataTypeA, computeType),
			.tau = tau,
			.info = info,
			.batch = 1};

	(void)params, IGNORE_WORKSPACES();
	NEEDS(j.type < LAPACK_TYPES && dataTypeTau == dataTypeA &&
	      set_sizes(&j, m, n, 0) && set_matrix(&j.a, A, lda));
	return solver_geqrf(handle, &j, KERNEL_geqrf);
}

#define EIGEN_PARAMS(constant)                                                 \
	cusolverDnHandle_t handle, cusolverDnParams_t params,                  \
	    cusolverEigMode_t jobz, cublasFillMode_t uplo, int64_t n,          \
	    cudaDataType dataTypeA, constant void *A, int64_t lda,             \
	    cudaDataType dataTypeW, constant void *W, cudaDataType computeType

#define EIGEN_JOB(where)                                                       \
	{                                                                      \
		.type = type_of(dataTypeA, computeType),                       \
		.jobu = letter_of_mode(jobz), .uplo = letter_of_uplo(uplo),    \
		.values = W, .info = (where), .batch = 1                       \
	}

#define NEEDS_EIGEN(j)                                                         \
	NEEDS((j).type < LAPACK_TYPES && is_real_of(dataTypeW, (j).type) &&    \
	      set_sizes(&(j), 0, n, 0) && set_matrix(&(j).a, A, lda))

cusolverStatus_t cusolverDnXsyevd_bufferSize(EIGEN_PARAMS(const), SIZES)
{
	struct job j = EIGEN_JOB(NULL);

	(void)params;
	NEEDS_EIGEN(j);
	return SIZES_AFTER(solver_syevd(handle, &j, SOLVER_KERNELS));
}

cusolverStatus_t cusolverDnXsyevd(EIGEN_PARAMS(), WORKSPACES, int *info)
{
	struct job j = EIGEN_JOB(info);

	(void)params, IGNORE_WORKSPACES();
	NEEDS_EIGEN(j);
	return solver_syevd(handle, &j, KERNEL_syevd);
}

cusolverStatus_t cusolverDnXsyevBatched_bufferSize(EIGEN_PARAMS(const), SIZES,
						   int64_t batchSize)
{
	struct job j = EIGEN_JOB(NULL);

	(void)params;
	NEEDS_EIGEN(j);
	NEEDS(batchSize <= INT_MAX);
	j.batch = batchSize < 0 ? -1 : (int)batchSize;
	return SIZES_AFTER(solver_syevd(handle, &j, SOLVER_KERNELS));
}

cusolverStatus_t cusolverDnXsyevBatched(EIGEN_PARAMS(), WORKSPACES, int *info,
					int64_t batchSize)
{
	struct job j = EIGEN_JOB(info);

	(void)params, IGNORE_WORKSPACES();
	NEEDS_EIGEN(j);
	NEEDS(batchSize <= INT_MAX);
	j.batch = batchSize < 0 ? -1 : (int)batchSize;
	return solver_syevd(handle, &j, KERNEL_syevd);
}

#define SVD_PARAMS(constant)                                                   \
	cusolverDnHandle_t handle, cusolverDnParams_t params,                  \
	    signed char jobu, signed char jobvt, int64_t m, int64_t n,         \
	    cudaDataType dataTypeA, constant void *A, int64_t lda,             \
	    cudaDataType dataTypeS, constant void *S, cudaDataType dataTypeU,  \
	    constant void *U, int64_t ldu, cudaDataType dataTypeVT,            \
	    constant void *VT, int64_t ldvt, cudaDataType computeType

#define SVD_JOB(where)                                                         \
	{                                                                      \
		.type = type_of(dataTypeA, computeType), .jobu = (char)jobu,   \
		.jobv = (char)jobvt, .values = S, .info = (where), .batch = 1  \
	}

#define NEEDS_SVD(j)                                                           \
	NEEDS((j).type < LAPACK_TYPES && is_real_of(dataTypeS, (j).type) &&    \
	      dataTypeU == dataTypeA && dataTypeVT == dataTypeA &&             \
	      set_sizes(&(j), m, n, 0) && set_matrix(&(j).a, A, lda) &&        \
	      set_matrix(&(j).u, U, ldu) && set_matrix(&(j).v, VT, ldvt))

cusolverStatus_t cusolverDnXgesvd_bufferSize(SVD_PARAMS(const), SIZES)
{
	struct job j = SVD_JOB(NULL);

	(void)params;
	NEEDS_SVD(j);
	return SIZES_AFTER(solver_gesvd(handle, &j, SOLVER_KERNELS));
}

cusolverStatus_t cusolverDnXgesvd(SVD_PARAMS(), WORKSPACES, int *info)
{
	struct job j = SVD_JOB(info);

	(void)params, IGNORE_WORKSPACES();
	NEEDS_SVD(j);
	return solver_gesvd(handle, &j, KERNEL_gesvd);
}
