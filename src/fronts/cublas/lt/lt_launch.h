/*
 * lt_launch.h - the kernels of cuBLASLt, and how a call that launches one ends.
 */
#ifndef GKF_CUBLAS_LT_LAUNCH_H
#define GKF_CUBLAS_LT_LAUNCH_H

#include "fronts/cublas/lt.h"

enum lt_kernel { LT_KERNEL_MATMUL, LT_KERNEL_TRANSFORM };

/* Launches it, with a struct lt_job or lt_transform_job, and logs that. */
cublasStatus_t lt_launch(const char *function, enum lt_kernel kernel,
			 cudaStream_t stream, const void *params);

/* Logs why a call is not done; what is NOT_SUPPORTED is counted as refused. */
cublasStatus_t lt_refuse(const char *function, cublasStatus_t status,
			 const char *why);

#endif
