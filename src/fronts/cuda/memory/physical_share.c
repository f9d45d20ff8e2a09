/* SPDX-License-Identifier: Apache-2.0 */
/*
 * physical_share.c - shares memory created by cuMemCreate() with other
 * processes, through file descriptors that programs send each other.
 */
#include "base/assert.h"
#include "base/err.h"
#include "fronts/cuda/memory/ipc.h"
#include "fronts/cuda/memory/physical.h"

/* The caller holds physical_mutex. */
static CUresult export_physical(struct physical *p, int *ret_fd)
{
	unsigned device = p->device->index;
	int error = 0;

	GK_ASSERT(gk_lock_held(&physical_mutex));
	if (p->prop.requestedHandleTypes !=
	    CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
		return CUDA_ERROR_INVALID_VALUE;
	/* Only the process that created the memory can share it. */
	if (!p->address)
		error = GK_ERR_NOT_SUPPORTED;
	if (!error && !p->shared) {
		error = gkf_share_new(device, GKF_SHARE_PHYSICAL, p->address,
				      p->size, 0, &p->row);
		p->shared = !error;
	}
	if (!error)
		error = gkf_share_descriptor(device, p->row, ret_fd);
	return error ? ipc_error(ROW_cuMemExportToShareableHandle, error)
		     : CUDA_SUCCESS;
}

CUresult cuMemExportToShareableHandle(void *shareableHandle,
				      CUmemGenericAllocationHandle handle,
				      CUmemAllocationHandleType handleType,
				      unsigned long long flags)
{
	struct physical *p;
	CUresult r;

	ENTER(cuMemExportToShareableHandle);
	if (!shareableHandle)
		return CUDA_ERROR_INVALID_VALUE;
	r = ipc_check_type(ROW_cuMemExportToShareableHandle, handleType, flags);
	if (r)
		return r;
	physical_lock();
	p = physical_of(handle);
	r = p ? export_physical(p, shareableHandle) : CUDA_ERROR_INVALID_VALUE;
	physical_unlock();
	return r;
}

static CUresult import_physical(int fd, struct physical **ret_physical)
{
	CUmemAllocationProp prop = {
	    .type = CU_MEM_ALLOCATION_TYPE_PINNED,
	    .requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
	    .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
	struct gkf_share_about about;
	struct cuda_device *device;
	struct physical *p;

	if (gkf_share_received(cuda.machine, fd, GKF_SHARE_PHYSICAL, &about) ||
	    !about.size || about.size % PHYSICAL_STEP ||
	    about.offset % PHYSICAL_STEP)
		return CUDA_ERROR_INVALID_VALUE;
	device = ipc_device(about.device);
	if (!device)
		return CUDA_ERROR_INVALID_DEVICE;
	prop.location.id = front_number(device);
	p = physical_new(device, &prop, about.size);
	if (!p)
		return CUDA_ERROR_OUT_OF_MEMORY;
	p->about = about;
	p->source = gkf_share_source(fd, &about);
	if (!p->source) {
		handle_free(p);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	*ret_physical = p;
	return CUDA_SUCCESS;
}

/* The program keeps the descriptor and may close it afterwards. */
CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *handle,
					void *osHandle,
					CUmemAllocationHandleType shHandleType)
{
	struct physical *p;
	CUresult r;

	ENTER(cuMemImportFromShareableHandle);
	if (!handle)
		return CUDA_ERROR_INVALID_VALUE;
	r = ipc_check_type(ROW_cuMemImportFromShareableHandle, shHandleType, 0);
	if (!r)
		r = import_physical((int)(intptr_t)osHandle, &p);
	if (!r)
		*handle = (uintptr_t)p;
	return r;
}
