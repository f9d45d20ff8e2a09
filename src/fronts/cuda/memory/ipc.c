/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ipc.c - shares memory allocated by cuMemAlloc() with other processes: makes
 * handles for it, and owns the list of handles that this process has opened.
 */
#include "fronts/cuda/memory/ipc.h"
#include "base/assert.h"
#include "base/err.h"

#include <stdlib.h>
#include <unistd.h>

/*
 * The flag of memory that was opened by cuIpcOpenMemHandle(): the program may
 * neither free the memory nor share it again.
 */
#define OPENED MEMORY_FIXED

struct opened {
	struct opened *next;
	uint64_t id; /* identifies the handle */
	CUcontext ctx;
	uint64_t address;
	unsigned opens;
};

/* The lock is held while a handle is opened, so that it is opened only once. */
static struct {
	pthread_mutex_t lock;
	struct opened *first;
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};

bool ipc_is_capable(const struct gkf_extent *e)
{
	return e->kind == GKF_MEMORY_DEVICE && !e->pool &&
	       !(e->flags & MEMORY_FIXED);
}

struct cuda_device *ipc_device(unsigned index)
{
	for (unsigned i = 0; i < cuda.device_count; i++)
		if (cuda.device[i].index == index)
			return &cuda.device[i];
	return NULL;
}

CUresult ipc_check_type(enum cuda_row row, CUmemAllocationHandleType type,
			unsigned long long flags)
{
	if (flags)
		return CUDA_ERROR_INVALID_VALUE;
	switch (type) {
	case CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR:
		return CUDA_SUCCESS;
	case CU_MEM_HANDLE_TYPE_WIN32:
	case CU_MEM_HANDLE_TYPE_WIN32_KMT:
	case CU_MEM_HANDLE_TYPE_FABRIC:
		return memory_counted(row, CUDA_ERROR_NOT_SUPPORTED);
	case CU_MEM_HANDLE_TYPE_NONE:
	case CU_MEM_HANDLE_TYPE_MAX:
	default:
		return CUDA_ERROR_INVALID_VALUE;
	}
}

CUresult ipc_error(enum cuda_row row, int error)
{
	switch (error) {
	case GK_ERR_CORRUPT:
	case GK_ERR_NOT_FOUND:
		return CUDA_ERROR_INVALID_HANDLE;
	case GK_ERR_IN_USE: /* the memory is this process's own */
		return CUDA_ERROR_INVALID_CONTEXT;
	case GK_ERR_NOT_SUPPORTED:
		return memory_counted(row, CUDA_ERROR_NOT_SUPPORTED);
	case GK_ERR_TOO_MANY:
		return CUDA_ERROR_OUT_OF_MEMORY;
	default:
		return front_error(error);
	}
}

CUresult cuIpcGetMemHandle(CUipcMemHandle *pHandle, CUdeviceptr dptr)
{
	struct gkf_extent e;
	uint32_t row;
	int error;

	ENTER_CONTEXT(cuIpcGetMemHandle, ctx);
	if (!pHandle || !gkf_space_find(dptr, &e) || !ipc_is_capable(&e) ||
	    tag_is_leaving(&e))
		return CUDA_ERROR_INVALID_VALUE;
	error =
	    gkf_share_piece(e.device, GKF_SHARE_MEMORY, e.base, e.size, &row);
	if (error)
		return ipc_error(ROW_cuIpcGetMemHandle, error);
	gkf_share_handle(e.device, row, (struct gkf_shared *)pHandle);
	return CUDA_SUCCESS;
}

/* ---- opening ---- */

/*
 * Opens a handle that is open already. Only one context of each device may have
 * it open. The caller holds all.lock.
 */
static CUresult open_again(struct opened *o, CUcontext ctx, bool counts,
			   CUdeviceptr *ret_address)
{
	GK_ASSERT(gk_lock_held(&all.lock));
	if (o->ctx != ctx)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (!counts)
		return CUDA_ERROR_ALREADY_MAPPED;
	o->opens++;
	*ret_address = o->address;
	return CUDA_SUCCESS;
}

static struct opened *find_opened(uint64_t id, const struct cuda_device *device)
{
	struct opened *o = all.first;

	while (o && (o->id != id || o->ctx->device != device))
		o = o->next;
	return o;
}

/* Whether the context's device can access memory of the device `home`. */
static CUresult check_home(CUcontext ctx, unsigned home, unsigned flags)
{
	const struct cuda_device *d = ipc_device(home);

	if (!d)
		return CUDA_ERROR_INVALID_VALUE;
	if (home == ctx->device->index)
		return CUDA_SUCCESS;
	if (!(flags & CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS))
		return CUDA_ERROR_INVALID_VALUE;
	return device_can_access(ctx->device, d)
		   ? CUDA_SUCCESS
		   : CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
}

