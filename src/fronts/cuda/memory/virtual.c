/* SPDX-License-Identifier: Apache-2.0 */
/*
 * virtual.c - reserves address ranges, maps memory into them and sets who may
 * access it. Mappings belong to no context.
 */
#include "base/assert.h"
#include "base/err.h"
#include "fronts/cuda/memory/physical.h"
#include "fronts/cuda/stream/stream.h"

#include <unistd.h>

/* ---- addresses ---- */

CUresult cuMemAddressReserve(CUdeviceptr *ptr, size_t size, size_t alignment,
			     CUdeviceptr addr, unsigned long long flags)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint64_t address;

	ENTER(cuMemAddressReserve);
	if (!ptr || !size || size & (page - 1) || alignment & (alignment - 1) ||
	    flags)
		return CUDA_ERROR_INVALID_VALUE;
	if (gkf_space_reserve(size, alignment, addr, &address))
		return CUDA_ERROR_OUT_OF_MEMORY;
	*ptr = address;
	return CUDA_SUCCESS;
}

CUresult cuMemAddressFree(CUdeviceptr ptr, size_t size)
{
	ENTER(cuMemAddressFree);
	return gkf_space_unreserve(ptr, size) ? CUDA_ERROR_INVALID_VALUE
					      : CUDA_SUCCESS;
}

/* ---- mappings ---- */

static CUresult map_error(int error)
{
	switch (error) {
	case 0:
		return CUDA_SUCCESS;
	case GK_ERR_NOMEM:
		return CUDA_ERROR_OUT_OF_MEMORY;
	default:
		return CUDA_ERROR_INVALID_VALUE;
	}
}

/* The caller holds physical_mutex. */
static CUresult map_physical(struct physical *p, CUdeviceptr at, size_t size,
			     size_t offset)
{
	struct gkf_mapping m = {
	    .base = at, .size = size, .tag = p, .device = p->device->index};
	CUresult r;

	GK_ASSERT(gk_lock_held(&physical_mutex));
	if (offset > p->size || size > p->size - offset)
		return CUDA_ERROR_INVALID_VALUE;
	r = map_error(gkf_space_map(&m, (unsigned char *)p->source + offset));
	if (!r)
		p->mappings++;
	return r;
}

CUresult cuMemMap(CUdeviceptr ptr, size_t size, size_t offset,
		  CUmemGenericAllocationHandle handle, unsigned long long flags)
{
	struct physical *p;
	CUresult r;

	ENTER(cuMemMap);
	if (!size || size % PHYSICAL_STEP || offset % PHYSICAL_STEP || flags)
		return CUDA_ERROR_INVALID_VALUE;
	physical_lock();
	p = physical_of(handle);
	r = p ? map_physical(p, ptr, size, offset) : CUDA_ERROR_INVALID_VALUE;
	physical_unlock();
	return r;
}

/*
 * Whether work of a context may use memory, given the devices that have access.
 */
static bool may_use(CUcontext ctx, const void *data)
{
	return *(const uint64_t *)data >> ctx->device->index & 1;
}

/*
 * Finds the devices that have access to a range; false: the range does not
 * consist of whole mappings.
 */
static bool find_users(CUdeviceptr at, size_t size, uint64_t *ret_devices)
{
	uint64_t end = at + size, devices = 0;
	struct gkf_mapping m;

	if (gkf_space_check_mapped(at, size))
		return false;
	for (; at < end && gkf_space_mapping(at, &m); at = m.base + m.size)
		devices |= m.readers;
	*ret_devices = devices;
	return true;
}

/* The caller holds physical_mutex. */
static CUresult unmap_all(CUdeviceptr at, size_t size)
{
	uint64_t end = at + size;
	struct gkf_mapping m;
	struct physical *p;
	CUresult r = map_error(gkf_space_check_mapped(at, size));

	GK_ASSERT(gk_lock_held(&physical_mutex));
	for (; !r && at < end; at = m.base + m.size) {
		gkf_space_mapping(at, &m);
		r = map_error(gkf_space_unmap(m.base, m.size));
		if (r)
			break;
		p = m.tag;
		p->mappings--;
		physical_drop(p);
	}
	return r;
}

