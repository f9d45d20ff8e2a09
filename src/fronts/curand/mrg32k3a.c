/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mrg32k3a.c - MRG32k3a: P. L'Ecuyer, "Good parameters and implementations for
 * combined multiple recursive random number generators" (1999). Engines are
 * 2^76 steps apart, which is the length of L'Ecuyer's substreams.
 */
#include "fronts/curand/ring.h"

#include "abi/libraries/curand_abi.h"
#include "fronts/curand/functions.h"

#include <string.h>

#define LEGACY_ENGINES 4096
#define ENGINES        81920
#define DISTANCE       76

#define M1 4294967087U
#define M2 4294944443U

/* 1 / M1, and the factor that scales a number from 1 to M1 to 32 bits. */
#define TO_UNIFORM 2.3283065498378288e-10
#define TO_BITS    1.000000048662

struct engine {
	uint32_t s[2][3];
};

struct matrix {
	uint32_t of[3][3];
};

static const uint32_t modulus[2] = {M1, M2};

static const struct matrix one_step[2] = {
    {{{0, 1, 0}, {0, 0, 1}, {M1 - 810728, 1403580, 0}}},
    {{{0, 1, 0}, {0, 0, 1}, {M2 - 1370589, 0, 527612}}},
};

static void apply_mrg_matrix(const struct matrix *a, uint32_t s[3], uint32_t m)
{
	uint32_t out[3];

	for (int i = 0; i < 3; i++) {
		uint64_t sum = 0;

		for (int j = 0; j < 3; j++)
			sum += (uint64_t)a->of[i][j] * s[j] % m;
		out[i] = (uint32_t)(sum % m);
	}
	memcpy(s, out, sizeof out);
}

static struct matrix multiply_mrg_matrices(const struct matrix *a,
					   const struct matrix *b, uint32_t m)
{
	struct matrix out = {0};

	for (int i = 0; i < 3; i++)
		for (int j = 0; j < 3; j++) {
			uint64_t sum = 0;

			for (int k = 0; k < 3; k++)
				sum += (uint64_t)a->of[i][k] * b->of[k][j] % m;
			out.of[i][j] = (uint32_t)(sum % m);
		}
	return out;
}

static struct matrix power_of_two(int exponent, int half)
{
	struct matrix a = one_step[half];

	for (int i = 0; i < exponent; i++)
		a = multiply_mrg_matrices(&a, &a, modulus[half]);
	return a;
}

/* Advances all engines by a number of steps. */
static void skip_mrg_steps(struct engine *e, unsigned count, uint64_t steps,
			   int half)
{
	struct matrix power = one_step[half];

	for (; steps; steps >>= 1) {
		for (unsigned i = 0; steps & 1 && i < count; i++)
			apply_mrg_matrix(&power, e[i].s[half], modulus[half]);
		power = multiply_mrg_matrices(&power, &power, modulus[half]);
	}
}

/*
 * Returns the next number, from 1 to M1. The step is a multiplication by
 * one_step, written out.
 */
static uint32_t next_number(struct engine *e)
{
	uint32_t *s = e->s[0], *t = e->s[1];
	uint64_t a = 1403580ULL * s[1] + 810728ULL * (M1 - s[0]);
	uint64_t b = 527612ULL * t[2] + 1370589ULL * (M2 - t[0]);

	s[0] = s[1], s[1] = s[2], s[2] = (uint32_t)(a % M1);
	t[0] = t[1], t[1] = t[2], t[2] = (uint32_t)(b % M2);
	return s[2] > t[2] ? s[2] - t[2] : s[2] + (M1 - t[2]);
}

/* Returns L'Ecuyer's initial state for seed 0, and cuRAND's for other seeds. */
static struct engine seeded_mrg_engine(uint64_t seed)
{
	uint64_t a = (uint32_t)seed ^ 0x55555555U;
	uint64_t b = (uint32_t)(seed >> 32) ^ 0xAAAAAAAAU;
	struct engine e;

	if (!seed)
		a = b = 1;
	for (int i = 0; i < 3; i++) {
		e.s[0][i] = (uint32_t)(12345 * (i == 1 ? b : a) % M1);
		e.s[1][i] = (uint32_t)(12345 * (i == 1 ? a : b) % M2);
	}
	return e;
}

static unsigned count_engines(int ordering)
{
	return ordering == CURAND_ORDERING_PSEUDO_LEGACY ? LEGACY_ENGINES
							 : ENGINES;
}

static void start_mrg32k3a(struct ring *r, uint64_t seed, uint64_t offset,
			   int ordering)
{
	struct engine *e = (struct engine *)(void *)r->engines;

	(void)ordering;
	e[0] = seeded_mrg_engine(seed);
	for (int half = 0; half < 2; half++) {
		struct matrix far = power_of_two(DISTANCE, half);

		for (unsigned i = 1; i < r->count; i++) {
			memcpy(e[i].s[half], e[i - 1].s[half],
			       sizeof e[i].s[half]);
			apply_mrg_matrix(&far, e[i].s[half], modulus[half]);
		}
		skip_mrg_steps(e, r->count, offset / r->count, half);
	}
	r->next = (unsigned)(offset % r->count);
	for (unsigned i = 0; i < r->next; i++)
		next_number(&e[i]);
}

static unsigned draw_mrg32k3a(struct ring *r, enum draw what, union turn *out)
{
	struct engine *e = (struct engine *)(void *)r->engines + r->next;
	uint32_t x = next_number(e), y;

	if (what == DRAW_BITS)
		out->bits[0] = (uint32_t)(x * TO_BITS);
	else if (what == DRAW_UNIFORM)
		out->f[0] = (float)(x * TO_UNIFORM);
	else if (what == DRAW_UNIFORM_2)
		out->d[0] = x * TO_UNIFORM;
	else {
		y = next_number(e);
		if (what == DRAW_NORMAL)
			box_muller_float((float)(x * TO_UNIFORM),
					 (float)(y * TO_UNIFORM), out->f);
		else
			box_muller_double(x * TO_UNIFORM, y * TO_UNIFORM,
					  out->d);
		return 2;
	}
	return 1;
}

const struct ring_type ring_mrg32k3a = {
    CURAND_RNG_PSEUDO_MRG32K3A,
    sizeof(struct engine),
    count_engines,
    start_mrg32k3a,
    draw_mrg32k3a,
    NULL,
};
