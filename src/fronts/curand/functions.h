/*
 * functions.h - the mathematics of distributions, on libm, which is opened
 * when it is needed: the library itself depends on libc alone.
 */
#ifndef GKF_CURAND_FUNCTIONS_H
#define GKF_CURAND_FUNCTIONS_H

#include <stdbool.h>
#include <stdint.h>

/* Opens libm once. false: it is not there, or lacks a function. */
bool functions_ready(void);

/* All others need a true functions_ready(). */

/* Two independent normal numbers of uniform ones in (0, 1]. */
void box_muller_bits(uint32_t x, uint32_t y, float out[2]);
void box_muller_float(float u, float v, float out[2]);
void box_muller_double(double u, double v, double out[2]);

/* The number below which a normal one lies with probability p: 0 < p <= 0.5. */
double normal_quantile(double p);

float exp_float(float x);
double exp_double(double x);

/* The table of a Poisson distribution; poisson_close()'s. */
struct poisson {
	double lambda;
	uint32_t first, count; /* cdf[i] is of first + i; the last is 1 */
	double *cdf;
};
bool poisson_open(struct poisson *p, double lambda); /* false: no memory */
void poisson_close(struct poisson *p);
uint32_t poisson_quantile(const struct poisson *p, double u);

/* Of 32 or 2 x 32 random bits, in (0, 1]. */
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
