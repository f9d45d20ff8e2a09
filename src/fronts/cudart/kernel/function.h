/*
 * function.h - kernels as callers name them.
 */
#ifndef GKF_CUDART_FUNCTION_H
#define GKF_CUDART_FUNCTION_H

#include "fronts/cudart/registry.h"

/*
 * `func` is the address of the host's stub, or a cudaKernel_t. A context is
 * current. cudaErrorInvalidDeviceFunction for what is none of both.
 */
cudaError_t function_kernel(const void *func, CUkernel *ret_kernel);

/* The same as the driver launches it: a kernel passes for a function. */
static inline cudaError_t function_launchable(const void *func,
					      CUfunction *ret_function)
{
	CUkernel kernel;

	TRY(function_kernel(func, &kernel));
	*ret_function = (CUfunction)(void *)kernel;
	return cudaSuccess;
}

/* The same as a function of the current context. */
cudaError_t function_here(const void *func, CUfunction *ret_function);

/* The attributes of a launch are the same struct under two names. */
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
