/*
 * arena.h - memory that is freed all at once: the strings of a snapshot.
 */
#ifndef GK_CORE_ARENA_H
#define GK_CORE_ARENA_H

#include <stddef.h>

struct gk_arena_block;

/* Zero it to start. */
struct gk_arena {
	struct gk_arena_block *last;
};

/* A copy of len bytes with a NUL behind; NULL when memory runs out. */
char *gk_arena_copy(struct gk_arena *arena, const void *bytes, size_t len);

/* Room for size bytes, not zeroed; NULL when memory runs out. */
void *gk_arena_room(struct gk_arena *arena, size_t size);

void gk_arena_free(struct gk_arena *arena);

#endif
