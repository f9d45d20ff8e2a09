/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hook_share.c - hooks of plain memory and pools that processes share. Opening
 * shared memory is not charged to the opener: its maker is charged, dead or
 * alive.
 */
#include "limit/ledger_export.h"
#include "limit/preload/memory/hook.h"
#include "limit/preload/memory/sharing.h"
#include "base/log.h"

/* ---- plain memory, by handles ---- */

/* The piece that contains an address, if it is this process's. */
static bool find_piece(CUdeviceptr at, struct table_row *ret_row)
{
	CUdeviceptr base = at;
	size_t size;

	if (!limited() || !memory_state())
		return false;
	if (REAL(cuMemGetAddressRange_v2) &&
	    REAL(cuMemGetAddressRange_v2)(&base, &size, at))
		return false;
	return table_find(&memory_state()->pieces, base, ret_row);
}

static void mark_exported(struct table_row *row)
{
	row->word |= PIECE_EXPORTED;
	table_put(&memory_state()->pieces, row);
}

CUresult cuIpcGetMemHandle(CUipcMemHandle *pHandle, CUdeviceptr dptr)
{
	struct table_row row;
	uint64_t number;
	CUresult r;

	if (MISSING(cuIpcGetMemHandle))
		return CUDA_ERROR_NO_DEVICE;
	r = REAL(cuIpcGetMemHandle)(pHandle, dptr);
	if (r || !find_piece(dptr, &row))
		return r;
	mark_exported(&row);
	number = gkl_export_number_of(pHandle, sizeof *pHandle);
	return export_note(EXPORT_PIECE, row.key, row.device, number,
			   export_bytes(row.key, row.bytes))
		   ? CUDA_SUCCESS
		   : CUDA_ERROR_OUT_OF_MEMORY;
}

/*
 * Marks the import as held before opening it, because its maker may end in
 * between.
 */
#define OPEN(symbol)                                                           \
	CUresult symbol(CUdeviceptr *pdptr, CUipcMemHandle handle,             \
			unsigned int Flags)                                    \
	{                                                                      \
		struct import import;                                          \
		CUresult r;                                                    \
                                                                               \
		if (MISSING(symbol))                                           \
			return CUDA_ERROR_NO_DEVICE;                           \
		if (!import_begin(&import, gkl_export_number_of(               \
					       &handle, sizeof handle)))       \
			return CUDA_ERROR_OUT_OF_MEMORY;                       \
		r = REAL(symbol)(pdptr, handle, Flags);                        \
		import_end(&import, !r, EXPORT_PIECE, r ? 0 : *pdptr);         \
		return r;                                                      \
	}

OPEN(cuIpcOpenMemHandle)
OPEN(cuIpcOpenMemHandle_v2)

CUresult cuIpcCloseMemHandle(CUdeviceptr dptr)
{
	CUresult r;

	if (MISSING(cuIpcCloseMemHandle))
		return CUDA_ERROR_NO_DEVICE;
	r = REAL(cuIpcCloseMemHandle)(dptr);
	if (!r)
		import_gone(EXPORT_PIECE, dptr);
	return r;
}

/* ---- pools, by descriptors, and their pieces ---- */

CUresult cuMemPoolExportToShareableHandle(void *handle_out, CUmemoryPool pool,
					  CUmemAllocationHandleType handleType,
					  unsigned long long flags)
{
	struct table_row row;
	uint64_t number = 0;
	CUresult r;

	if (MISSING(cuMemPoolExportToShareableHandle))
		return CUDA_ERROR_NO_DEVICE;
	if (limited() && memory_state() &&
	    table_find(&memory_state()->pool_of, (uintptr_t)pool, &row) &&
	    memory_state()->pool[row.word].device >= 0) {
		number =
		    export_note(EXPORT_POOL, (uintptr_t)pool,
				memory_state()->pool[row.word].device, 0, 0);
		if (!number)
			return CUDA_ERROR_OUT_OF_MEMORY;
	}
	r = REAL(cuMemPoolExportToShareableHandle)(handle_out, pool, handleType,
						   flags);
	if (!r && number)
		export_descriptor(handle_out, handleType, number);
	return r;
}

CUresult
cuMemPoolImportFromShareableHandle(CUmemoryPool *pool_out, void *handle,
				   CUmemAllocationHandleType handleType,
				   unsigned long long flags)
{
	struct import import;
	CUresult r;

	if (MISSING(cuMemPoolImportFromShareableHandle))
		return CUDA_ERROR_NO_DEVICE;
	if (!import_begin(&import, descriptor_number(handle, handleType)))
		return CUDA_ERROR_OUT_OF_MEMORY;
	r = REAL(cuMemPoolImportFromShareableHandle)(pool_out, handle,
						     handleType, flags);
	import_end(&import, !r, EXPORT_POOL, r ? 0 : (uintptr_t)*pool_out);
	return r;
}

CUresult cuMemPoolExportPointer(CUmemPoolPtrExportData *shareData_out,
				CUdeviceptr ptr)
{
	struct table_row row;
	CUresult r;

	if (MISSING(cuMemPoolExportPointer))
		return CUDA_ERROR_NO_DEVICE;
	r = REAL(cuMemPoolExportPointer)(shareData_out, ptr);
	if (r || !find_piece(ptr, &row) || row.kind != GKL_POOL ||
	    row.word & PIECE_EXPORTED)
		return r;
	if (!export_note(EXPORT_POOL, row.owner, row.device, 0, 0))
		return CUDA_ERROR_OUT_OF_MEMORY;
	mark_exported(&row);
	export_change(EXPORT_POOL, row.owner,
		      (int64_t)export_bytes(row.key, row.bytes));
	return CUDA_SUCCESS;
}

CUresult cuMemPoolImportPointer(CUdeviceptr *ptr_out, CUmemoryPool pool,
				CUmemPoolPtrExportData *shareData)
{
	struct import import;
	CUresult r;

	if (MISSING(cuMemPoolImportPointer))
		return CUDA_ERROR_NO_DEVICE;
	if (!import_begin(&import, import_number(EXPORT_POOL, (uintptr_t)pool)))
		return CUDA_ERROR_OUT_OF_MEMORY;
	r = REAL(cuMemPoolImportPointer)(ptr_out, pool, shareData);
	import_end(&import, !r, EXPORT_POINTER, r ? 0 : *ptr_out);
	return r;
}

/* ---- descriptors ---- */

void export_descriptor(const void *handle, CUmemAllocationHandleType type,
		       uint64_t number)
{
	if (type == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR &&
	    !gkl_export_mark(*(const int *)handle, number))
		gk_log(GK_LOG_WARN,
		       "the kernel cannot lock the driver's descriptor: the "
		       "memory counts until this process ends");
}

uint64_t descriptor_number(const void *handle, CUmemAllocationHandleType type)
{
	if (type == CU_MEM_HANDLE_TYPE_FABRIC && handle)
		return gkl_export_number_of(handle, FABRIC_BYTES);
	return type == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR && limited()
		   ? gkl_export_read((int)(intptr_t)handle)
		   : 0;
}

void piece_unexport(const struct table_row *row)
{
	if (!(row->word & PIECE_EXPORTED))
		return;
	if (row->kind == GKL_POOL)
		export_change(EXPORT_POOL, row->owner,
			      -(int64_t)export_bytes(row->key, row->bytes));
	else
		export_end(EXPORT_PIECE, row->key, false);
}
