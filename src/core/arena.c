/* SPDX-License-Identifier: Apache-2.0 */
/* arena.c - allocates from chained blocks that are freed together. */
#include "core/arena.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_SIZE 16384

struct gk_arena_block {
	struct gk_arena_block *before;
	size_t used, size;
	alignas(max_align_t) char bytes[];
};

static struct gk_arena_block *grow_arena(struct gk_arena *arena, size_t size)
{
	struct gk_arena_block *block;

	if (size < BLOCK_SIZE)
		size = BLOCK_SIZE;
	block = malloc(sizeof *block + size);
	if (!block)
		return NULL;
	block->before = arena->last;
	block->used = 0;
	block->size = size;
	arena->last = block;
	return block;
}

void *gk_arena_room(struct gk_arena *arena, size_t size)
{
	struct gk_arena_block *block = arena->last;
	size_t aligned =
	    (size + alignof(max_align_t) - 1) & ~(alignof(max_align_t) - 1);

	if (!block || block->size - block->used < aligned)
		block = grow_arena(arena, aligned);
	if (!block)
		return NULL;
	block->used += aligned;
	return block->bytes + block->used - aligned;
}

char *gk_arena_copy(struct gk_arena *arena, const void *bytes, size_t len)
{
	char *copy = gk_arena_room(arena, len + 1);

	if (!copy)
		return NULL;
	if (len)
		memcpy(copy, bytes, len);
	copy[len] = '\0';
	return copy;
}

void gk_arena_free(struct gk_arena *arena)
{
	while (arena->last) {
		struct gk_arena_block *block = arena->last;

		arena->last = block->before;
		free(block);
	}
}
