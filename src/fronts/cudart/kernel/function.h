/* SPDX-License-Identifier: Apache-2.0 */
/*
 * function.h - converts the kernels that callers name into the driver's.
 */
#ifndef GKF_CUDART_FUNCTION_H
#define GKF_CUDART_FUNCTION_H

#include "fronts/cudart/kernel/registry.h"

/*
 * Finds a kernel. `func` is the address of a host stub, or a cudaKernel_t; if
 * it is neither, returns cudaErrorInvalidDeviceFunction. A context must be
 * current.
 */
cudaError_t function_kernel(const void *func, CUkernel *ret_kernel);

/* Finds a kernel as a CUfunction that can be launched. No conversion is needed,
 * since the driver launches a CUkernel as well. */
static inline cudaError_t function_launchable(const void *func,
					      CUfunction *ret_function)
{
	CUkernel kernel;

	TRY(function_kernel(func, &kernel));
	*ret_function = (CUfunction)(void *)kernel;
	return cudaSuccess;
}

/* Finds a kernel as a CUfunction of the current context. */
cudaError_t function_here(const void *func, CUfunction *ret_function);

/* Launch attributes have the same struct in both APIs. */
static inline CUlaunchConfig function_config(const cudaLaunchConfig_t *config)
{
	return (CUlaunchConfig){
	    .gridDimX = config->gridDim.x,
	    .gridDimY = config->gridDim.y,
	    .gridDimZ = config->gridDim.z,
	    .blockDimX = config->blockDim.x,
	    .blockDimY = config->blockDim.y,
	    .blockDimZ = config->blockDim.z,
	    .sharedMemBytes = (unsigned)config->dynamicSmemBytes,
	    .hStream = config->stream,
	    .attrs = (CUlaunchAttribute *)(void *)config->attrs,
	    .numAttrs = config->numAttrs,
	};
}

#endif
