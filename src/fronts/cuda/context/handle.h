/* SPDX-License-Identifier: Apache-2.0 */
/*
 * handle.h - the objects to which programs get pointers: contexts, streams,
 * events and others. An invalid pointer, a pointer to an object of another kind
 * and a pointer to a freed object are all recognised without dereferencing
 * them. The memory of handles is never unmapped.
 */
#ifndef GKF_CUDA_HANDLE_H
#define GKF_CUDA_HANDLE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
	HANDLE_LINK,
	HANDLE_PHYSICAL,
	HANDLE_GREEN,
	HANDLE_NOTICE,
	HANDLE_LOGS,
	HANDLE_RESOURCE_DESC,
	HANDLE_GRAPH,
	HANDLE_NODE,
	HANDLE_EXEC,
	HANDLE_CONDITION,
	HANDLE_OBJECT,
	HANDLE_KINDS,
};

/*
 * handle_new() returns a zeroed object of `size` bytes; all objects of a kind
 * have the same size. NULL: out of memory. handle_free() frees an object. Its
 * memory is reused only for its kind, and only after many others were freed.
 */
void *handle_new(enum handle_kind kind, size_t size);
void handle_free(void *handle);

/*
 * The two halves of handle_free(): handle_end() makes the handle invalid, but
 * the object stays readable until handle_recycle().
 */
void handle_end(void *handle);
void handle_recycle(void *handle);

/*
 * Whether a value is a live handle of this kind. O(1), lock-free, safe for any
 * value.
 */
bool handle_is(const void *handle, enum handle_kind kind);

/* The header that precedes every object. */
struct handle_head {
	/* incremented on creation and on free; odd while the object is alive */
	_Atomic uint64_t life;
	/*
	 * next: index + 1 of the next slot in the queue of freed slots; 0: none
	 */
	uint32_t kind, next;
};

/*
 * Returns a number that identifies this use of the object's memory: it never
 * recurs after the object is freed. Only for pointers that are or were handles.
 */
static inline uint64_t handle_life(const void *handle)
{
	const struct handle_head *head = handle;

	return atomic_load_explicit(&head[-1].life, memory_order_acquire);
}

#endif
