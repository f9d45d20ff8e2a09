/* SPDX-License-Identifier: Apache-2.0 */
/* launch.c - owns the table of kernels and launches them. */
#include "base/assert.h"
#include "fronts/cusolver/solver.h"

#include "fronts/common/openblas.h"

/*
 * Wraps a kernel's body in openblas_begin() and openblas_end(), because it
 * calls LAPACK.
 */
#define KERNEL(id, body)                                                       \
	static CUresult call_##body(struct gpukit_run *run)                    \
	{                                                                      \
		CUresult r;                                                    \
                                                                               \
		openblas_begin();                                              \
		r = body(run);                                                 \
		openblas_end();                                                \
		return r;                                                      \
	}
#include "fronts/cusolver/kernels.def"
#undef KERNEL

static struct native_kernel kernels[SOLVER_KERNELS] = {
#define KERNEL(id, body)                                                       \
	[KERNEL_##                                                             \
	    id] = {"cusolver_" #id, call_##body, sizeof(struct job), NULL},
#include "fronts/cusolver/kernels.def"
#undef KERNEL
};

static struct native_library library = {kernels, SOLVER_KERNELS,
					PTHREAD_MUTEX_INITIALIZER, NULL};

cusolverStatus_t solver_status(CUresult r)
{
	if (!r)
		return CUSOLVER_STATUS_SUCCESS;
	if (r == CUDA_ERROR_OUT_OF_MEMORY)
		return CUSOLVER_STATUS_ALLOC_FAILED;
	return r == CUDA_ERROR_NOT_INITIALIZED ||
		       r == CUDA_ERROR_DEINITIALIZED ||
		       r == CUDA_ERROR_NO_DEVICE
		   ? CUSOLVER_STATUS_NOT_INITIALIZED
		   : CUSOLVER_STATUS_EXECUTION_FAILED;
}

cusolverStatus_t solver_launch(cusolverDnHandle_t handle,
			       enum solver_kernel kernel, const struct job *job)
{
	GK_ASSERT(kernel < SOLVER_KERNELS);
	return handle ? solver_status(native_launch(&library, kernel,
						    handle->stream, job))
		      : CUSOLVER_STATUS_NOT_INITIALIZED;
}

cusolverStatus_t solver_refuse(const char *symbol)
{
	native_refuse(GPUKIT_CUSOLVER, symbol);
	return CUSOLVER_STATUS_NOT_SUPPORTED;
}
