/*
 * handle.h - what CUDA hands out pointers to: contexts, streams, events...
 * A handle that is none, is of another kind or is gone is told from one that
 * lives without reading through it. The memory of handles is never unmapped.
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
 * A new object of `size` bytes, zeroed, the same size for all of a kind; NULL
 * when there is no memory. handle_free() makes it dead; its memory may become
 * a new object of its kind later, when many others have died after it.
 */
void *handle_new(enum handle_kind kind, size_t size);
void handle_free(void *handle);

/*
 * The two halves of handle_free(): it is dead, but what it says may still be
 * read; and later, nobody reads it any more.
 */
void handle_end(void *handle);
void handle_recycle(void *handle);

/* O(1), lock-free, for any value at all. */
bool handle_is(const void *handle, enum handle_kind kind);

/* The header that stands before every object. */
struct handle_head {
	_Atomic uint64_t life; /* odd: it lives; grows at birth and death */
	uint32_t kind, next;   /* the next free place + 1 */
};

/*
 * Whose life is it? Another number once the object is dead, for ever. Only of
 * what was an object once.
 */
static inline uint64_t handle_life(const void *handle)
{
	const struct handle_head *head = handle;

	return atomic_load_explicit(&head[-1].life, memory_order_acquire);
}

#endif
