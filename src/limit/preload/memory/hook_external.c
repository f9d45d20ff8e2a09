/*
 * hook_external.c - memory that other APIs have made and a program imports.
 * Vulkan's and its like nobody else counts: it is as large as the program says
 * until NVML tells what this process has.
 */
#include "limit/preload/hook.h"

CUresult
cuImportExternalMemory(CUexternalMemory *extMem_out,
		       const CUDA_EXTERNAL_MEMORY_HANDLE_DESC *memHandleDesc)
{
	uint64_t most = memHandleDesc ? piece_most(memHandleDesc->size) : 0;
	struct memory_call call;
	CUresult r;

	if (MISSING(cuImportExternalMemory))
		return CUDA_ERROR_NO_DEVICE;
	r = memory_begin(&call, limited_current_device(), GKL_EXTERNAL, most);
	if (r)
		return r;
	r = REAL(cuImportExternalMemory)(extMem_out, memHandleDesc);
	if (r)
		return measured_end(&call, r, 0, 0);
	r = measured_end(&call, r, (uintptr_t)*extMem_out, call.pending);
	if (r)
		cuDestroyExternalMemory(*extMem_out);
	return r;
}

static CUresult release_external(uint64_t handle)
{
	return REAL(cuDestroyExternalMemory)(
	    (CUexternalMemory)(uintptr_t)handle);
}

CUresult cuDestroyExternalMemory(CUexternalMemory extMem)
{
	return MISSING(cuDestroyExternalMemory)
		   ? CUDA_ERROR_NO_DEVICE
		   : measured_give((uintptr_t)extMem, release_external);
}
