/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lt_launch.h - launches cuBLASLt's kernels, and refuses calls.
 */
#ifndef GKF_CUBLAS_LT_LAUNCH_H
#define GKF_CUBLAS_LT_LAUNCH_H

#include "fronts/cublas/lt/lt.h"

enum lt_kernel { LT_KERNEL_MATMUL, LT_KERNEL_TRANSFORM };

/* Logs and launches a kernel. params is a struct lt_job or lt_transform_job. */
cublasStatus_t lt_launch(const char *function, enum lt_kernel kernel,
			 cudaStream_t stream, const void *params);

/*
 * Logs why a call fails and returns `status`; counts NOT_SUPPORTED as a refused
 * call.
 */
cublasStatus_t lt_refuse(const char *function, cublasStatus_t status,
			 const char *why);

#endif
