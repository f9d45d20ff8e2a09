/*
 * hook_virtual.c - memory that programs create without addresses: it is charged
 * to the device where it lies, until its last handle is released and its last
 * mapping is gone. What came from other processes is theirs.
 */
#include "limit/preload/hook.h"

/* In a row of handles, `word`: how many uses of it there are. */
enum { HANDLE = 1, MAPPING = 1 };
#define KEPT 1u /* in `owner`: others than handles and mappings may have it */

static bool is_on_device(const CUmemAllocationProp *prop)
{
	return prop && prop->location.type == CU_MEM_LOCATION_TYPE_DEVICE;
}

CUresult cuMemCreate(CUmemGenericAllocationHandle *handle, size_t size,
		     const CUmemAllocationProp *prop, unsigned long long flags)
{
	struct memory_call call;
	struct table_row row = {.bytes = size, .word = HANDLE};
	CUresult r;

	if (MISSING(cuMemCreate))
		return CUDA_ERROR_NO_DEVICE;
	r = memory_begin(&call,
			 is_on_device(prop) ? limited_device(prop->location.id)
					    : LIMITED_NONE,
			 GKL_VIRTUAL, piece_most(size));
	if (r)
		return r;
	r = REAL(cuMemCreate)(handle, size, prop, flags);
	if (call.device < 0)
		return r;
	row.device = (uint16_t)call.device;
	row.key = r ? 0 : *handle;
	if (!r && !table_put(&memory_state()->handles, &row)) {
		REAL(cuMemRelease)(*handle);
		r = CUDA_ERROR_OUT_OF_MEMORY;
	}
	memory_end(&call, r ? 0 : size);
	return r;
}

/*
 * The lock is held. Who was given it, an array or a multicast object may have
 * it even now: then it is this process's until they let go of it.
 */
static void change_use(struct memory_state *s, uint64_t handle, uint32_t more,
		       uint32_t less)
{
	struct table_row row;

	if (!table_take(&s->handles, handle, &row))
		return;
	row.word += more - less;
	if (row.word)
		table_put(&s->handles, &row);
	else if (row.owner == KEPT)
		memory_doubt(row.device, GKL_VIRTUAL, row.bytes);
	else
		memory_give(row.device, GKL_VIRTUAL, row.bytes);
}

static struct memory_state *lock_physical(void)
{
	struct memory_state *s = limited() ? memory_state() : NULL;

	if (s) {
		memory_enter();
		pthread_mutex_lock(&s->physical);
	}
	return s;
}

static void unlock_physical(struct memory_state *s)
{
	if (!s)
		return;
	pthread_mutex_unlock(&s->physical);
	memory_leave();
	memory_refresh_all();
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle)
{
	struct memory_state *s;
	CUresult r;

	if (MISSING(cuMemRelease))
		return CUDA_ERROR_NO_DEVICE;
	s = lock_physical();
	r = REAL(cuMemRelease)(handle);
	if (s && !r)
		change_use(s, handle, 0, HANDLE);
	unlock_physical(s);
	return r;
}

/* One handle more of what is known: by the same value, as drivers do it. */
static CUresult note_handle(struct memory_state *s, CUresult r,
			    const CUmemGenericAllocationHandle *handle)
{
	if (s && !r)
		change_use(s, *handle, HANDLE, 0);
	unlock_physical(s);
	return r;
}

CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *handle,
				     void *addr)
{
	struct memory_state *s;

	if (MISSING(cuMemRetainAllocationHandle))
		return CUDA_ERROR_NO_DEVICE;
	s = lock_physical();
	return note_handle(s, REAL(cuMemRetainAllocationHandle)(handle, addr),
			   handle);
}

CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *handle,
					void *osHandle,
					CUmemAllocationHandleType shHandleType)
{
	struct memory_state *s;

	if (MISSING(cuMemImportFromShareableHandle))
		return CUDA_ERROR_NO_DEVICE;
	s = lock_physical();
	return note_handle(s,
			   REAL(cuMemImportFromShareableHandle)(
			       handle, osHandle, shHandleType),
			   handle);
}

/* The lock is held. */
static void keep(struct memory_state *s, uint64_t handle)
{
	struct table_row row;

	if (!table_find(&s->handles, handle, &row))
		return;
	row.owner = KEPT;
	table_put(&s->handles, &row);
}

