/*
 * launch.c - launching kernels: by the code that nvcc emits for <<<...>>>, and
 * by name of the host's stub.
 */
#include "fronts/cudart/function.h"

#include <string.h>

/*
 * A launch whose arguments throw never takes its own back: of those that lie
 * here, the oldest is the one that nobody waits for.
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

/* The driver calls everything an invalid value; here sizes are told apart. */
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

static cudaError_t launched(CUresult r, dim3 grid, dim3 block)
{
	if (__builtin_expect(r == CUDA_ERROR_INVALID_VALUE, 0) &&
	    !are_sizes_valid(grid, block))
		return cudart_fail(cudaErrorInvalidConfiguration);
	return runtime_result(r);
}

/*
 * The driver runs a kernel in the context of its stream; the runtime in the
 * current one, and a stream of another device is an error.
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
	return launched(d->cuLaunchKernel(function, grid.x, grid.y, grid.z,
					  block.x, block.y, block.z,
					  (unsigned)shared, stream, args, NULL),
			grid, block);
}

static cudaError_t cudaLaunchKernel_by(const struct driver *d, const void *func,
				       dim3 grid, dim3 block, void **args,
				       size_t shared, cudaStream_t stream)
{
	CUfunction function;

	ENTER_CONTEXT();
	TRY(function_launchable(func, &function));
	return launch_grid(d, function, grid, block, args, shared, stream);
}
BOTH(cudaLaunchKernel, _ptsz,
     (const void *func, dim3 gridDim, dim3 blockDim, void **args,
      size_t sharedMem, cudaStream_t stream),
     (func, gridDim, blockDim, args, sharedMem, stream))

cudaError_t __cudaGetKernel(cudaKernel_t *kernelPtr, const void *entryFuncAddr)
{
	struct entry *e = registry_find(entryFuncAddr);

	REQUIRE(e && e->kind == ENTRY_KERNEL, cudaErrorInvalidDeviceFunction);
	*kernelPtr = entry_handle(e);
	return cudaSuccess;
}

static cudaError_t __cudaLaunchKernel_by(const struct driver *d,
					 cudaKernel_t kernel, dim3 grid,
					 dim3 block, void **args, size_t shared,
					 cudaStream_t stream)
{
	struct entry *e = handle_entry(kernel);

	ENTER_CONTEXT();
	REQUIRE(kernel, cudaErrorInvalidDeviceFunction);
	if (e)
		TRY(registry_kernel(e, &kernel));
	return launch_grid(d, (CUfunction)(void *)kernel, grid, block, args,
			   shared, stream);
}
BOTH(__cudaLaunchKernel, _ptsz,
     (cudaKernel_t kernel, dim3 gridDim, dim3 blockDim, void **args,
      size_t sharedMem, cudaStream_t stream),
     (kernel, gridDim, blockDim, args, sharedMem, stream))

static cudaError_t cudaLaunchCooperativeKernel_by(const struct driver *d,
						  const void *func, dim3 grid,
						  dim3 block, void **args,
						  size_t shared,
						  cudaStream_t stream)
{
	CUfunction function;

	ENTER_CONTEXT();
	TRY(function_launchable(func, &function));
	REQUIRE(shared <= UINT32_MAX, cudaErrorInvalidValue);
	TRY(bind_to_context(&function, stream));
	return launched(d->cuLaunchCooperativeKernel(
			    function, grid.x, grid.y, grid.z, block.x, block.y,
			    block.z, (unsigned)shared, stream, args),
			grid, block);
}
BOTH(cudaLaunchCooperativeKernel, _ptsz,
     (const void *func, dim3 gridDim, dim3 blockDim, void **args,
      size_t sharedMem, cudaStream_t stream),
     (func, gridDim, blockDim, args, sharedMem, stream))

static cudaError_t cudaLaunchKernelExC_by(const struct driver *d,
					  const cudaLaunchConfig_t *config,
					  const void *func, void **args)
{
	CUlaunchConfig c;
	CUfunction function;

	ENTER_CONTEXT();
	REQUIRE(config && config->dynamicSmemBytes <= UINT32_MAX,
		cudaErrorInvalidValue);
	TRY(function_launchable(func, &function));
	TRY(bind_to_context(&function, config->stream));
	c = function_config(config);
	return launched(d->cuLaunchKernelEx(&c, function, args, NULL),
			config->gridDim, config->blockDim);
}
BOTH(cudaLaunchKernelExC, _ptsz,
     (const cudaLaunchConfig_t *config, const void *func, void **args),
     (config, func, args))
