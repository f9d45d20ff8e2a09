/*
 * xorwow.c - XORWOW: G. Marsaglia, "Xorshift RNGs" (2003). Its 160 bits change
 * linearly, so that a matrix of bits leads any number of steps ahead; engines
 * stand 2^67 steps apart.
 */
#include "fronts/curand/ring.h"

#include "abi/curand_abi.h"

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

/* Where each bit leads to. */
struct matrix {
	uint32_t of[BITS][WORDS];
};

static struct matrix far; /* 2^DISTANCE steps */

static void step(uint32_t v[WORDS])
{
	uint32_t t = v[0] ^ v[0] >> 2;

	memmove(v, v + 1, (WORDS - 1) * sizeof *v);
	v[4] = (v[3] ^ v[3] << 4) ^ (t ^ t << 1);
}

static void apply(const struct matrix *m, uint32_t v[WORDS])
{
	uint32_t sum[WORDS] = {0};

	for (int bit = 0; bit < BITS; bit++) {
		uint32_t mask = -(v[bit / 32] >> bit % 32 & 1);

		for (int i = 0; i < WORDS; i++)
			sum[i] ^= m->of[bit][i] & mask;
	}
	memcpy(v, sum, sizeof sum);
}

/* *a = what *b does after *a. */
static void multiply(struct matrix *a, const struct matrix *b)
{
	for (int bit = 0; bit < BITS; bit++)
		apply(b, a->of[bit]);
}

static void square(struct matrix *m)
{
	struct matrix same = *m;

	multiply(m, &same);
}

static void set_one_step(struct matrix *m)
{
	memset(m, 0, sizeof *m);
	for (int bit = 0; bit < BITS; bit++) {
		m->of[bit][bit / 32] = 1U << bit % 32;
		step(m->of[bit]);
	}
}

static void set_far(void)
{
	set_one_step(&far);
	for (int i = 0; i < DISTANCE; i++)
		square(&far);
}

/* Takes all engines that many steps further. */
static void skip(struct engine *e, uint64_t steps)
{
	struct matrix power, all;
	bool any = false;

	set_one_step(&power);
	for (uint64_t left = steps; left; left >>= 1) {
		if (left & 1 && any)
			multiply(&all, &power);
		else if (left & 1)
			all = power;
		any |= left & 1;
		square(&power);
	}
	for (unsigned i = 0; any && i < ENGINES; i++) {
		apply(&all, e[i].v);
		e[i].d += (uint32_t)steps * WEYL;
	}
}

static uint32_t word(void *engine)
{
	struct engine *e = engine;

	step(e->v);
	e->d += WEYL;
	return e->v[4] + e->d;
}

/* cuRAND's state of a seed: Marsaglia's, with the seed mixed in. */
static struct engine seeded(uint64_t seed)
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

static void start(struct ring *r, uint64_t seed, uint64_t offset, int ordering)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct engine *e = (struct engine *)(void *)r->engines;

	pthread_once(&once, set_far);
	e[0] = seeded(seed);
	for (unsigned i = 1; i < ENGINES; i++)
		if (ordering == CURAND_ORDERING_PSEUDO_SEEDED) {
			e[i] = seeded(seed ^ i * 0x9E3779B97F4A7C15);
		} else {
			e[i] = e[i - 1];
			apply(&far, e[i].v);
		}
	skip(e, offset / ENGINES);
	r->next = (unsigned)(offset % ENGINES);
	for (unsigned i = 0; i < r->next; i++)
		word(&e[i]);
}

static unsigned draw(struct ring *r, enum draw what, union turn *out)
{
	return ring_draw_words(
	    word, (struct engine *)(void *)r->engines + r->next, what, out);
}

const struct ring_type ring_xorwow = {
    CURAND_RNG_PSEUDO_XORWOW,
    sizeof(struct engine),
    count_engines,
    start,
    draw,
    NULL,
};
