/*
 * handle.h - what CUDA hands out pointers to: contexts, streams, events...
 * A handle that is none, is of another kind or is gone is told from one that
 * lives without reading through it. The memory of handles is never unmapped.
 */
#ifndef GKF_CUDA_HANDLE_H
#define GKF_CUDA_HANDLE_H

#include <stdbool.h>
#include <stddef.h>

enum handle_kind {
	HANDLE_CONTEXT = 1,
	HANDLE_STREAM,
	HANDLE_EVENT,
	HANDLE_MODULE,
	HANDLE_FUNCTION,
	HANDLE_LIBRARY,
	HANDLE_KERNEL,
	HANDLE_ARRAY,
	HANDLE_MIPMAP,
	HANDLE_POOL,
	HANDLE_KINDS,
};

/*
 * A new object of `size` bytes, zeroed, the same size for all of a kind; NULL
 * when there is no memory. handle_free() makes it dead; its memory may become
 * a new object of its kind later.
 */
void *handle_new(enum handle_kind kind, size_t size);
void handle_free(void *handle);

/* O(1), lock-free, for any value at all. */
bool handle_is(const void *handle, enum handle_kind kind);

/* Was it one of the kind that is gone now? As far as that is still known. */
bool handle_was(const void *handle, enum handle_kind kind);

#endif
