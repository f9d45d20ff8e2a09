/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hook_virtual.c - hooks of memory created without addresses (cuMemCreate). The
 * memory is charged to its device until its last handle is released and its
 * last mapping is removed. Imported memory is charged to its maker.
 */
#include "base/assert.h"
#include "limit/preload/memory/hook.h"
#include "limit/preload/memory/sharing.h"

/*
 * `word` of a handle's row counts the uses of the memory: each handle and each
 * mapping adds 1.
 */
enum { HANDLE = 1, MAPPING = 1 };
#define KEPT 1u /* stored in `owner`: others may hold the memory */

/* Stored in `kind`: whether this or another process made the memory. */
enum { OWN, IMPORTED };

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
 * Changes the number of uses of a handle's memory. When the last use has ended,
 * an importer, an array or a multicast object may still hold the memory. It
 * then counts as this process's until they release it. The caller holds
 * s->physical.
 */
static void change_use(struct memory_state *s, uint64_t handle, uint32_t more,
		       uint32_t less)
{
	struct table_row row;

	GK_ASSERT(gk_lock_held(&s->physical));
	if (!table_take(&s->handles, handle, &row))
		return;
	row.word += more - less;
	if (row.word) {
		table_put(&s->handles, &row);
		return;
	}
	if (row.kind == IMPORTED) {
		import_gone(EXPORT_VIRTUAL, handle);
		return;
	}
	export_end(EXPORT_VIRTUAL, handle, true);
	if (row.owner == KEPT)
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

/*
 * Counts one more handle of memory that is already recorded. For such memory,
 * drivers return the same handle again.
 */
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

/*
 * Records imported memory, whether another process or this one made it. The
 * caller holds s->physical.
 */
static void note_imported(struct memory_state *s, struct import *import,
			  uint64_t handle)
{
	struct table_row row = {.key = handle,
				.word = HANDLE,
				.kind = IMPORTED},
			 known;
	bool again = table_find(&s->handles, handle, &known);

	GK_ASSERT(gk_lock_held(&s->physical));
	if (again)
		change_use(s, handle, HANDLE, 0);
	import_end(import,
		   !again && import->hold && table_put(&s->handles, &row),
		   EXPORT_VIRTUAL, handle);
}

CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *handle,
					void *osHandle,
					CUmemAllocationHandleType shHandleType)
{
	struct import import;
	struct memory_state *s;
	CUresult r;

	if (MISSING(cuMemImportFromShareableHandle))
		return CUDA_ERROR_NO_DEVICE;
	if (!import_begin(&import, descriptor_number(osHandle, shHandleType)))
		return CUDA_ERROR_OUT_OF_MEMORY;
	s = lock_physical();
	r = REAL(cuMemImportFromShareableHandle)(handle, osHandle,
						 shHandleType);
	if (s && !r)
		note_imported(s, &import, *handle);
	else
		import_end(&import, false, EXPORT_VIRTUAL, 0);
	unlock_physical(s);
	return r;
}

/* The caller holds s->physical. */
static void keep_handle(struct memory_state *s, uint64_t handle)
{
	struct table_row row;

	GK_ASSERT(gk_lock_held(&s->physical));
	if (!table_find(&s->handles, handle, &row) || row.kind == IMPORTED)
		return;
	row.owner = KEPT;
	table_put(&s->handles, &row);
}

/* The caller holds s->physical. Memory exported again keeps its number. */
static CUresult begin_export(struct memory_state *s, uint64_t handle,
			     uint64_t number, uint64_t *ret_number)
{
	struct table_row row;

	GK_ASSERT(gk_lock_held(&s->physical));
	if (!table_find(&s->handles, handle, &row))
		return CUDA_SUCCESS;
	*ret_number = row.kind == IMPORTED
			  ? import_number(EXPORT_VIRTUAL, handle)
			  : export_note(EXPORT_VIRTUAL, handle, row.device,
					number, row.bytes);
	return *ret_number ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuMemExportToShareableHandle(void *shareableHandle,
				      CUmemGenericAllocationHandle handle,
				      CUmemAllocationHandleType handleType,
				      unsigned long long flags)
{
	struct memory_state *s;
	uint64_t number = 0;
	CUresult r = CUDA_SUCCESS;

	if (MISSING(cuMemExportToShareableHandle))
		return CUDA_ERROR_NO_DEVICE;
	s = lock_physical();
	if (s && handleType == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
		r = begin_export(s, handle, 0, &number);
	if (!r)
		r = REAL(cuMemExportToShareableHandle)(shareableHandle, handle,
						       handleType, flags);
	if (s && !r && handleType == CU_MEM_HANDLE_TYPE_FABRIC)
		r = begin_export(s, handle,
				 descriptor_number(shareableHandle, handleType),
				 &number);
	if (s && !r) {
		keep_handle(s, handle);
		if (number)
			export_descriptor(shareableHandle, handleType, number);
	}
	unlock_physical(s);
	return r;
}

static void keep_handles(struct memory_state *s, const CUarrayMapInfo *list,
			 unsigned int count)
{
	for (unsigned int i = 0; i < count; i++)
		if (list[i].memOperationType == CU_MEM_OPERATION_TYPE_MAP)
			keep_handle(s, list[i].memHandle.memHandle);
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
			keep_handles(s, mapInfoList, count);                   \
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
			keep_handle(s, memHandle);                             \
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

/*
 * Ends all mappings in a range. They are found one after another, each by its
 * first address.
 */
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
