/* SPDX-License-Identifier: Apache-2.0 */
/* state.c - turns a generator's numbers into those of a distribution. */
#include "fronts/curand/state.h"

#include "abi/libraries/curand_abi.h"

#include <stdlib.h>
#include <string.h>

/* Numbers generated between calls of stopped(). */
#define PATIENCE 65536

static const struct ring_type *const pseudo[] = {
    &ring_xorwow,
    &ring_mrg32k3a,
    &ring_philox,
    &ring_mt19937,
};

const struct ring_type *state_pseudo(int type)
{
	for (size_t i = 0; i < sizeof pseudo / sizeof *pseudo; i++)
		if (pseudo[i]->type == type)
			return pseudo[i];
	return NULL;
}

unsigned state_quasi_bits(int type)
{
	switch (type) {
	case CURAND_RNG_QUASI_SOBOL32:
	case CURAND_RNG_QUASI_SCRAMBLED_SOBOL32:
		return 32;
	case CURAND_RNG_QUASI_SOBOL64:
	case CURAND_RNG_QUASI_SCRAMBLED_SOBOL64:
		return 64;
	default:
		return 0;
	}
}

size_t state_size(enum kind kind)
{
	return kind == BITS_64 || kind == UNIFORM_2 || kind == NORMAL_2 ||
		       kind == LOG_NORMAL_2
		   ? 8
		   : 4;
}

static bool is_scrambled(int type)
{
	return type == CURAND_RNG_QUASI_SCRAMBLED_SOBOL32 ||
	       type == CURAND_RNG_QUASI_SCRAMBLED_SOBOL64;
}

static bool open_state(struct state *s, const struct settings *set)
{
	s->pseudo = state_pseudo(set->type);
	if (s->pseudo)
		return ring_open(&s->ring, s->pseudo, set->seed, set->offset,
				 set->ordering);
	return quasi_open(&s->quasi, state_quasi_bits(set->type),
			  is_scrambled(set->type), (unsigned)set->dimensions,
			  set->offset);
}

struct state *state_new(const struct settings *set)
{
	struct state *s = calloc(1, sizeof *s);

	if (s && open_state(s, set))
		return s;
	free(s);
	return NULL;
}

void state_free(struct state *s)
{
	if (!s)
		return;
	ring_close(&s->ring);
	quasi_close(&s->quasi);
	poisson_close(&s->poisson);
	free(s);
}

/* The draw() that a pseudorandom generator needs for each enum kind. */
static const enum draw draws[] = {
    [BITS] = DRAW_BITS,
    [UNIFORM] = DRAW_UNIFORM,
    [UNIFORM_2] = DRAW_UNIFORM_2,
    [NORMAL] = DRAW_NORMAL,
    [NORMAL_2] = DRAW_NORMAL_2,
    [LOG_NORMAL] = DRAW_NORMAL,
    [LOG_NORMAL_2] = DRAW_NORMAL_2,
    [POISSON] = DRAW_UNIFORM_2,
};

union number {
	uint32_t bits;
	uint64_t bits_64;
	float f;
	double d;
};

static float scale_float(const struct call *c, float x)
{
	return (float)c->mean + (float)c->deviation * x;
}

static double scale_double(const struct call *c, double x)
{
	return c->mean + c->deviation * x;
}

/* Returns number i of a turn in the distribution of the call. */
static union number finish_number(const struct state *s, const struct call *c,
				  const union turn *t, unsigned i)
{
	switch (c->kind) {
	case NORMAL:
		return (union number){.f = scale_float(c, t->f[i])};
	case LOG_NORMAL:
		return (union number){.f = exp_float(scale_float(c, t->f[i]))};
	case UNIFORM_2:
		return (union number){.d = t->d[i]};
	case NORMAL_2:
		return (union number){.d = scale_double(c, t->d[i])};
	case LOG_NORMAL_2:
		return (union number){.d =
					  exp_double(scale_double(c, t->d[i]))};
	case POISSON:
		return (union number){
		    .bits = poisson_quantile(&s->poisson, t->d[i])};
	default: /* BITS or UNIFORM: the 32 bits that were drawn */
		return (union number){.bits = t->bits[i]};
	}
}

