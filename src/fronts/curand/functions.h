/* SPDX-License-Identifier: Apache-2.0 */
/*
 * functions.h - the mathematics of distributions, based on libm. libm is opened
 * with dlopen() when needed, so that libcurand itself depends only on libc.
 */
#ifndef GKF_CURAND_FUNCTIONS_H
#define GKF_CURAND_FUNCTIONS_H

#include <stdbool.h>
#include <stdint.h>

/* Opens libm once. Returns false if it is missing or lacks a function. */
bool functions_ready(void);

/* Call the functions below only after functions_ready() has returned true. */

/* Compute two independent normal numbers from two uniform ones in (0, 1]. */
void box_muller_bits(uint32_t x, uint32_t y, float out[2]);
void box_muller_float(float u, float v, float out[2]);
void box_muller_double(double u, double v, double out[2]);

/* Returns the quantile of the normal distribution at p, for 0 < p <= 0.5. */
double normal_quantile(double p);

float exp_float(float x);
double exp_double(double x);

/* The table of a Poisson distribution; free it with poisson_close(). */
struct poisson {
	double lambda;
	uint32_t first, count; /* cdf[i] is P(X <= first + i); the last is 1 */
	double *cdf;
};
bool poisson_open(struct poisson *p, double lambda); /* false: out of memory */
void poisson_close(struct poisson *p);
uint32_t poisson_quantile(const struct poisson *p, double u);

/* Return a uniform number in (0, 1] made from 32 or 2 x 32 random bits. */
static inline float uniform_float(uint32_t x)
{
	return (float)x * 0x1p-32F + 0x1p-33F;
}

static inline double uniform_double(uint32_t x, uint32_t y)
{
	uint64_t z = x ^ (uint64_t)y << 21;

	return (double)z * 0x1p-53 + 0x1p-54;
}

#endif
