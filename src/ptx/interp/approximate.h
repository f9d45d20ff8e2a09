/*
 * approximate.h - functions that PTX has in an approximate form: series in
 * double precision, rounded once, so that they are nearer than the PTX ISA asks
 * and the same on every machine.
 */
#ifndef GKF_PTX_APPROXIMATE_H
#define GKF_PTX_APPROXIMATE_H

#include "ptx/interp/lanes.h"

/* x to the nearest whole number; |x| < 2^51. */
static inline double nearest(double x)
{
	const double shift = 0x1.8p52;

	return x + shift - shift;
}

/* e^x for |x| <= ln(2)/2: terms that are left out come to 2^-56. */
static inline double exp_near_0(double x)
{
	double sum = 1;

	for (int n = 13; n; n--)
		sum = 1 + x / n * sum;
	return sum;
}

static inline float exp2_32(float a)
{
	double x = a > 200 ? 200 : a < -200 ? -200 : (double)a, n;

	if (a != a)
		return a;
	n = nearest(x);
	return (float)(exp_near_0((x - n) * 0x1.62e42fefa39efp-1) *
		       float64((uint64_t)(1023 + (int)n) << 52));
}

/* 2 atanh(s), that is ln((1 + s) / (1 - s)), for |s| <= 0.172. */
static inline double log_near_1(double s)
{
	double z = s * s, sum = 0;

	for (int n = 21; n > 0; n -= 2)
		sum = sum * z + 2.0 / n;
	return s * sum;
}

static inline float log2_32(float a)
{
	uint64_t u = bits64((double)a);
	int exponent = (int)(u >> 52 & 0x7ff) - 1023;
	double m = float64((u & 0xfffffffffffff) | (uint64_t)1023 << 52);

	if (!(a > 0))
		return a == 0 ? -__builtin_inff() : __builtin_nanf("");
	if (a == __builtin_inff())
		return a;
	if (m > 0x1.6a09e667f3bcdp0) {
		m /= 2;
		exponent++;
	}
	return (float)(exponent +
		       log_near_1((m - 1) / (m + 1)) * 0x1.71547652b82fep0);
}

#endif