static CUresult open_new(struct opened *o, const struct gkf_shared *handle,
			 unsigned flags)
{
	struct gkf_memory_ask ask = {.owner = o->ctx, .flags = OPENED};
	struct gkf_share_about about;
	int fd, error;
	CUresult r;

	error =
	    gkf_share_open(cuda.machine, handle, GKF_SHARE_MEMORY, &fd, &about);
	if (error)
		return ipc_error(ROW_cuIpcOpenMemHandle, error);
	r = about.size ? check_home(o->ctx, about.device, flags)
		       : CUDA_ERROR_INVALID_HANDLE;
	if (!r && gkf_share_map(fd, NULL, &about, &ask, &o->address))
		r = CUDA_ERROR_MAP_FAILED;
	close(fd);
	return r;
}

/* The caller holds all.lock. */
static CUresult open_handle(CUcontext ctx, const struct gkf_shared *handle,
			    unsigned flags, bool counts,
			    CUdeviceptr *ret_address)
{
	uint64_t id = gkf_share_id(handle);
	struct opened *o = find_opened(id, ctx->device);
	CUresult r;

	GK_ASSERT(gk_lock_held(&all.lock));
	if (o)
		return open_again(o, ctx, counts, ret_address);
	o = calloc(1, sizeof(*o));
	if (!o)
		return CUDA_ERROR_OUT_OF_MEMORY;
	o->id = id;
	o->ctx = ctx;
	o->opens = 1;
	r = open_new(o, handle, flags);
	if (r) {
		free(o);
		return r;
	}
	o->next = all.first;
	all.first = o;
	*ret_address = o->address;
	return CUDA_SUCCESS;
}

static CUresult enter_open(enum cuda_row row, CUdeviceptr *pdptr,
			   const CUipcMemHandle *handle, unsigned flags,
			   bool counts)
{
	CUcontext ctx;
	CUresult r = front_enter_context(row, &ctx);

	if (r)
		return r;
	if (!pdptr || flags & ~(unsigned)CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&all.lock);
	r = open_handle(ctx, (const struct gkf_shared *)handle, flags, counts,
			pdptr);
	pthread_mutex_unlock(&all.lock);
	return r;
}

CUresult cuIpcOpenMemHandle(CUdeviceptr *pdptr, CUipcMemHandle handle,
			    unsigned int Flags)
{
	return enter_open(ROW_cuIpcOpenMemHandle, pdptr, &handle, Flags, false);
}

CUresult cuIpcOpenMemHandle_v2(CUdeviceptr *pdptr, CUipcMemHandle handle,
			       unsigned int Flags)
{
	return enter_open(ROW_cuIpcOpenMemHandle_v2, pdptr, &handle, Flags,
			  true);
}

/* ---- closing ---- */

/*
 * Undoes one opening; removes the entry from the list if it was the last. The
 * caller holds all.lock.
 */
static CUresult take_opened(CUcontext ctx, CUdeviceptr address,
			    struct opened **ret_last)
{
	struct opened **at = &all.first, *o;

	GK_ASSERT(gk_lock_held(&all.lock));
	while (*at && ((*at)->address != address || (*at)->ctx != ctx))
		at = &(*at)->next;
	o = *at;
	if (!o)
		return CUDA_ERROR_INVALID_VALUE;
	if (!--o->opens) {
		*at = o->next;
		*ret_last = o;
	}
	return CUDA_SUCCESS;
}

/* Waits for work that may use the memory, as cuMemFree() does. */
CUresult cuIpcCloseMemHandle(CUdeviceptr dptr)
{
	struct opened *last = NULL;
	struct gkf_extent e;
	CUresult r;

	ENTER_CONTEXT(cuIpcCloseMemHandle, ctx);
	pthread_mutex_lock(&all.lock);
	r = take_opened(ctx, dptr, &last);
	pthread_mutex_unlock(&all.lock);
	if (!last)
		return r;
	if (gkf_space_find(dptr, &e)) {
		r = memory_quiet(ctx, &e);
		tag_drop(&e);
	}
	gkf_share_unmap(dptr);
	free(last);
	return r;
}

void ipc_close(CUcontext ctx)
{
	struct opened **at = &all.first, *o;

	pthread_mutex_lock(&all.lock);
	while (*at) {
		o = *at;
		if (o->ctx != ctx) {
			at = &o->next;
			continue;
		}
		*at = o->next;
		gkf_share_unmap(o->address);
		free(o);
	}
	pthread_mutex_unlock(&all.lock);
}
