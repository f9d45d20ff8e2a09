/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launch.c - launches kernels: for the code that nvcc generates for <<<...>>>,
 * and by the address of a host stub.
 */
#include "fronts/cudart/kernel/function.h"

#include <string.h>

/*
 * If evaluating a launch's arguments throws an exception, the launch never pops
 * its configuration. Therefore, if the stack is full, the oldest one is
 * dropped.
 */
unsigned int __cudaPushCallConfiguration(dim3 gridDim, dim3 blockDim,
					 size_t sharedMem,
					 struct CUstream_st *stream)
{
	struct thread *t = &cudart_thread;

	if (t->depth == LAUNCH_DEPTH_MAX)
		memmove(t->config, t->config + 1,
			--t->depth * sizeof *t->config);
	t->config[t->depth++] =
	    (struct launch_config){gridDim, blockDim, sharedMem, stream};
	return cudaSuccess;
}

cudaError_t __cudaPopCallConfiguration(dim3 *gridDim, dim3 *blockDim,
				       size_t *sharedMem, void *stream)
{
	struct thread *t = &cudart_thread;
	const struct launch_config *c;

	REQUIRE(t->depth, cudaErrorMissingConfiguration);
	c = &t->config[--t->depth];
	*gridDim = c->grid;
	*blockDim = c->block;
	*sharedMem = c->shared;
	*(cudaStream_t *)stream = c->stream;
	return cudaSuccess;
}

static bool is_within_limits(dim3 size, CUdevice device,
			     const CUdevice_attribute *limits)
{
	const unsigned sizes[] = {size.x, size.y, size.z};

	for (int i = 0; i < 3; i++) {
		int limit = 0;

		if (legacy->cuDeviceGetAttribute(&limit, limits[i], device) ||
		    !sizes[i] || sizes[i] > (unsigned)limit)
			return false;
	}
	return true;
}

/*
 * The runtime has an error of its own for invalid sizes; the driver does not.
 */
static bool are_sizes_valid(dim3 grid, dim3 block)
{
	static const CUdevice_attribute grid_limits[] = {
	    CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X,
	    CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y,
	    CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z,
	};
	static const CUdevice_attribute block_limits[] = {
	    CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X,
	    CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y,
	    CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z,
	};
	unsigned long long threads =
	    (unsigned long long)block.x * block.y * block.z;
	int most = 0;
	CUdevice device;

	return !legacy->cuCtxGetDevice(&device) &&
	       is_within_limits(grid, device, grid_limits) &&
	       is_within_limits(block, device, block_limits) &&
	       !legacy->cuDeviceGetAttribute(
		   &most, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, device) &&
	       threads <= (unsigned)most;
}

static cudaError_t finish_launch(CUresult r, dim3 grid, dim3 block)
{
	if (__builtin_expect(r == CUDA_ERROR_INVALID_VALUE, 0) &&
	    !are_sizes_valid(grid, block))
		return cudart_fail(cudaErrorInvalidConfiguration);
	return runtime_result(r);
}

/*
 * The driver runs a kernel in the context of its stream. The runtime must run
 * it in the current context and report an error if the stream belongs to
 * another device. The driver reports this error for a CUfunction of the current
 * context, so a kernel is converted into one.
 */
static cudaError_t bind_to_context(CUfunction *function, cudaStream_t stream)
{
	if (__builtin_expect(cudart_device_count < 2, 1) || !stream ||
	    stream == cudaStreamLegacy || stream == cudaStreamPerThread)
		return cudaSuccess;
	return runtime_result(
	    legacy->cuKernelGetFunction(function, (CUkernel)(void *)*function));
}

static cudaError_t launch_grid(const struct driver *d, CUfunction function,
			       dim3 grid, dim3 block, void **args,
			       size_t shared, cudaStream_t stream)
{
	REQUIRE(shared <= UINT32_MAX, cudaErrorInvalidValue);
	TRY(bind_to_context(&function, stream));
	return finish_launch(d->cuLaunchKernel(function, grid.x, grid.y, grid.z,
					       block.x, block.y, block.z,
					       (unsigned)shared, stream, args,
					       NULL),
			     grid, block);
}

BOTH_STREAMS(cudaLaunchKernel, _ptsz,
	     (const void *func, dim3 grid, dim3 block, void **args,
	      size_t shared, cudaStream_t stream),
	     (func, grid, block, args, shared, stream))
{
	CUfunction function;

	ENTER_CONTEXT();
	TRY(function_launchable(func, &function));
	return launch_grid(d, function, grid, block, args, shared, stream);
}

cudaError_t __cudaGetKernel(cudaKernel_t *kernelPtr, const void *entryFuncAddr)
{
	struct entry *e = registry_find(entryFuncAddr);

	REQUIRE(e && e->kind == ENTRY_KERNEL, cudaErrorInvalidDeviceFunction);
	*kernelPtr = entry_handle(e);
	return cudaSuccess;
}

BOTH_STREAMS(__cudaLaunchKernel, _ptsz,
	     (cudaKernel_t kernel, dim3 grid, dim3 block, void **args,
	      size_t shared, cudaStream_t stream),
	     (kernel, grid, block, args, shared, stream))
{
	struct entry *e = handle_entry(kernel);

	ENTER_CONTEXT();
	REQUIRE(kernel, cudaErrorInvalidDeviceFunction);
	if (e)
		TRY(registry_kernel(e, &kernel));
	return launch_grid(d, (CUfunction)(void *)kernel, grid, block, args,
			   shared, stream);
}

BOTH_STREAMS(cudaLaunchCooperativeKernel, _ptsz,
	     (const void *func, dim3 grid, dim3 block, void **args,
	      size_t shared, cudaStream_t stream),
	     (func, grid, block, args, shared, stream))
{
	CUfunction function;

	ENTER_CONTEXT();
	TRY(function_launchable(func, &function));
	REQUIRE(shared <= UINT32_MAX, cudaErrorInvalidValue);
	TRY(bind_to_context(&function, stream));
	return finish_launch(
	    d->cuLaunchCooperativeKernel(function, grid.x, grid.y, grid.z,
					 block.x, block.y, block.z,
					 (unsigned)shared, stream, args),
	    grid, block);
}

BOTH_STREAMS(cudaLaunchKernelExC, _ptsz,
	     (const cudaLaunchConfig_t *config, const void *func, void **args),
	     (config, func, args))
{
	CUlaunchConfig c;
	CUfunction function;

	ENTER_CONTEXT();
	REQUIRE(config && config->dynamicSmemBytes <= UINT32_MAX,
		cudaErrorInvalidValue);
	TRY(function_launchable(func, &function));
	TRY(bind_to_context(&function, config->stream));
	c = function_config(config);
	return finish_launch(d->cuLaunchKernelEx(&c, function, args, NULL),
			     config->gridDim, config->blockDim);
}
