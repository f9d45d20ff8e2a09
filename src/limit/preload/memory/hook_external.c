/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hook_external.c - hooks for importing memory that other APIs made. Memory of
 * Vulkan and the like is counted nowhere else; until NVML reports this process,
 * that memory is assumed to be as large as the program says.
 */
#include "limit/preload/memory/hook.h"

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
		return handle_end(&call, r, 0, 0);
	r = handle_end(&call, r, (uintptr_t)*extMem_out, call.pending);
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
		   : handle_give((uintptr_t)extMem, release_external);
}
