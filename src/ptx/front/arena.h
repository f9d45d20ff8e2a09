/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arena.h - an allocator whose memory is freed all at once.
 *
 * Used by one thread at a time. Memory is zeroed and aligned to 16 bytes. An
 * arena stays usable after an allocation failed.
 */
#ifndef GKF_PTX_ARENA_H
#define GKF_PTX_ARENA_H

#include <stddef.h>
#include <stdint.h>

struct gkf_arena_chunk;

/* An arena of zeros is empty. */
struct gkf_arena {
	struct gkf_arena_chunk *chunk;
	size_t total; /* bytes allocated from the system */
};

/*
 * Returns NULL when out of memory or when the arena would exceed GKF_ARENA_MAX.
 */
#define GKF_ARENA_MAX ((size_t)2 << 30)
void *gkf_arena_get(struct gkf_arena *a, size_t size);

/*
 * Returns the array itself if it has capacity for one more than `count`
 * elements, otherwise a copy with twice the capacity. The caller keeps
 * *capacity, which starts at 0. Returns NULL when out of memory.
 */
void *gkf_arena_grow(struct gkf_arena *a, const void *array, size_t count,
		     size_t *capacity, size_t element);

/* Frees all memory of the arena, which is empty afterwards. */
void gkf_arena_free(struct gkf_arena *a);

#endif
