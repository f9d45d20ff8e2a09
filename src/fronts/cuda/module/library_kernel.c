/* SPDX-License-Identifier: Apache-2.0 */
/*
 * library_kernel.c - attributes of kernels, which are stored for each device
 * and copied to the functions in the contexts of that device.
 */
#include "fronts/cuda/module/module.h"

#include <stdlib.h>

/*
 * Decodes a kernel without a device, to learn what it needs: only the addresses
 * depend on the device.
 */
static CUresult decode_kernel(CUkernel k, struct gkf_ptx_kernel **ret_kernel)
{
	const struct gkf_ptx_module *m = k->library->source->ptx;
	uint64_t *none = calloc(m->variable_count + 1, sizeof *none);
	int error = 1;

	if (none)
		error = gkf_ptx_kernel_new(m, none, k->ptx, ret_kernel);
	free(none);
	return error ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
}

static CUresult check_kernel_device(CUkernel kernel, CUdevice dev,
				    struct cuda_device **ret)
{
	if (!handle_is(kernel, HANDLE_KERNEL))
		return CUDA_ERROR_INVALID_HANDLE;
	*ret = front_device(dev);
	return *ret ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

CUresult cuKernelGetAttribute(int *pi, CUfunction_attribute attrib,
			      CUkernel kernel, CUdevice dev)
{
	READS_CODE;
	struct cuda_device *d;
	struct gkf_ptx_kernel *k;
	CUresult r;

	ENTER(cuKernelGetAttribute);
	if (!pi)
		return CUDA_ERROR_INVALID_VALUE;
	r = check_kernel_device(kernel, dev, &d);
	if (!r)
		r = decode_kernel(kernel, &k);
	if (r)
		return r;
	r = function_attribute(d, kernel->library->source->ptx, kernel->ptx, k,
			       &kernel->set[dev], attrib, pi);
	gkf_ptx_kernel_free(k);
	return r;
}

/* Applies a setting of a kernel to the functions that already exist for it. */
static void tell_functions(CUkernel kernel, const struct cuda_device *d,
			   const struct gkf_ptx_kernel *k,
			   CUfunction_attribute attrib, int val)
{
	CUlibrary lib = kernel->library;

	pthread_mutex_lock(&module_lock);
	for (unsigned i = 0; i < lib->module_count; i++)
		if (lib->modules[i]->ctx->device == d)
			function_set(
			    d, k,
			    &lib->modules[i]->functions[kernel->index]->set,
			    attrib, val);
	pthread_mutex_unlock(&module_lock);
}

CUresult cuKernelSetAttribute(CUfunction_attribute attrib, int val,
			      CUkernel kernel, CUdevice dev)
{
	READS_CODE;
	struct cuda_device *d;
	struct gkf_ptx_kernel *k;
	CUresult r;

	ENTER(cuKernelSetAttribute);
	r = check_kernel_device(kernel, dev, &d);
	if (!r)
		r = decode_kernel(kernel, &k);
	if (r)
		return r;
	r = function_set(d, k, &kernel->set[dev], attrib, val);
	if (!r)
		tell_functions(kernel, d, k, attrib, val);
	if (r == CUDA_ERROR_NOT_SUPPORTED)
		front_count_refusal(ROW_cuKernelSetAttribute);
	gkf_ptx_kernel_free(k);
	return r;
}

CUresult cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache config,
				CUdevice dev)
{
	READS_CODE;
	struct cuda_device *d;
	CUresult r;

	ENTER(cuKernelSetCacheConfig);
	r = check_kernel_device(kernel, dev, &d);
	if (!r && (unsigned)config > CU_FUNC_CACHE_PREFER_EQUAL)
		r = CUDA_ERROR_INVALID_VALUE;
	return r;
}

CUresult cuKernelGetParamInfo(CUkernel kernel, size_t paramIndex,
			      size_t *paramOffset, size_t *paramSize)
{
	READS_CODE;
	ENTER(cuKernelGetParamInfo);
	if (!handle_is(kernel, HANDLE_KERNEL))
		return CUDA_ERROR_INVALID_HANDLE;
	return function_parameter(kernel->library->source->ptx, kernel->ptx,
				  paramIndex, paramOffset, paramSize);
}

CUresult cuKernelGetParamCount(CUkernel kernel, size_t *paramCount)
{
	ENTER(cuKernelGetParamCount);
	if (!paramCount)
		return CUDA_ERROR_INVALID_VALUE;
	if (!handle_is(kernel, HANDLE_KERNEL))
		return CUDA_ERROR_INVALID_HANDLE;
	*paramCount = kernel->ptx->param_count;
	return CUDA_SUCCESS;
}

CUresult kernel_attach(CUkernel kernel, gpukit_body body)
{
	if (!handle_is(kernel, HANDLE_KERNEL))
		return CUDA_ERROR_INVALID_HANDLE;
	atomic_store(&kernel->native, body);
	return CUDA_SUCCESS;
}
