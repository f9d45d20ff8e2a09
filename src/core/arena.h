/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arena.h - memory that is freed all at once, for the strings of a snapshot.
 */
#ifndef GK_CORE_ARENA_H
#define GK_CORE_ARENA_H

#include <stddef.h>

struct gk_arena_block;

/* Initialise it to zeros. */
struct gk_arena {
	struct gk_arena_block *last;
};

/* Copies len bytes and appends a NUL; NULL when memory runs out. */
char *gk_arena_copy(struct gk_arena *arena, const void *bytes, size_t len);

/* Allocates size bytes, not zeroed; NULL when memory runs out. */
void *gk_arena_room(struct gk_arena *arena, size_t size);

void gk_arena_free(struct gk_arena *arena);

#endif
