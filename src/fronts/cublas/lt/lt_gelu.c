/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lt_gelu.c - computes GELU without libm, which we must not load into programs.
 * (1 + tanh(u)) / 2 is computed as 1 / (1 + exp(-2u)).
 */
#include "fronts/cublas/lt/lt_gelu.h"

#include <stdint.h>
#include <string.h>

#define LOG2_E 1.4426950408889634
/* the low bits are 0, so that n * LN2_HIGH is exact */
#define LN2_HIGH      6.93147180369123816490e-01
#define LN2_LOW       1.90821492927058770002e-10
#define SQRT_2_PI     0.7978845608028654
#define CUBIC         0.044715
#define LARGEST_INPUT 700.0
#define TERMS         13

/* Returns e^x in double precision; 0 or infinity if |x| > LARGEST_INPUT. */
static double exponential(double x)
{
	double r, sum = 1, power;
	int64_t n;
	uint64_t bits;

	if (!(x <= LARGEST_INPUT))
		return x > 0 ? __builtin_inf() : x;
	if (x < -LARGEST_INPUT)
		return 0;
	n = (int64_t)(x * LOG2_E + (x < 0 ? -0.5 : 0.5));
	r = x - (double)n * LN2_HIGH - (double)n * LN2_LOW;
	for (int i = TERMS; i > 0; i--)
		sum = 1 + sum * r / i;
	bits = (uint64_t)(n + 1023) << 52;
	memcpy(&power, &bits, sizeof power);
	return sum * power;
}

static double gate_of(double x)
{
	return 1 / (1 + exponential(-2 * SQRT_2_PI * (x + CUBIC * x * x * x)));
}

double lt_gelu(double x)
{
	return x * gate_of(x);
}

double lt_gelu_gradient(double x)
{
	double gate = gate_of(x);
	double slope = 2 * SQRT_2_PI * (1 + 3 * CUBIC * x * x);

	/* Avoids 0 * infinity, which is NaN. */
	if (gate == 0 || gate == 1)
		return gate;
	return gate + x * gate * (1 - gate) * slope;
}