CUresult cuMemExportToShareableHandle(void *shareableHandle,
				      CUmemGenericAllocationHandle handle,
				      CUmemAllocationHandleType handleType,
				      unsigned long long flags)
{
	struct memory_state *s;
	CUresult r;

	if (MISSING(cuMemExportToShareableHandle))
		return CUDA_ERROR_NO_DEVICE;
	s = lock_physical();
	r = REAL(cuMemExportToShareableHandle)(shareableHandle, handle,
					       handleType, flags);
	if (s && !r)
		keep(s, handle);
	unlock_physical(s);
	return r;
}

static void keep_all(struct memory_state *s, const CUarrayMapInfo *list,
		     unsigned int count)
{
	for (unsigned int i = 0; i < count; i++)
		if (list[i].memOperationType == CU_MEM_OPERATION_TYPE_MAP)
			keep(s, list[i].memHandle.memHandle);
}

#define MAP_ARRAY(symbol)                                                      \
	CUresult symbol(CUarrayMapInfo *mapInfoList, unsigned int count,       \
			CUstream hStream)                                      \
	{                                                                      \
		struct memory_state *s;                                        \
		CUresult r;                                                    \
                                                                               \
		if (MISSING(symbol))                                           \
			return CUDA_ERROR_NO_DEVICE;                           \
		s = lock_physical();                                           \
		r = REAL(symbol)(mapInfoList, count, hStream);                 \
		if (s && !r)                                                   \
			keep_all(s, mapInfoList, count);                       \
		unlock_physical(s);                                            \
		return r;                                                      \
	}

MAP_ARRAY(cuMemMapArrayAsync)
MAP_ARRAY(cuMemMapArrayAsync_ptsz)

#define BIND(symbol, params, values)                                           \
	CUresult symbol params                                                 \
	{                                                                      \
		struct memory_state *s;                                        \
		CUresult r;                                                    \
                                                                               \
		if (MISSING(symbol))                                           \
			return CUDA_ERROR_NO_DEVICE;                           \
		s = lock_physical();                                           \
		r = REAL(symbol) values;                                       \
		if (s && !r)                                                   \
			keep(s, memHandle);                                    \
		unlock_physical(s);                                            \
		return r;                                                      \
	}

BIND(cuMulticastBindMem,
     (CUmemGenericAllocationHandle mcHandle, size_t mcOffset,
      CUmemGenericAllocationHandle memHandle, size_t memOffset, size_t size,
      unsigned long long flags),
     (mcHandle, mcOffset, memHandle, memOffset, size, flags))
BIND(cuMulticastBindMem_v2,
     (CUmemGenericAllocationHandle mcHandle, CUdevice dev, size_t mcOffset,
      CUmemGenericAllocationHandle memHandle, size_t memOffset, size_t size,
      unsigned long long flags),
     (mcHandle, dev, mcOffset, memHandle, memOffset, size, flags))

CUresult cuMemMap(CUdeviceptr ptr, size_t size, size_t offset,
		  CUmemGenericAllocationHandle handle, unsigned long long flags)
{
	struct table_row known, row = {.key = ptr, .bytes = size};
	struct memory_state *s;
	CUresult r;

	if (MISSING(cuMemMap))
		return CUDA_ERROR_NO_DEVICE;
	s = lock_physical();
	r = REAL(cuMemMap)(ptr, size, offset, handle, flags);
	if (s && !r && table_find(&s->handles, handle, &known)) {
		row.owner = handle;
		if (table_put(&s->mappings, &row))
			change_use(s, handle, MAPPING, 0);
	}
	unlock_physical(s);
	return r;
}

/* Mappings are found by where they begin, one after the other. */
static void unmap_all(struct memory_state *s, uint64_t at, uint64_t end)
{
	struct table_row row;

	while (at < end) {
		if (table_take(&s->mappings, at, &row)) {
			change_use(s, row.owner, 0, MAPPING);
			at += row.bytes;
		} else {
			at += BLOCK_BYTES;
		}
	}
}

CUresult cuMemUnmap(CUdeviceptr ptr, size_t size)
{
	struct memory_state *s;
	CUresult r;

	if (MISSING(cuMemUnmap))
		return CUDA_ERROR_NO_DEVICE;
	s = lock_physical();
	r = REAL(cuMemUnmap)(ptr, size);
	if (s && !r)
		unmap_all(s, ptr, ptr + size);
	unlock_physical(s);
	return r;
}
