/* SPDX-License-Identifier: Apache-2.0 */
/*
 * physical.c - cuMemCreate, and queries about the handles it returns; owns
 * struct physical.
 */
#include "fronts/cuda/memory/physical.h"
#include "base/assert.h"
#include "base/err.h"
#include "fronts/cuda/context/context.h"

#include <string.h>

pthread_mutex_t physical_mutex = PTHREAD_MUTEX_INITIALIZER;

void physical_lock(void)
{
	pthread_mutex_lock(&physical_mutex);
}

void physical_unlock(void)
{
	pthread_mutex_unlock(&physical_mutex);
}

struct physical *physical_of(CUmemGenericAllocationHandle handle)
{
	struct physical *p = (struct physical *)(uintptr_t)handle;

	GK_ASSERT(gk_lock_held(&physical_mutex));
	return handle_is(p, HANDLE_PHYSICAL) && p->handles ? p : NULL;
}

/* Objects that this process no longer uses, but other processes still do. */
static struct physical *lingering;

static void free_physical(struct physical *p)
{
	if (p->shared)
		gkf_share_end(p->device->index, p->row);
	if (p->address) {
		gkf_space_free(p->address);
		device_let_go(p->device);
	} else {
		gkf_share_source_end(p->source, &p->about);
	}
	handle_free(p);
}

static bool is_elsewhere(const struct physical *p)
{
	return p->shared && gkf_share_in_use(p->device->index, p->row);
}

void physical_settle(void)
{
	struct physical **at = &lingering, *p;

	GK_ASSERT(gk_lock_held(&physical_mutex));
	while ((p = *at)) {
		if (is_elsewhere(p)) {
			at = &p->next;
			continue;
		}
		*at = p->next;
		free_physical(p);
	}
}

void physical_drop(struct physical *p)
{
	GK_ASSERT(gk_lock_held(&physical_mutex));
	if (p->handles || p->mappings)
		return;
	if (is_elsewhere(p)) {
		p->next = lingering;
		lingering = p;
		return;
	}
	free_physical(p);
	physical_settle();
}

struct physical *physical_new(struct cuda_device *device,
			      const CUmemAllocationProp *prop, uint64_t size)
{
	struct physical *p = handle_new(HANDLE_PHYSICAL, sizeof(*p));

	if (!p)
		return NULL;
	p->device = device;
	p->prop = *prop;
	p->size = size;
	p->handles = 1;
	return p;
}

/* ---- properties ---- */

/*
 * Whether a feature is requested that the device's attributes report as absent.
 * Such refusals are not counted: PyTorch tries a fabric handle before any other
 * type.
 */
static bool is_absent(const CUmemAllocationProp *p)
{
	const unsigned kinds = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;

	return p->requestedHandleTypes & ~kinds ||
	       p->allocFlags.gpuDirectRDMACapable;
}

/* Whether hardware is requested that is not simulated. */
static bool is_refused(const CUmemAllocationProp *p)
{
	return p->allocFlags.usage ||
	       p->location.type != CU_MEM_LOCATION_TYPE_DEVICE;
}

static CUresult check_values(const CUmemAllocationProp *p)
{
	static const unsigned char none[sizeof(p->allocFlags.reserved)];
	const unsigned kinds = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR |
			       CU_MEM_HANDLE_TYPE_WIN32 |
			       CU_MEM_HANDLE_TYPE_WIN32_KMT |
			       CU_MEM_HANDLE_TYPE_FABRIC;
	const unsigned usages =
	    CU_MEM_CREATE_USAGE_TILE_POOL | CU_MEM_CREATE_USAGE_HW_DECOMPRESS;

	if (p->type != CU_MEM_ALLOCATION_TYPE_PINNED ||
	    p->location.type == CU_MEM_LOCATION_TYPE_INVALID ||
	    (unsigned)p->location.type >
		CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT ||
	    p->requestedHandleTypes & ~kinds || p->allocFlags.usage & ~usages ||
	    p->allocFlags.compressionType > CU_MEM_ALLOCATION_COMP_GENERIC ||
	    memcmp(p->allocFlags.reserved, none, sizeof(none)))
		return CUDA_ERROR_INVALID_VALUE;
	return p->location.type == CU_MEM_LOCATION_TYPE_DEVICE &&
		       !front_device(p->location.id)
		   ? CUDA_ERROR_INVALID_DEVICE
		   : CUDA_SUCCESS;
}

