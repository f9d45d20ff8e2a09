/* SPDX-License-Identifier: Apache-2.0 */
/* functions.c - computes distributions: normal, log-normal, Poisson. */
#include "fronts/curand/functions.h"
#include "base/assert.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define TWO_PI    6.283185307179586476925
#define ROOT_2    1.414213562373095048802
#define ROOT_2_PI 2.506628274631000502416

static struct {
	float (*logf)(float);
	float (*sqrtf)(float);
	float (*expf)(float);
	void (*sincosf)(float, float *, float *);
	double (*log)(double);
	double (*sqrt)(double);
	double (*exp)(double);
	void (*sincos)(double, double *, double *);
	double (*erfc)(double);
	double (*lgamma)(double);
} m;

static const struct {
	const char *name;
	void *at;
} functions[] = {
#define FUNCTION(name)                                                         \
	{                                                                      \
#name, &m.name                                                 \
	}
    FUNCTION(logf), FUNCTION(sqrtf),  FUNCTION(expf), FUNCTION(sincosf),
    FUNCTION(log),  FUNCTION(sqrt),   FUNCTION(exp),  FUNCTION(sincos),
    FUNCTION(erfc), FUNCTION(lgamma),
#undef FUNCTION
};

static bool works;

static void open_libm(void)
{
	void *libm = dlopen("libm.so.6", RTLD_NOW | RTLD_LOCAL);

	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
		void *found = libm ? dlsym(libm, functions[i].name) : NULL;

		if (!found)
			return;
		memcpy(functions[i].at, &found, sizeof found);
	}
	works = true;
}

bool functions_ready(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, open_libm);
	return works;
}

static void turn_float(float u, float angle, float out[2])
{
	float radius = m.sqrtf(-2 * m.logf(u)), sine, cosine;

	m.sincosf(angle, &sine, &cosine);
	out[0] = radius * sine;
	out[1] = radius * cosine;
}

void box_muller_bits(uint32_t x, uint32_t y, float out[2])
{
	turn_float(uniform_float(x),
		   (float)y * (float)(0x1p-32 * TWO_PI) +
		       (float)(0x1p-33 * TWO_PI),
		   out);
}

void box_muller_float(float u, float v, float out[2])
{
	turn_float(u, v * (float)TWO_PI, out);
}

void box_muller_double(double u, double v, double out[2])
{
	double radius = m.sqrt(-2 * m.log(u)), sine, cosine;

	m.sincos(v * TWO_PI, &sine, &cosine);
	out[0] = radius * sine;
	out[1] = radius * cosine;
}

/*
 * Returns an estimate of the quantile, within 0.0005; Abramowitz and Stegun
 * 26.2.23.
 */
static double guess_quantile(double p)
{
	double t = m.sqrt(-2 * m.log(p));

	return (2.515517 + t * (0.802853 + t * 0.010328)) /
		   (1 + t * (1.432788 + t * (0.189269 + t * 0.001308))) -
	       t;
}

/*
 * Uses Halley's method, in which each step triples the number of correct
 * digits.
 */
double normal_quantile(double p)
{
	double x;

	GK_ASSERT(works && p > 0 && p <= 0.5);
	if (p >= 0.5)
		return 0;
	x = guess_quantile(p);
	for (int i = 0; i < 2; i++) {
		double off = 0.5 * m.erfc(-x / ROOT_2) - p;
		double step = off * ROOT_2_PI * m.exp(0.5 * x * x);

		x -= step / (1 + 0.5 * x * step);
	}
	return x;
}

float exp_float(float x)
{
	return m.expf(x);
}

double exp_double(double x)
{
	return m.exp(x);
}

/*
 * The table spans at least twelve standard deviations on each side, and more
 * for small lambdas. The probability beyond that is too small to matter in a
 * double.
 */
bool poisson_open(struct poisson *p, double lambda)
{
	double reach, sum = 0;
	uint32_t mode = (uint32_t)lambda, last, at;

	GK_ASSERT(works && lambda > 0);
	reach = 12 * m.sqrt(lambda) + 40;
	last = mode + (uint32_t)reach;
	p->lambda = lambda;
	p->first = mode > reach ? mode - (uint32_t)reach : 0;
	p->count = last - p->first + 1;
	p->cdf = calloc(p->count, sizeof *p->cdf);
	if (!p->cdf)
		return false;
	at = mode - p->first;
	p->cdf[at] =
	    m.exp(mode * m.log(lambda) - lambda - m.lgamma(mode + 1.0));
	for (uint32_t i = at; i > 0; i--)
		p->cdf[i - 1] = p->cdf[i] * (p->first + i) / lambda;
	for (uint32_t i = at + 1; i < p->count; i++)
		p->cdf[i] = p->cdf[i - 1] * lambda / (p->first + i);
	for (uint32_t i = 0; i < p->count; i++)
		p->cdf[i] = sum += p->cdf[i];
	for (uint32_t i = 0; i < p->count; i++)
		p->cdf[i] /= sum;
	return true;
}

void poisson_close(struct poisson *p)
{
	free(p->cdf);
	p->cdf = NULL;
}

/* Returns the smallest k with P(X <= k) >= u. */
uint32_t poisson_quantile(const struct poisson *p, double u)
{
	uint32_t low = 0, high = p->count - 1;

	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (p->cdf[middle] < u)
			low = middle + 1;
		else
			high = middle;
	}
	return p->first + low;
}
