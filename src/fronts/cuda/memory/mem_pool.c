/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mem_pool.c - owns the memory pools: each device's default pool and those
 * created by programs. Gets and sets their attributes.
 */
#include "fronts/cuda/memory/mem_pool.h"
#include "device/share.h"
#include "base/assert.h"
#include "machine/file/numbers.h"
#include "machine/model/peer.h"

#include <pthread.h>
#include <sys/mman.h>

/* The handle types that a program may request. */
#define POOL_HANDLES CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR

static struct {
	pthread_mutex_t lock;
	CUmemoryPool standard[GKF_DEVICES_MAX], current[GKF_DEVICES_MAX];
	CUmemoryPool graphs[GKF_DEVICES_MAX];
} pools = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool is_pool(CUmemoryPool pool)
{
	return handle_is(pool, HANDLE_POOL);
}

/*
 * Ends sharing: closes the memory of an imported pool, and makes an exported
 * pool impossible to open.
 */
static void unshare_pool(CUmemoryPool pool)
{
	if (pool->shared)
		gkf_share_end(front_device(pool->device)->index, pool->row);
	if (pool->all)
		munmap(pool->all, pool->all_size);
}

CUmemoryPool pool_new(CUdevice device)
{
	CUmemoryPool pool = handle_new(HANDLE_POOL, sizeof(*pool));

	if (!pool)
		return NULL;
	pool->device = device;
	for (unsigned i = 0; i < 3; i++)
		atomic_store(&pool->reuse[i], 1);
	return pool;
}

/* ---- the pools of a device ---- */

/*
 * Returns the default pool of a device; NULL: out of memory. The caller holds
 * pools.lock.
 */
static CUmemoryPool standard_of(CUdevice device)
{
	CUmemoryPool *pool = &pools.standard[device];

	GK_ASSERT(gk_lock_held(&pools.lock));
	if (!*pool) {
		*pool = pool_new(device);
		if (*pool)
			(*pool)->standard = true;
	}
	return *pool;
}

static CUresult get_pool(CUdevice device, bool current, CUmemoryPool *ret_pool)
{
	CUmemoryPool pool;

	if (!ret_pool)
		return CUDA_ERROR_INVALID_VALUE;
	if (!front_device(device))
		return CUDA_ERROR_INVALID_DEVICE;
	pthread_mutex_lock(&pools.lock);
	pool = standard_of(device);
	if (current && pools.current[device])
		pool = pools.current[device];
	pthread_mutex_unlock(&pools.lock);
	if (!pool)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*ret_pool = pool;
	return CUDA_SUCCESS;
}

CUresult pool_current(CUdevice device, CUmemoryPool *ret_pool)
{
	return get_pool(device, true, ret_pool);
}

CUresult pool_of_graphs(CUdevice device, CUmemoryPool *ret_pool)
{
	CUmemoryPool *pool = &pools.graphs[device];

	GK_ASSERT(front_device(device) != NULL);
	pthread_mutex_lock(&pools.lock);
	if (!*pool)
		*pool = pool_new(device);
	*ret_pool = *pool;
	pthread_mutex_unlock(&pools.lock);
	return *ret_pool ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

void pool_share(CUmemoryPool pool, CUdevice with)
{
	atomic_fetch_or(&pool->peers, 1ULL << with);
}

void pool_trim_all(CUmemoryPool pool)
{
	struct gkf_mem_pool *at = atomic_load(&pool->at);

	if (at)
		gkf_mem_pool_trim(at, 0);
}

void pool_reset(CUmemoryPool pool)
{
	struct gkf_mem_pool *at = atomic_load(&pool->at);

	if (at)
		gkf_mem_pool_reset(at, true, false);
}

static CUresult set_pool(CUdevice device, CUmemoryPool pool)
{
	if (!front_device(device))
		return CUDA_ERROR_INVALID_DEVICE;
	if (!is_pool(pool) || pool->device != device || pool->all)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&pools.lock);
	pools.current[device] = pool;
	pthread_mutex_unlock(&pools.lock);
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *pool_out, CUdevice dev)
{
	ENTER(cuDeviceGetDefaultMemPool);
	return get_pool(dev, false, pool_out);
}

CUresult cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice dev)
{
	ENTER(cuDeviceGetMemPool);
	return get_pool(dev, true, pool);
}

CUresult cuDeviceSetMemPool(CUdevice dev, CUmemoryPool pool)
{
	ENTER(cuDeviceSetMemPool);
	return set_pool(dev, pool);
}

