/*
 * ipc.c - memory of cuMemAlloc in other processes: handles of it, and what this
 * process has opened by handles of others.
 */
#include "fronts/cuda/ipc.h"
#include "base/err.h"

#include <stdlib.h>
#include <unistd.h>

/* The piece is not the program's to free or to share once more. */
#define OPENED MEMORY_FIXED

struct opened {
	struct opened *next;
	uint64_t id; /* of its handle */
	CUcontext ctx;
	uint64_t address;
	unsigned opens;
};

/* Held while a handle is opened, so that it is opened once. */
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
	case GK_ERR_IN_USE: /* this process's own */
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
	    note_is_leaving(&e))
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
 * The lock is held. What a process opens of a device of another one belongs to
 * one context of each device here.
 */
static CUresult open_again(struct opened *o, CUcontext ctx, bool counts,
			   CUdeviceptr *ret_address)
{
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

/* Does the context's device reach the memory of that one? */
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

/* The lock is held. */
static CUresult open_handle(CUcontext ctx, const struct gkf_shared *handle,
			    unsigned flags, bool counts,
			    CUdeviceptr *ret_address)
{
	uint64_t id = gkf_share_id(handle);
	struct opened *o = find_opened(id, ctx->device);
	CUresult r;

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

/* The lock is held. Takes it out when this was the last close. */
static CUresult take_opened(CUcontext ctx, CUdeviceptr address,
			    struct opened **ret_last)
{
	struct opened **at = &all.first, *o;

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

/* Work that may use it is waited for, as when memory is freed. */
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
