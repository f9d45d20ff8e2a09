/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host.c - page-locked host memory, allocated here or registered by programs.
 */
#include "base/err.h"
#include "fronts/cuda/memory/memory.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#define ALLOC_FLAGS                                                            \
	(CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP |                \
	 CU_MEMHOSTALLOC_WRITECOMBINED)
#define REGISTER_FLAGS                                                         \
	(CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP |          \
	 CU_MEMHOSTREGISTER_IOMEMORY | CU_MEMHOSTREGISTER_READ_ONLY)

/* Size 0 is not an error: *pp becomes NULL, which may be freed. */
static CUresult alloc_host(CUcontext ctx, void **pp, size_t size,
			   unsigned flags)
{
	struct gkf_memory_ask ask = {.kind = GKF_MEMORY_HOST,
				     .device = ctx->device->index,
				     .size = size,
				     .owner = ctx->base,
				     .flags = flags};
	uint64_t address;
	int error;

	if (!pp || (flags & ~ALLOC_FLAGS))
		return CUDA_ERROR_INVALID_VALUE;
	if (!size) {
		*pp = NULL;
		return CUDA_SUCCESS;
	}
	error = gkf_space_alloc(&ask, &address);
	if (error)
		return memory_error(error);
	*pp = (void *)(uintptr_t)address;
	return CUDA_SUCCESS;
}

CUresult cuMemAllocHost_v2(void **pp, size_t bytesize)
{
	ENTER_CONTEXT(cuMemAllocHost_v2, ctx);
	return alloc_host(ctx, pp, bytesize, 0);
}

CUresult cuMemAllocHost(void **pp, unsigned int bytesize)
{
	ENTER_CONTEXT(cuMemAllocHost, ctx);
	return alloc_host(ctx, pp, bytesize, 0);
}

CUresult cuMemHostAlloc(void **pp, size_t bytesize, unsigned int Flags)
{
	ENTER_CONTEXT(cuMemHostAlloc, ctx);
	return alloc_host(ctx, pp, bytesize, Flags);
}

CUresult cuMemFreeHost(void *p)
{
	struct gkf_extent e;
	CUresult r;

	ENTER_CONTEXT(cuMemFreeHost, ctx);
	if (!p)
		return CUDA_SUCCESS;
	if (!memory_base((uintptr_t)p, MEMORY_BIT(GKF_MEMORY_HOST), &e))
		return CUDA_ERROR_INVALID_VALUE;
	r = memory_quiet(ctx, &e);
	return r ? r : memory_free(&e);
}

/* Finds the page-locked memory that contains an address. */
static bool find_locked(const void *p, struct gkf_extent *ret_extent)
{
	return gkf_space_find((uintptr_t)p, ret_extent) &&
	       (ret_extent->kind == GKF_MEMORY_HOST ||
		ret_extent->kind == GKF_MEMORY_REGISTERED);
}

CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *pdptr, void *p,
				      unsigned int Flags)
{
	struct gkf_extent e;

	ENTER_CONTEXT(cuMemHostGetDevicePointer_v2, ctx);
	if (!pdptr || Flags || !find_locked(p, &e))
		return CUDA_ERROR_INVALID_VALUE;
	*pdptr = (uintptr_t)p;
	return CUDA_SUCCESS;
}

CUresult cuMemHostGetDevicePointer(CUdeviceptr_v1 *pdptr, void *p,
				   unsigned int Flags)
{
	struct gkf_extent e;

	ENTER_CONTEXT(cuMemHostGetDevicePointer, ctx);
	if (!pdptr || Flags || !find_locked(p, &e) || (uintptr_t)p > UINT32_MAX)
		return CUDA_ERROR_INVALID_VALUE;
	*pdptr = (CUdeviceptr_v1)(uintptr_t)p;
	return CUDA_SUCCESS;
}

/*
 * With unified addressing, all page-locked host memory is mapped for the
 * device.
 */
CUresult cuMemHostGetFlags(unsigned int *pFlags, void *p)
{
	struct gkf_extent e;

	ENTER_CONTEXT(cuMemHostGetFlags, ctx);
	if (!pFlags || !find_locked(p, &e) || e.kind != GKF_MEMORY_HOST)
		return CUDA_ERROR_INVALID_VALUE;
	*pFlags = e.flags | CU_MEMHOSTALLOC_DEVICEMAP;
	return CUDA_SUCCESS;
}

/* Whether all pages are mapped, as far as Linux reports it. */
static bool is_mapped(uintptr_t at, size_t size)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	unsigned char seen[4096];
	uintptr_t end = at + size;

	for (at &= -page; at < end; at += sizeof(seen) * page) {
		size_t part = end - at;

		if (part > sizeof(seen) * page)
			part = sizeof(seen) * page;
		if (mincore((void *)at, part, seen) && errno == ENOMEM)
			return false;
	}
	return true;
}

static CUresult register_host(CUcontext ctx, void *p, size_t size,
			      unsigned flags)
{
	struct gkf_memory_ask ask = {.kind = GKF_MEMORY_REGISTERED,
				     .device = ctx->device->index,
				     .size = size,
				     .host = p,
				     .owner = ctx->base,
				     .flags = flags};
	uint64_t address;
	int error;

	/* There is no I/O memory to register. */
	if (!p || !size || (flags & ~REGISTER_FLAGS) ||
	    (flags & CU_MEMHOSTREGISTER_IOMEMORY) ||
	    (uintptr_t)p + size < size || !is_mapped((uintptr_t)p, size))
		return CUDA_ERROR_INVALID_VALUE;
	error = gkf_space_alloc(&ask, &address);
	return error == GK_ERR_EXISTS
		   ? CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED
		   : front_error(error);
}

CUresult cuMemHostRegister_v2(void *p, size_t bytesize, unsigned int Flags)
{
	ENTER_CONTEXT(cuMemHostRegister_v2, ctx);
	return register_host(ctx, p, bytesize, Flags);
}

CUresult cuMemHostRegister(void *p, size_t bytesize, unsigned int Flags)
{
	ENTER_CONTEXT(cuMemHostRegister, ctx);
	return register_host(ctx, p, bytesize, Flags);
}

/*
 * An address inside page-locked memory is an invalid value unless a
 * registration starts there.
 */
CUresult cuMemHostUnregister(void *p)
{
	struct gkf_extent e;
	CUresult r;

	ENTER_CONTEXT(cuMemHostUnregister, ctx);
	if (!p)
		return CUDA_ERROR_INVALID_VALUE;
	if (!memory_base((uintptr_t)p, MEMORY_BIT(GKF_MEMORY_REGISTERED), &e))
		return find_locked(p, &e)
			   ? CUDA_ERROR_INVALID_VALUE
			   : CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
	r = memory_quiet(ctx, &e);
	return r ? r : memory_free(&e);
}