static CUresult check_prop(enum cuda_row row, const CUmemAllocationProp *p)
{
	CUresult r = p ? check_values(p) : CUDA_ERROR_INVALID_VALUE;

	if (r)
		return r;
	if (is_refused(p))
		return memory_counted(row, CUDA_ERROR_NOT_SUPPORTED);
	return is_absent(p) ? CUDA_ERROR_NOT_SUPPORTED : CUDA_SUCCESS;
}

CUresult cuMemGetAllocationGranularity(size_t *granularity,
				       const CUmemAllocationProp *prop,
				       CUmemAllocationGranularity_flags option)
{
	CUresult r;

	ENTER(cuMemGetAllocationGranularity);
	if (!granularity || (option != CU_MEM_ALLOC_GRANULARITY_MINIMUM &&
			     option != CU_MEM_ALLOC_GRANULARITY_RECOMMENDED))
		return CUDA_ERROR_INVALID_VALUE;
	r = check_prop(ROW_cuMemGetAllocationGranularity, prop);
	if (!r)
		*granularity = PHYSICAL_STEP;
	return r;
}

/* ---- handles ---- */

static CUresult fill_physical(struct physical *p)
{
	struct gkf_memory_ask ask = {.kind = GKF_MEMORY_PHYSICAL,
				     .device = p->device->index,
				     .size = p->size};
	CUresult r = device_hold(p->device);
	int error;

	if (r)
		return r;
	error = memory_fault(p->device) ? GK_ERR_NO_SPACE
					: gkf_space_alloc(&ask, &p->address);
	if (error) {
		device_let_go(p->device);
		return memory_error(error);
	}
	p->source = gkf_space_source(p->address);
	return CUDA_SUCCESS;
}

CUresult cuMemCreate(CUmemGenericAllocationHandle *handle, size_t size,
		     const CUmemAllocationProp *prop, unsigned long long flags)
{
	struct physical *p;
	CUresult r;

	ENTER(cuMemCreate);
	if (!handle || !size || size % PHYSICAL_STEP || flags)
		return CUDA_ERROR_INVALID_VALUE;
	r = check_prop(ROW_cuMemCreate, prop);
	if (r)
		return r;
	physical_lock();
	physical_settle();
	physical_unlock();
	p = physical_new(front_device(prop->location.id), prop, size);
	if (!p)
		return CUDA_ERROR_OUT_OF_MEMORY;
	/* Compression may be requested but need not be granted. */
	p->prop.allocFlags.compressionType = CU_MEM_ALLOCATION_COMP_NONE;
	r = fill_physical(p);
	if (r)
		handle_free(p);
	else
		*handle = (uintptr_t)p;
	return r;
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle)
{
	struct physical *p;

	ENTER(cuMemRelease);
	physical_lock();
	p = physical_of(handle);
	if (p) {
		p->handles--;
		physical_drop(p);
	}
	physical_unlock();
	return p ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult
cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp *prop,
				       CUmemGenericAllocationHandle handle)
{
	struct physical *p;

	ENTER(cuMemGetAllocationPropertiesFromHandle);
	if (!prop)
		return CUDA_ERROR_INVALID_VALUE;
	physical_lock();
	p = physical_of(handle);
	if (p)
		*prop = p->prop;
	physical_unlock();
	return p ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/*
 * Returns another handle of the memory mapped at an address; the program must
 * release it too.
 */
CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *handle,
				     void *addr)
{
	struct gkf_mapping m;
	struct physical *p;
	bool found;

	ENTER(cuMemRetainAllocationHandle);
	if (!handle)
		return CUDA_ERROR_INVALID_VALUE;
	physical_lock();
	found = gkf_space_mapping((uintptr_t)addr, &m);
	if (found) {
		p = m.tag;
		p->handles++;
		*handle = (uintptr_t)p;
	}
	physical_unlock();
	return found ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
