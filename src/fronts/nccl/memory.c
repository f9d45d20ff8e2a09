/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory.c - allocates and registers buffers. Registering has no effect, as
 * unregistered buffers can be accessed just as well.
 */
#include "base/assert.h"
#include "fronts/nccl/front.h"

#include <stdlib.h>

FRONT(ncclMemAlloc, (void **ptr, size_t size))
{
	const struct native_driver *d = native_driver();
	CUdeviceptr at;
	CUresult r = native_context();

	if (!ptr || !size)
		return error_set(ncclInvalidArgument,
				 "cannot allocate %zu bytes", size);
	if (!r)
		r = d->cuMemAlloc_v2(&at, size);
	if (!r)
		*ptr = (void *)(uintptr_t)at;
	return error_of_cuda(r, "memory for buffers");
}

FRONT(ncclMemFree, (void *ptr))
{
	CUresult r = native_context();

	if (!ptr)
		return ncclSuccess;
	if (!r)
		r = native_driver()->cuMemFree_v2((CUdeviceptr)(uintptr_t)ptr);
	return error_of_cuda(r, "freeing memory for buffers");
}

/* A registered buffer. Windows and registration handles are pointers to it. */
struct ncclWindow {
	struct ncclComm *c;
	void *buffer;
	size_t size;
};

static ncclResult_t new_registration(ncclComm_t comm, void *buff, size_t size,
				     struct ncclWindow **ret)
{
	struct ncclComm *c = comm_use(comm);
	struct ncclWindow *w;

	if (!c || !buff || !size || !ret) {
		if (c)
			comm_leave(c);
		return error_set(ncclInvalidArgument,
				 "cannot register a buffer of %zu bytes at %p",
				 size, buff);
	}
	comm_leave(c);
	w = malloc(sizeof *w);
	if (!w)
		return error_set(ncclSystemError, "out of memory");
	*w = (struct ncclWindow){c, buff, size};
	*ret = w;
	return ncclSuccess;
}

FRONT(ncclCommRegister,
      (const ncclComm_t comm, void *buff, size_t size, void **handle))
{
	struct ncclWindow *w = NULL;
	ncclResult_t r = new_registration(comm, buff, size, handle ? &w : NULL);

	GK_ASSERT(r || handle);
	if (!r)
		*handle = w;
	return r;
}

FRONT(ncclCommDeregister, (const ncclComm_t comm, void *handle))
{
	(void)comm;
	free(handle);
	return ncclSuccess;
}

FRONT(ncclCommWindowRegister, (ncclComm_t comm, void *buff, size_t size,
			       ncclWindow_t *win, int winFlags))
{
	if (winFlags & ~NCCL_WIN_COLL_SYMMETRIC)
		return group_note(error_set(ncclInvalidArgument,
					    "invalid window flags %#x",
					    (unsigned)winFlags));
	return group_note(new_registration(comm, buff, size, win));
}

FRONT(ncclCommWindowDeregister, (ncclComm_t comm, ncclWindow_t win))
{
	(void)comm;
	free(win);
	return ncclSuccess;
}
