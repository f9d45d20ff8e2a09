/* SPDX-License-Identifier: Apache-2.0 */
/* ring.c - draws numbers from engines in turn. */
#include "fronts/curand/ring.h"

#include "base/assert.h"
#include "fronts/curand/functions.h"

#include <stdlib.h>

bool ring_open(struct ring *r, const struct ring_type *type, uint64_t seed,
	       uint64_t offset, int ordering)
{
	unsigned count = type->count(ordering);

	*r = (struct ring){.type = type, .count = count};
	r->engines = calloc(count, type->size);
	if (!r->engines)
		return false;
	type->start(r, seed, offset, ordering);
	return true;
}

void ring_close(struct ring *r)
{
	free(r->engines);
	r->engines = NULL;
}

unsigned ring_draw(struct ring *r, enum draw what, union turn *out,
		   unsigned *ret_from)
{
	*ret_from = r->used;
	return r->type->draw(r, what, out);
}

void ring_take(struct ring *r, enum draw what, unsigned width, unsigned count)
{
	GK_ASSERT(count <= width - r->used);
	r->used += count;
	/*
	 * If there is no finish(), draw() has already advanced the engine, and
	 * the unused numbers of the turn are lost.
	 */
	if (r->used < width && r->type->finish)
		return;
	if (r->type->finish)
		r->type->finish(r, what);
	r->used = 0;
	r->next = (r->next + 1) % r->count;
}

unsigned ring_draw_words(uint32_t (*word)(void *engine), void *engine,
			 enum draw what, union turn *out)
{
	uint32_t x = word(engine), y, z;

	if (what == DRAW_BITS) {
		out->bits[0] = x;
		return 1;
	}
	if (what == DRAW_UNIFORM) {
		out->f[0] = uniform_float(x);
		return 1;
	}
	y = word(engine);
	if (what == DRAW_NORMAL) {
		box_muller_bits(x, y, out->f);
		return 2;
	}
	if (what == DRAW_UNIFORM_2) {
		out->d[0] = uniform_double(x, y);
		return 1;
	}
	z = word(engine);
	box_muller_double(uniform_double(x, y), uniform_double(z, word(engine)),
			  out->d);
	return 2;
}