/* Supports only pools of pinned memory on devices. */
static CUresult check_place(enum cuda_row row, const CUmemLocation *location,
			    CUmemAllocationType type)
{
	if (!location ||
	    (type != CU_MEM_ALLOCATION_TYPE_PINNED &&
	     type != CU_MEM_ALLOCATION_TYPE_MANAGED) ||
	    (unsigned)location->type > CU_MEM_LOCATION_TYPE_HOST_NUMA ||
	    (type == CU_MEM_ALLOCATION_TYPE_PINNED &&
	     location->type == CU_MEM_LOCATION_TYPE_NONE))
		return CUDA_ERROR_INVALID_VALUE;
	if (type != CU_MEM_ALLOCATION_TYPE_PINNED ||
	    location->type != CU_MEM_LOCATION_TYPE_DEVICE)
		return memory_counted(row, CUDA_ERROR_NOT_SUPPORTED);
	return CUDA_SUCCESS;
}

CUresult cuMemGetDefaultMemPool(CUmemoryPool *pool_out, CUmemLocation *location,
				CUmemAllocationType type)
{
	CUresult r;

	ENTER(cuMemGetDefaultMemPool);
	r = check_place(ROW_cuMemGetDefaultMemPool, location, type);
	return r ? r : get_pool(location->id, false, pool_out);
}

CUresult cuMemGetMemPool(CUmemoryPool *pool, CUmemLocation *location,
			 CUmemAllocationType type)
{
	CUresult r;

	ENTER(cuMemGetMemPool);
	r = check_place(ROW_cuMemGetMemPool, location, type);
	return r ? r : get_pool(location->id, true, pool);
}

CUresult cuMemSetMemPool(CUmemLocation *location, CUmemAllocationType type,
			 CUmemoryPool pool)
{
	CUresult r;

	ENTER(cuMemSetMemPool);
	r = check_place(ROW_cuMemSetMemPool, location, type);
	return r ? r : set_pool(location->id, pool);
}

/* ---- making and ending ---- */

CUresult cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *poolProps)
{
	const CUmemPoolProps *p = poolProps;
	CUmemoryPool made;
	CUresult r;

	ENTER(cuMemPoolCreate);
	if (!pool || !p)
		return CUDA_ERROR_INVALID_VALUE;
	r = check_place(ROW_cuMemPoolCreate, &p->location, p->allocType);
	if (r)
		return r;
	if (!front_device(p->location.id))
		return CUDA_ERROR_INVALID_VALUE;
	/*
	 * Handle types of other operating systems, and hardware decompression,
	 * are not supported.
	 */
	if (p->handleTypes & ~(unsigned)POOL_HANDLES || p->usage)
		return memory_counted(ROW_cuMemPoolCreate,
				      CUDA_ERROR_NOT_SUPPORTED);
	made = pool_new(p->location.id);
	if (!made)
		return CUDA_ERROR_OUT_OF_MEMORY;
	made->bound = p->maxSize;
	made->types = p->handleTypes;
	*pool = made;
	return CUDA_SUCCESS;
}

/* Devices whose current pool this was use their default pool again. */
CUresult cuMemPoolDestroy(CUmemoryPool pool)
{
	struct gkf_mem_pool *at;

	ENTER(cuMemPoolDestroy);
	if (!is_pool(pool) || pool->standard)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&pools.lock);
	if (pools.current[pool->device] == pool)
		pools.current[pool->device] = NULL;
	pthread_mutex_unlock(&pools.lock);
	unshare_pool(pool);
	at = atomic_load(&pool->at);
	handle_free(pool);
	if (at)
		gkf_mem_pool_release(at);
	return CUDA_SUCCESS;
}

/* ---- attributes ---- */

struct gkf_mem_pool_usage pool_read(CUmemoryPool pool)
{
	struct gkf_mem_pool *at = atomic_load(&pool->at);
	struct gkf_mem_pool_usage usage = {0};

	if (at)
		gkf_mem_pool_read(at, &usage);
	return usage;
}

CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attr,
			       void *value)
{
	struct gkf_mem_pool_usage usage;
	uint64_t *word = value;

	ENTER(cuMemPoolGetAttribute);
	if (!is_pool(pool) || !value)
		return CUDA_ERROR_INVALID_VALUE;
	usage = pool_read(pool);
	switch (attr) {
	case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
	case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
	case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
		*(int *)value = atomic_load(&pool->reuse[attr - 1]);
		break;
	case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
		*word = atomic_load(&pool->threshold);
		break;
	case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
		*word = usage.reserved;
		break;
	case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
		*word = usage.reserved_high;
		break;
	case CU_MEMPOOL_ATTR_USED_MEM_CURRENT:
		*word = usage.used;
		break;
	case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
		*word = usage.used_high;
		break;
	default:
		return CUDA_ERROR_INVALID_VALUE;
	}
	return CUDA_SUCCESS;
}

