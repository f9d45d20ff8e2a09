/*
 * arena.h - memory that is given back all at once.
 *
 * One thread at a time. After an allocation that failed the arena stays
 * usable; what it gave is zeroed and aligned to 16 bytes.
 */
#ifndef GKF_PTX_ARENA_H
#define GKF_PTX_ARENA_H

#include <stddef.h>
#include <stdint.h>

struct gkf_arena_chunk;

/* An arena of zeros is empty. */
struct gkf_arena {
	struct gkf_arena_chunk *chunk;
	size_t total; /* bytes asked of the system */
};

/* NULL when there is no memory, or the arena would pass GKF_ARENA_MAX. */
#define GKF_ARENA_MAX ((size_t)2 << 30)
void *gkf_arena_get(struct gkf_arena *a, size_t size);

/*
 * An array with room for one more than count: itself, or a copy of twice the
 * size. *capacity is kept by the caller, 0 at first. NULL without memory.
 */
void *gkf_arena_grow(struct gkf_arena *a, const void *array, size_t count,
		     size_t *capacity, size_t element);

/* Gives back all that the arena gave; it is empty then. */
void gkf_arena_free(struct gkf_arena *a);

#endif
