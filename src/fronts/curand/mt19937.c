/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mt19937.c - the Mersenne Twister: M. Matsumoto and T. Nishimura (1998), with
 * the initialisation of 2002. There is one engine, so its numbers come in the
 * algorithm's order, which is not cuRAND's.
 */
#include "fronts/curand/ring.h"

#include "abi/libraries/curand_abi.h"

#define N 624
#define M 397

struct engine {
	uint32_t s[N], at;
};

static void seed_by_word(struct engine *e, uint32_t seed)
{
	e->s[0] = seed;
	for (uint32_t i = 1; i < N; i++)
		e->s[i] = 1812433253 * (e->s[i - 1] ^ e->s[i - 1] >> 30) + i;
	e->at = N;
}

/* The algorithm's init_by_array(), with the two words of the seed. */
static void seed_by_words(struct engine *e, const uint32_t key[2])
{
	unsigned i = 1, j = 0;

	seed_by_word(e, 19650218);
	for (int k = 0; k < N + N - 1; k++) {
		uint32_t last = e->s[i - 1] ^ e->s[i - 1] >> 30;

		if (k < N)
			e->s[i] = (e->s[i] ^ last * 1664525) + key[j] + j;
		else
			e->s[i] = (e->s[i] ^ last * 1566083941) - i;
		j = (j + 1) % 2;
		if (++i == N) {
			e->s[0] = e->s[N - 1];
			i = 1;
		}
	}
	e->s[0] = 0x80000000;
}

static void refill_state(struct engine *e)
{
	for (unsigned i = 0; i < N; i++) {
		uint32_t y =
		    (e->s[i] & 0x80000000) | (e->s[(i + 1) % N] & 0x7fffffff);

		e->s[i] = e->s[(i + M) % N] ^ y >> 1 ^ (y & 1 ? 0x9908b0df : 0);
	}
	e->at = 0;
}

static uint32_t next_mt_word(void *engine)
{
	struct engine *e = engine;
	uint32_t y;

	if (e->at == N)
		refill_state(e);
	y = e->s[e->at++];
	y ^= y >> 11;
	y ^= y << 7 & 0x9d2c5680;
	y ^= y << 15 & 0xefc60000;
	return y ^ y >> 18;
}

static unsigned count_engines(int ordering)
{
	(void)ordering;
	return 1;
}

/* Ignores the offset, which curandSetGeneratorOffset() refuses to set. */
static void start_mt19937(struct ring *r, uint64_t seed, uint64_t offset,
			  int ordering)
{
	const uint32_t key[] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
	struct engine *e = (struct engine *)(void *)r->engines;

	(void)offset, (void)ordering;
	if (key[1])
		seed_by_words(e, key);
	else
		seed_by_word(e, key[0]);
}

static unsigned draw_mt19937(struct ring *r, enum draw what, union turn *out)
{
	return ring_draw_words(next_mt_word, r->engines, what, out);
}

const struct ring_type ring_mt19937 = {
    CURAND_RNG_PSEUDO_MT19937,
    sizeof(struct engine),
    count_engines,
    start_mt19937,
    draw_mt19937,
    NULL,
};
