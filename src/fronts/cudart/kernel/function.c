/* SPDX-License-Identifier: Apache-2.0 */
/*
 * function.c - finds the kernel that a caller names, and reads and sets its
 * attributes.
 */
#include "fronts/cudart/kernel/function.h"

#include <stddef.h>

static cudaError_t check_kernel(const void *func, CUkernel *ret_kernel)
{
	CUkernel kernel = (CUkernel)(uintptr_t)func;
	CUfunction function;

	REQUIRE(func && !legacy->cuKernelGetFunction(&function, kernel),
		cudaErrorInvalidDeviceFunction);
	*ret_kernel = kernel;
	return cudaSuccess;
}

cudaError_t function_kernel(const void *func, CUkernel *ret_kernel)
{
	struct entry *e = registry_find(func);

	if (!e)
		return check_kernel(func, ret_kernel);
	REQUIRE(e->kind == ENTRY_KERNEL, cudaErrorInvalidDeviceFunction);
	return registry_kernel(e, ret_kernel);
}

cudaError_t function_here(const void *func, CUfunction *ret_function)
{
	CUkernel kernel;

	ENTER_CONTEXT();
	TRY(function_kernel(func, &kernel));
	return runtime_result(
	    legacy->cuKernelGetFunction(ret_function, kernel));
}

cudaError_t cudaGetKernel(cudaKernel_t *kernelPtr, const void *entryFuncAddr)
{
	ENTER_CONTEXT();
	REQUIRE(kernelPtr, cudaErrorInvalidValue);
	return function_kernel(entryFuncAddr, kernelPtr);
}

cudaError_t cudaGetFuncBySymbol(cudaFunction_t *functionPtr,
				const void *symbolPtr)
{
	ENTER();
	REQUIRE(functionPtr, cudaErrorInvalidValue);
	return function_here(symbolPtr, functionPtr);
}

/* The driver's attribute for each member of cudaFuncAttributes. */
static const struct {
	CUfunction_attribute attribute;
	size_t offset, size;
} attributes[] = {
#define ATTRIBUTE(field, name)                                                 \
	{                                                                      \
		CU_FUNC_ATTRIBUTE_##name,                                      \
		    offsetof(struct cudaFuncAttributes, field),                \
		    sizeof(((struct cudaFuncAttributes *)0)->field)            \
	}
    ATTRIBUTE(sharedSizeBytes, SHARED_SIZE_BYTES),
    ATTRIBUTE(constSizeBytes, CONST_SIZE_BYTES),
    ATTRIBUTE(localSizeBytes, LOCAL_SIZE_BYTES),
    ATTRIBUTE(maxThreadsPerBlock, MAX_THREADS_PER_BLOCK),
    ATTRIBUTE(numRegs, NUM_REGS),
    ATTRIBUTE(ptxVersion, PTX_VERSION),
    ATTRIBUTE(binaryVersion, BINARY_VERSION),
    ATTRIBUTE(cacheModeCA, CACHE_MODE_CA),
    ATTRIBUTE(maxDynamicSharedSizeBytes, MAX_DYNAMIC_SHARED_SIZE_BYTES),
    ATTRIBUTE(preferredShmemCarveout, PREFERRED_SHARED_MEMORY_CARVEOUT),
    ATTRIBUTE(clusterDimMustBeSet, CLUSTER_SIZE_MUST_BE_SET),
    ATTRIBUTE(requiredClusterWidth, REQUIRED_CLUSTER_WIDTH),
    ATTRIBUTE(requiredClusterHeight, REQUIRED_CLUSTER_HEIGHT),
    ATTRIBUTE(requiredClusterDepth, REQUIRED_CLUSTER_DEPTH),
    ATTRIBUTE(clusterSchedulingPolicyPreference,
	      CLUSTER_SCHEDULING_POLICY_PREFERENCE),
    ATTRIBUTE(nonPortableClusterSizeAllowed, NON_PORTABLE_CLUSTER_SIZE_ALLOWED),
#undef ATTRIBUTE
};

cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attr,
				  const void *func)
{
	struct cudaFuncAttributes found = {0};
	CUfunction function;

	ENTER();
	REQUIRE(attr, cudaErrorInvalidValue);
	TRY(function_here(func, &function));
	for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++) {
		void *to = (char *)&found + attributes[i].offset;
		int value = 0;

		TRY(runtime_result(legacy->cuFuncGetAttribute(
		    &value, attributes[i].attribute, function)));
		if (attributes[i].size == sizeof(size_t))
			*(size_t *)to = (size_t)value;
		else
			*(int *)to = value;
	}
	*attr = found;
	return cudaSuccess;
}

cudaError_t cudaFuncSetAttribute(const void *func, enum cudaFuncAttribute attr,
				 int value)
{
	CUfunction function;

	TRY(function_here(func, &function));
	return runtime_result(legacy->cuFuncSetAttribute(
	    function, (CUfunction_attribute)attr, value));
}

cudaError_t cudaFuncSetCacheConfig(const void *func,
				   enum cudaFuncCache cacheConfig)
{
	CUfunction function;

	TRY(function_here(func, &function));
	return runtime_result(
	    legacy->cuFuncSetCacheConfig(function, (CUfunc_cache)cacheConfig));
}

cudaError_t cudaFuncSetSharedMemConfig(const void *func,
				       enum cudaSharedMemConfig config)
{
	CUfunction function;

	TRY(function_here(func, &function));
	return runtime_result(
	    legacy->cuFuncSetSharedMemConfig(function, (CUsharedconfig)config));
}

cudaError_t cudaFuncGetName(const char **name, const void *func)
{
	CUkernel kernel;

	ENTER_CONTEXT();
	REQUIRE(name, cudaErrorInvalidValue);
	TRY(function_kernel(func, &kernel));
	return runtime_result(legacy->cuKernelGetName(name, kernel));
}

cudaError_t cudaFuncGetParamInfo(const void *func, size_t paramIndex,
				 size_t *paramOffset, size_t *paramSize)
{
	CUkernel kernel;

	ENTER_CONTEXT();
	TRY(function_kernel(func, &kernel));
	return runtime_result(legacy->cuKernelGetParamInfo(
	    kernel, paramIndex, paramOffset, paramSize));
}