static void set_threshold(CUmemoryPool pool, uint64_t threshold)
{
	struct gkf_mem_pool *at = atomic_load(&pool->at);

	atomic_store(&pool->threshold, threshold);
	if (at)
		gkf_mem_pool_keep(at, threshold);
}

/* High-water marks can only be set to 0. */
static CUresult reset_high(CUmemoryPool pool, bool reserved, uint64_t value)
{
	struct gkf_mem_pool *at = atomic_load(&pool->at);

	if (value)
		return CUDA_ERROR_INVALID_VALUE;
	if (at)
		gkf_mem_pool_reset(at, reserved, !reserved);
	return CUDA_SUCCESS;
}

CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attr,
			       void *value)
{
	const uint64_t *word = value;

	ENTER(cuMemPoolSetAttribute);
	if (!is_pool(pool) || !value)
		return CUDA_ERROR_INVALID_VALUE;
	switch (attr) {
	case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
	case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
	case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
		atomic_store(&pool->reuse[attr - 1], *(const int *)value != 0);
		return CUDA_SUCCESS;
	case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
		set_threshold(pool, *word);
		return CUDA_SUCCESS;
	case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
	case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
		return reset_high(
		    pool, attr == CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH, *word);
	case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
	case CU_MEMPOOL_ATTR_USED_MEM_CURRENT:
	default:
		return CUDA_ERROR_INVALID_VALUE;
	}
}

CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t minBytesToKeep)
{
	struct gkf_mem_pool *at;

	ENTER(cuMemPoolTrimTo);
	if (!is_pool(pool))
		return CUDA_ERROR_INVALID_VALUE;
	at = atomic_load(&pool->at);
	if (at)
		gkf_mem_pool_trim(at, minBytesToKeep);
	return CUDA_SUCCESS;
}

/* ---- access ---- */

static CUresult check_access(CUmemoryPool pool, const CUmemAccessDesc *d)
{
	const struct cuda_device *other = front_device(d->location.id);
	unsigned own;

	if (d->location.type != CU_MEM_LOCATION_TYPE_DEVICE || !other)
		return CUDA_ERROR_INVALID_VALUE;
	if (d->flags != CU_MEM_ACCESS_FLAGS_PROT_NONE &&
	    d->flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE)
		return CUDA_ERROR_INVALID_VALUE;
	own = front_device(pool->device)->index;
	if (own == other->index)
		return d->flags ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
	return gkf_peer_split(cuda.machine, own, other->index) ||
		       (!gkf_peer_nvlink(cuda.machine, own, other->index) &&
			gkf_peer_pcie(cuda.machine, own, other->index) !=
			    GKF_PEER_OK)
		   ? CUDA_ERROR_PEER_ACCESS_UNSUPPORTED
		   : CUDA_SUCCESS;
}

CUresult cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc *map,
			    size_t count)
{
	CUresult r = CUDA_SUCCESS;

	ENTER(cuMemPoolSetAccess);
	if (!is_pool(pool) || (!map && count))
		return CUDA_ERROR_INVALID_VALUE;
	for (size_t i = 0; !r && i < count; i++)
		r = check_access(pool, &map[i]);
	for (size_t i = 0; !r && i < count; i++) {
		uint64_t bit = 1ULL << map[i].location.id;

		if (map[i].flags)
			atomic_fetch_or(&pool->peers, bit);
		else
			atomic_fetch_and(&pool->peers, ~bit);
	}
	return r;
}

CUresult cuMemPoolGetAccess(CUmemAccess_flags *flags, CUmemoryPool memPool,
			    CUmemLocation *location)
{
	bool may;

	ENTER(cuMemPoolGetAccess);
	if (!flags || !is_pool(memPool) || !location ||
	    location->type != CU_MEM_LOCATION_TYPE_DEVICE ||
	    !front_device(location->id))
		return CUDA_ERROR_INVALID_VALUE;
	may = location->id == memPool->device ||
	      (atomic_load(&memPool->peers) >> location->id & 1);
	*flags = may ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE
		     : CU_MEM_ACCESS_FLAGS_PROT_NONE;
	return CUDA_SUCCESS;
}
