/* SPDX-License-Identifier: Apache-2.0 */
/*
 * philox.c - Philox 4x32-10: J. K. Salmon and others, "Parallel random numbers:
 * as easy as 1, 2, 3" (2011). There are 65536 engines, which give four numbers
 * per turn; an engine's state is the number of blocks that it has used.
 */
#include "fronts/curand/ring.h"

#include "abi/libraries/curand_abi.h"
#include "fronts/curand/functions.h"

#define ENGINES 65536
#define WIDTH   4

void philox_block(const uint32_t counter[4], const uint32_t key[2],
		  uint32_t out[4])
{
	uint32_t c[4] = {counter[0], counter[1], counter[2], counter[3]};
	uint32_t k[2] = {key[0], key[1]};

	for (int round = 0; round < 10; round++) {
		uint64_t a = (uint64_t)0xD2511F53 * c[0];
		uint64_t b = (uint64_t)0xCD9E8D57 * c[2];

		c[0] = (uint32_t)(b >> 32) ^ c[1] ^ k[0];
		c[1] = (uint32_t)b;
		c[2] = (uint32_t)(a >> 32) ^ c[3] ^ k[1];
		c[3] = (uint32_t)a;
		k[0] += 0x9E3779B9;
		k[1] += 0xBB67AE85;
	}
	for (int i = 0; i < 4; i++)
		out[i] = c[i];
}

static unsigned count_engines(int ordering)
{
	(void)ordering;
	return ENGINES;
}

static uint64_t *blocks_of(struct ring *r, unsigned engine)
{
	return (uint64_t *)(void *)r->engines + engine;
}

static void start_philox(struct ring *r, uint64_t seed, uint64_t offset,
			 int ordering)
{
	uint64_t turns = offset / WIDTH;

	(void)ordering;
	r->key[0] = (uint32_t)seed;
	r->key[1] = (uint32_t)(seed >> 32);
	r->next = (unsigned)(turns % ENGINES);
	r->used = (unsigned)(offset % WIDTH);
	for (unsigned i = 0; i < ENGINES; i++)
		*blocks_of(r, i) = turns / ENGINES + (i < r->next);
}

static void next_block(struct ring *r, unsigned further, uint32_t out[4])
{
	uint64_t block = *blocks_of(r, r->next) + further;
	uint32_t counter[4] = {(uint32_t)block, (uint32_t)(block >> 32),
			       r->next, 0};

	philox_block(counter, r->key, out);
}

static unsigned draw_philox(struct ring *r, enum draw what, union turn *out)
{
	uint32_t x[8];

	next_block(r, 0, x);
	if (what == DRAW_UNIFORM_2 || what == DRAW_NORMAL_2)
		next_block(r, 1, x + 4);
	for (int i = 0; i < WIDTH; i++)
		if (what == DRAW_BITS)
			out->bits[i] = x[i];
		else if (what == DRAW_UNIFORM)
			out->f[i] = uniform_float(x[i]);
		else if (what == DRAW_UNIFORM_2)
			out->d[i] = uniform_double(x[2 * i], x[2 * i + 1]);
	for (int i = 0; i < WIDTH; i += 2)
		if (what == DRAW_NORMAL)
			box_muller_bits(x[i], x[i + 1], out->f + i);
		else if (what == DRAW_NORMAL_2)
			box_muller_double(
			    uniform_double(x[2 * i], x[2 * i + 1]),
			    uniform_double(x[2 * i + 2], x[2 * i + 3]),
			    out->d + i);
	return WIDTH;
}

static void finish_philox(struct ring *r, enum draw what)
{
	*blocks_of(r, r->next) +=
	    what == DRAW_UNIFORM_2 || what == DRAW_NORMAL_2 ? 2 : 1;
}

const struct ring_type ring_philox = {
    CURAND_RNG_PSEUDO_PHILOX4_32_10,
    sizeof(uint64_t),
    count_engines,
    start_philox,
    draw_philox,
    finish_philox,
};