static void generate_pseudo(struct state *s, const struct call *c, char *to,
			    bool (*stopped)(void))
{
	size_t size = state_size((enum kind)c->kind);
	uint64_t done = 0, asked = 0;

	while (done < c->count) {
		union turn t;
		unsigned from, take, width;

		width = ring_draw(&s->ring, draws[c->kind], &t, &from);
		take = width - from;
		if (take > c->count - done)
			take = (unsigned)(c->count - done);
		for (unsigned i = 0; i < take; i++) {
			union number x = finish_number(s, c, &t, from + i);

			memcpy(to + (done + i) * size, &x, size);
		}
		ring_take(&s->ring, draws[c->kind], width, take);
		done += take;
		if (done - asked >= PATIENCE && stopped && stopped())
			return;
		if (done - asked >= PATIENCE)
			asked = done;
	}
}

/*
 * Turns a quasirandom number into a normal one by the quantile function. Starts
 * from the nearer end of the distribution, where p is more precise.
 */
static double quasi_normal(const struct quasi *q, uint64_t x, bool is_double)
{
	bool upper = x >> (q->bits - 1) & 1;
	double p;

	if (upper)
		x = ~x;
	if (q->bits == 32)
		x <<= 32; /* drops the upper 32 bits, which ~ has set */
	if (!is_double)
		p = (double)uniform_float((uint32_t)(x >> 32));
	else if (q->bits == 32)
		p = (double)(x >> 32) * 0x1p-32 + 0x1p-33;
	else
		p = (double)(x >> 11) * 0x1p-53 + 0x1p-54;
	return upper ? -normal_quantile(p) : normal_quantile(p);
}

static double quasi_uniform(const struct quasi *q, uint64_t x)
{
	return q->bits == 32 ? (double)x * 0x1p-32 + 0x1p-32
			     : (double)(x >> 11) * 0x1p-53 + 0x1p-54;
}

static union number quasi_number(const struct state *s, const struct call *c,
				 uint64_t x)
{
	const struct quasi *q = &s->quasi;
	uint32_t high = (uint32_t)(x >> (q->bits - 32));
	union turn t;

	switch (c->kind) {
	case BITS_64:
		return (union number){.bits_64 = x};
	case BITS:
		return (union number){.bits = high};
	case UNIFORM:
		return (union number){.f = uniform_float(high)};
	case NORMAL:
	case LOG_NORMAL:
		t.f[0] = (float)quasi_normal(q, x, false);
		break;
	case NORMAL_2:
	case LOG_NORMAL_2:
		t.d[0] = quasi_normal(q, x, true);
		break;
	default:
		t.d[0] = quasi_uniform(q, x);
	}
	return finish_number(s, c, &t, 0);
}

/*
 * Writes all numbers of the first dimension, then those of the second, and so
 * on.
 */
static void generate_quasi(struct state *s, const struct call *c, char *to,
			   bool (*stopped)(void))
{
	size_t size = state_size((enum kind)c->kind);
	struct quasi *q = &s->quasi;
	uint64_t points = c->count / q->dimensions;

	for (unsigned d = 0; d < q->dimensions; d++) {
		uint64_t x = quasi_at(q, d, q->next);

		for (uint64_t i = 0; i < points; i++, to += size) {
			union number n = quasi_number(s, c, x);

			memcpy(to, &n, size);
			x = quasi_step(q, d, x, q->next + i);
			if (i % PATIENCE == 0 && stopped && stopped())
				return;
		}
	}
	q->next += points;
}

static bool open_poisson(struct state *s, double lambda)
{
	if (s->poisson.cdf && s->poisson.lambda == lambda)
		return true;
	poisson_close(&s->poisson);
	return poisson_open(&s->poisson, lambda);
}

bool state_generate(struct state *s, const struct call *c, void *to,
		    bool (*stopped)(void))
{
	if (c->kind == POISSON && !open_poisson(s, c->mean))
		return false;
	if (s->pseudo)
		generate_pseudo(s, c, to, stopped);
	else
		generate_quasi(s, c, to, stopped);
	return true;
}