/* Waits for work that may use the memory, as cuMemFree() does. */
CUresult cuMemUnmap(CUdeviceptr ptr, size_t size)
{
	uint64_t devices;
	CUresult r;

	ENTER(cuMemUnmap);
	if (!find_users(ptr, size, &devices))
		return CUDA_ERROR_INVALID_VALUE;
	if (devices)
		stream_drain_all(NULL, may_use, &devices);
	physical_lock();
	r = unmap_all(ptr, size);
	physical_unlock();
	return r;
}

/* ---- access ---- */

/* Returns NULL for the host, which cannot access device memory. */
static const struct cuda_device *device_at(const CUmemLocation *l)
{
	return l->type == CU_MEM_LOCATION_TYPE_DEVICE ? front_device(l->id)
						      : NULL;
}

static CUresult check_desc(const CUmemAccessDesc *d, CUdeviceptr at,
			   uint64_t end)
{
	const struct cuda_device *own, *device = device_at(&d->location);
	struct gkf_mapping m;

	if (d->location.type != CU_MEM_LOCATION_TYPE_DEVICE ||
	    (d->flags != CU_MEM_ACCESS_FLAGS_PROT_NONE &&
	     d->flags != CU_MEM_ACCESS_FLAGS_PROT_READ &&
	     d->flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE))
		return CUDA_ERROR_INVALID_VALUE;
	if (!device)
		return CUDA_ERROR_INVALID_DEVICE;
	for (; at < end && gkf_space_mapping(at, &m); at = m.base + m.size) {
		own = ((const struct physical *)m.tag)->device;
		if (device->index != own->index &&
		    !device_can_access(device, own))
			return CUDA_ERROR_INVALID_DEVICE;
	}
	return CUDA_SUCCESS;
}

/*
 * If several descriptors name the same device, the last one counts. The caller
 * holds physical_mutex.
 */
static CUresult set_access(CUdeviceptr at, size_t size,
			   const CUmemAccessDesc *desc, size_t count)
{
	uint64_t whose = 0, readers = 0, writers = 0;
	CUresult r = map_error(gkf_space_check_mapped(at, size));

	GK_ASSERT(gk_lock_held(&physical_mutex));
	for (size_t i = 0; !r && i < count; i++)
		r = check_desc(&desc[i], at, at + size);
	if (r)
		return r;
	for (size_t i = 0; i < count; i++) {
		uint64_t bit = 1ULL << device_at(&desc[i].location)->index;

		whose |= bit;
		readers &= ~bit;
		writers &= ~bit;
		if (desc[i].flags & CU_MEM_ACCESS_FLAGS_PROT_READ)
			readers |= bit;
		if (desc[i].flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE)
			writers |= bit;
	}
	return map_error(gkf_space_allow(at, size, whose, readers, writers));
}

CUresult cuMemSetAccess(CUdeviceptr ptr, size_t size,
			const CUmemAccessDesc *desc, size_t count)
{
	CUresult r;

	ENTER(cuMemSetAccess);
	if (!size || !desc || !count)
		return CUDA_ERROR_INVALID_VALUE;
	physical_lock();
	r = set_access(ptr, size, desc, count);
	physical_unlock();
	return r;
}

CUresult cuMemGetAccess(unsigned long long *flags,
			const CUmemLocation *location, CUdeviceptr ptr)
{
	const struct cuda_device *d;
	struct gkf_mapping m;

	ENTER(cuMemGetAccess);
	if (!flags || !location ||
	    location->type == CU_MEM_LOCATION_TYPE_INVALID ||
	    (unsigned)location->type > CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT)
		return CUDA_ERROR_INVALID_VALUE;
	d = device_at(location);
	if (!d && location->type == CU_MEM_LOCATION_TYPE_DEVICE)
		return CUDA_ERROR_INVALID_DEVICE;
	if (!gkf_space_mapping(ptr, &m))
		return CUDA_ERROR_INVALID_VALUE;
	*flags = CU_MEM_ACCESS_FLAGS_PROT_NONE;
	if (d && m.writers >> d->index & 1)
		*flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
	else if (d && m.readers >> d->index & 1)
		*flags = CU_MEM_ACCESS_FLAGS_PROT_READ;
	return CUDA_SUCCESS;
}
