/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lt_launch.c - owns the table of cuBLASLt's kernels and launches them.
 */
#include "fronts/cublas/lt/lt_launch.h"

#include "base/assert.h"
#include "fronts/cublas/lt/lt_move.h"
#include "fronts/cublas/lt/lt_run.h"
#include "fronts/cublas/cblas.h"

static struct native_kernel kernels[] = {
    [LT_KERNEL_MATMUL] = {"cublasLt_matmul", lt_run_matmul,
			  sizeof(struct lt_job), NULL},
    [LT_KERNEL_TRANSFORM] = {"cublasLt_transform", lt_run_transform,
			     sizeof(struct lt_transform_job), NULL},
};

static struct native_library library = {
    .kernels = kernels,
    .count = sizeof kernels / sizeof *kernels,
    .lock = PTHREAD_MUTEX_INITIALIZER,
};

cublasStatus_t lt_refuse(const char *function, cublasStatus_t status,
			 const char *why)
{
	GK_ASSERT(status != CUBLAS_STATUS_SUCCESS && why);
	lt_log(LT_ERROR, function, "%s", why);
	if (status == CUBLAS_STATUS_NOT_SUPPORTED)
		native_refuse(GPUKIT_CUBLAS, function);
	return lt_end(function, status);
}

cublasStatus_t lt_launch(const char *function, enum lt_kernel kernel,
			 cudaStream_t stream, const void *params)
{
	CUresult r;

	GK_ASSERT(kernel <= LT_KERNEL_TRANSFORM && params);
	if (kernel == LT_KERNEL_MATMUL && !cblas()) {
		native_missing(GPUKIT_CUBLAS, NEEDED_OPENBLAS);
		return lt_refuse(function, CUBLAS_STATUS_NOT_INITIALIZED,
				 "OpenBLAS is not installed");
	}
	r = native_launch(&library, (unsigned)kernel, stream, params);
	if (r)
		return lt_refuse(function, CUBLAS_STATUS_EXECUTION_FAILED,
				 "the kernel was not launched");
	return lt_end(function, CUBLAS_STATUS_SUCCESS);
}
