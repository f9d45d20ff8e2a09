/* SPDX-License-Identifier: Apache-2.0 */
/* arena.c - allocates memory in chunks that are freed together. */
#include "ptx/front/arena.h"
#include "base/assert.h"

#include <stdlib.h>
#include <string.h>

#define CHUNK_MIN ((size_t)64 << 10)

struct gkf_arena_chunk {
	struct gkf_arena_chunk *next;
	size_t used, size;
	_Alignas(16) unsigned char bytes[];
};

static struct gkf_arena_chunk *add_arena_chunk(struct gkf_arena *a, size_t size)
{
	size_t room = size > CHUNK_MIN ? size : CHUNK_MIN;
	struct gkf_arena_chunk *c;

	if (a->total > GKF_ARENA_MAX || room > GKF_ARENA_MAX - a->total)
		return NULL;
	c = calloc(1, sizeof *c + room);
	if (!c)
		return NULL;
	c->next = a->chunk;
	c->size = room;
	a->chunk = c;
	a->total += room;
	return c;
}

void *gkf_arena_get(struct gkf_arena *a, size_t size)
{
	struct gkf_arena_chunk *c = a->chunk;
	void *got;

	if (size > GKF_ARENA_MAX)
		return NULL;
	size = (size + 15) & ~(size_t)15;
	if (!c || c->size - c->used < size)
		c = add_arena_chunk(a, size);
	if (!c)
		return NULL;
	got = c->bytes + c->used;
	c->used += size;
	return got;
}

void *gkf_arena_grow(struct gkf_arena *a, const void *array, size_t count,
		     size_t *capacity, size_t element)
{
	size_t wanted = *capacity ? *capacity * 2 : 16;
	void *grown;

	GK_ASSERT(count <= *capacity);
	if (count < *capacity)
		return (void *)(uintptr_t)array;
	grown = gkf_arena_get(a, wanted * element);
	if (!grown)
		return NULL;
	if (count)
		memcpy(grown, array, count * element);
	*capacity = wanted;
	return grown;
}

void gkf_arena_free(struct gkf_arena *a)
{
	while (a->chunk) {
		struct gkf_arena_chunk *next = a->chunk->next;

		free(a->chunk);
		a->chunk = next;
	}
	a->total = 0;
}
