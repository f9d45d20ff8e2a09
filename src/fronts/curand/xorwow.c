/* SPDX-License-Identifier: Apache-2.0 */
/*
 * xorwow.c - XORWOW: G. Marsaglia, "Xorshift RNGs" (2003). A step is linear in
 * the 160 bits of state, so any number of steps is a multiplication by a bit
 * matrix. Engines are 2^67 steps apart.
 */
#include "fronts/curand/ring.h"

#include "abi/libraries/curand_abi.h"

#include <pthread.h>
#include <string.h>

#define ENGINES  4096
#define WORDS    5
#define BITS     (32 * WORDS)
#define DISTANCE 67
#define WEYL     362437

struct engine {
	uint32_t v[WORDS], d;
};

/*
 * For each bit: the state that results from a state in which only that bit is
 * set.
 */
struct matrix {
	uint32_t of[BITS][WORDS];
};

static struct matrix far; /* 2^DISTANCE steps */

static void step_state(uint32_t v[WORDS])
{
	uint32_t t = v[0] ^ v[0] >> 2;

	memmove(v, v + 1, (WORDS - 1) * sizeof *v);
	v[4] = (v[3] ^ v[3] << 4) ^ (t ^ t << 1);
}

static void apply_xorwow_matrix(const struct matrix *m, uint32_t v[WORDS])
{
	uint32_t sum[WORDS] = {0};

	for (int bit = 0; bit < BITS; bit++) {
		uint32_t mask = -(v[bit / 32] >> bit % 32 & 1);

		for (int i = 0; i < WORDS; i++)
			sum[i] ^= m->of[bit][i] & mask;
	}
	memcpy(v, sum, sizeof sum);
}

/* Makes *a the matrix that applies first *a, then *b. */
static void multiply_xorwow_matrices(struct matrix *a, const struct matrix *b)
{
	for (int bit = 0; bit < BITS; bit++)
		apply_xorwow_matrix(b, a->of[bit]);
}

static void square_matrix(struct matrix *m)
{
	struct matrix same = *m;

	multiply_xorwow_matrices(m, &same);
}

static void set_one_step(struct matrix *m)
{
	memset(m, 0, sizeof *m);
	for (int bit = 0; bit < BITS; bit++) {
		m->of[bit][bit / 32] = 1U << bit % 32;
		step_state(m->of[bit]);
	}
}

static void set_far(void)
{
	set_one_step(&far);
	for (int i = 0; i < DISTANCE; i++)
		square_matrix(&far);
}

/* Advances all engines by a number of steps. */
static void skip_xorwow_steps(struct engine *e, uint64_t steps)
{
	struct matrix power, all;
	bool any = false;

	set_one_step(&power);
	for (uint64_t left = steps; left; left >>= 1) {
		if (left & 1 && any)
			multiply_xorwow_matrices(&all, &power);
		else if (left & 1)
			all = power;
		any |= left & 1;
		square_matrix(&power);
	}
	for (unsigned i = 0; any && i < ENGINES; i++) {
		apply_xorwow_matrix(&all, e[i].v);
		e[i].d += (uint32_t)steps * WEYL;
	}
}

static uint32_t next_xorwow_word(void *engine)
{
	struct engine *e = engine;

	step_state(e->v);
	e->d += WEYL;
	return e->v[4] + e->d;
}

/* cuRAND's initial state, which mixes the seed into Marsaglia's. */
static struct engine seeded_xorwow_engine(uint64_t seed)
{
	uint32_t a = 1099087573 * ((uint32_t)seed ^ 0xaad26b49);
	uint32_t b = 2591861531 * ((uint32_t)(seed >> 32) ^ 0xf7dcefdd);

	return (struct engine){.v = {123456789 + a, 362436069 ^ a,
				     521288629 + b, 88675123 ^ b, 5783321 + a},
			       .d = 6615241 + a + b};
}

static unsigned count_engines(int ordering)
{
	(void)ordering;
	return ENGINES;
}

static void start_xorwow(struct ring *r, uint64_t seed, uint64_t offset,
			 int ordering)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct engine *e = (struct engine *)(void *)r->engines;

	pthread_once(&once, set_far);
	e[0] = seeded_xorwow_engine(seed);
	for (unsigned i = 1; i < ENGINES; i++)
		if (ordering == CURAND_ORDERING_PSEUDO_SEEDED) {
			e[i] =
			    seeded_xorwow_engine(seed ^ i * 0x9E3779B97F4A7C15);
		} else {
			e[i] = e[i - 1];
			apply_xorwow_matrix(&far, e[i].v);
		}
	skip_xorwow_steps(e, offset / ENGINES);
	r->next = (unsigned)(offset % ENGINES);
	for (unsigned i = 0; i < r->next; i++)
		next_xorwow_word(&e[i]);
}

static unsigned draw_xorwow(struct ring *r, enum draw what, union turn *out)
{
	return ring_draw_words(next_xorwow_word,
			       (struct engine *)(void *)r->engines + r->next,
			       what, out);
}

const struct ring_type ring_xorwow = {
    CURAND_RNG_PSEUDO_XORWOW,
    sizeof(struct engine),
    count_engines,
    start_xorwow,
    draw_xorwow,
    NULL,
};
