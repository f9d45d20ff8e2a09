/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lanes.h - types of lane values, and PTX arithmetic that C does not have.
 *
 * Uses no libm, so that results are bit-identical on every machine.
 */
#ifndef GKF_PTX_LANES_H
#define GKF_PTX_LANES_H

#include <fenv.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* A register's 32 values may be accessed as any of these types. */
#define LANE_TYPE(name, type) typedef type __attribute__((may_alias)) name
LANE_TYPE(u8, uint8_t);
LANE_TYPE(s8, int8_t);
LANE_TYPE(u16, uint16_t);
LANE_TYPE(s16, int16_t);
LANE_TYPE(u32, uint32_t);
LANE_TYPE(s32, int32_t);
LANE_TYPE(u64, uint64_t);
LANE_TYPE(s64, int64_t);
LANE_TYPE(f32, float);
LANE_TYPE(f64, double);
#undef LANE_TYPE

/*
 * Tells the compiler that iterations over lanes are independent, even where
 * operands overlap.
 */
#ifdef __clang__
#define LANES_APART
#else
#define LANES_APART _Pragma("GCC ivdep")
#endif

static inline uint32_t bits32(float x)
{
	uint32_t u;

	memcpy(&u, &x, sizeof u);
	return u;
}

static inline float float32(uint32_t u)
{
	float x;

	memcpy(&x, &u, sizeof x);
	return x;
}

static inline uint64_t bits64(double x)
{
	uint64_t u;

	memcpy(&u, &x, sizeof u);
	return u;
}

static inline double float64(uint64_t u)
{
	double x;

	memcpy(&x, &u, sizeof x);
	return x;
}

/*
 * Returns x or, if x is a NaN, the NaN that single-precision operations return.
 */
static inline float nan32(float x)
{
	return x != x ? float32(0x7fffffff) : x;
}

static inline float ftz(float x)
{
	uint32_t u = bits32(x);

	return u & 0x7f800000 ? x : float32(u & 0x80000000);
}

static inline float sat32(float x)
{
	return x > 0 ? (x < 1 ? x : 1) : 0; /* a NaN becomes 0 */
}

/* Returns the minimum. A number wins over a NaN; -0 is below +0. */
static inline float min32(float a, float b)
{
	if (a != a || b != b)
		return a != a ? b : a;
	if (a == b)
		return float32(bits32(a) | bits32(b));
	return a < b ? a : b;
}

static inline double min64(double a, double b)
{
	if (a != a || b != b)
		return a != a ? b : a;
	if (a == b)
		return float64(bits64(a) | bits64(b));
	return a < b ? a : b;
}

/*
 * Returns a * b + c, rounded once. The product is exact in double precision.
 * The sum is rounded to odd in double precision, so that rounding it again to
 * single precision gives the correct result.
 */
static inline float fused32(float a, float b, float c)
{
	double p = (double)a * (double)b, s = p + (double)c;
	double back = s - p;
	double error = (p - (s - back)) + ((double)c - back);
	uint64_t u = bits64(s);

	if (error != 0 && error == error && !(u & 1) &&
	    (u & 0x7ff0000000000000) != 0x7ff0000000000000)
		u += (error > 0) == (s > 0) ? 1 : (uint64_t)-1;
	return (float)float64(u);
}

/* Conversions to and from 16-bit floats, rounded to nearest. */
static inline uint16_t half_of(float x)
{
	uint32_t u = bits32(x), sign = u >> 16 & 0x8000;

	u &= 0x7fffffff;
	if (u > 0x7f800000)
		return 0x7fff;
	if (u >= 0x477ff000) /* too large */
		return (uint16_t)(sign | 0x7c00);
	if (u < 0x38800000) /* subnormal: adding 0.5 rounds it */
		return (uint16_t)(sign |
				  (bits32(float32(u) + 0.5F) - bits32(0.5F)));
	u += 0xfff + (u >> 13 & 1);
	return (uint16_t)(sign | (u - 0x38000000) >> 13);
}

static inline float of_half(uint16_t h)
{
	uint32_t sign = (uint32_t)(h & 0x8000) << 16, m = h & 0x7fff;

	if (m >= 0x7c00)
		return m > 0x7c00 ? float32(0x7fffffff)
				  : float32(sign | 0x7f800000);
	if (m < 0x400)
		return float32(sign | bits32((float)m * 0x1p-24F));
	return float32(sign | ((m << 13) + 0x38000000));
}

static inline uint16_t bfloat_of(float x)
{
	uint32_t u = bits32(x);

	return x != x ? 0x7fff : (uint16_t)((u + 0x7fff + (u >> 16 & 1)) >> 16);
}

/* Converts an enum gkf_round to an argument of fesetround(). */
static inline int rounding_mode(uint8_t round)
{
	static const int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD,
				    FE_UPWARD};

	return modes[round];
}

static inline int32_t clamp_s32(int64_t x)
{
	return (int32_t)(x > INT32_MAX   ? INT32_MAX
			 : x < INT32_MIN ? INT32_MIN
					 : x);
}

static inline int32_t relu(int32_t x)
{
	return x < 0 ? 0 : x;
}

/* Returns the lower 24 bits, sign-extended. */
static inline int32_t low24(int32_t x)
{
	return (int32_t)((uint32_t)x << 8) >> 8;
}

static inline uint64_t high_u64(uint64_t a, uint64_t b)
{
	return (uint64_t)((unsigned __int128)a * b >> 64);
}

static inline int64_t high_s64(int64_t a, int64_t b)
{
	return (int64_t)((__int128)a * b >> 64);
}

/* Division by 0 gives a quotient of all ones; the remainder is the dividend. */
static inline uint64_t div_u64(uint64_t a, uint64_t b)
{
	return b ? a / b : UINT64_MAX;
}

static inline uint64_t rem_u64(uint64_t a, uint64_t b)
{
	return b ? a % b : a;
}

static inline int64_t div_s64(int64_t a, int64_t b)
{
	if (!b)
		return -1;
	return b == -1 ? (int64_t)(0 - (uint64_t)a) : a / b;
}

static inline int64_t rem_s64(int64_t a, int64_t b)
{
	if (!b)
		return a;
	return b == -1 ? 0 : a % b;
}

static inline uint64_t reverse64(uint64_t x)
{
	x = (x & 0x5555555555555555) << 1 | (x >> 1 & 0x5555555555555555);
	x = (x & 0x3333333333333333) << 2 | (x >> 2 & 0x3333333333333333);
	x = (x & 0x0f0f0f0f0f0f0f0f) << 4 | (x >> 4 & 0x0f0f0f0f0f0f0f0f);
	return __builtin_bswap64(x);
}

static inline uint32_t reverse32(uint32_t x)
{
	return (uint32_t)(reverse64(x) >> 32);
}

/* Returns the position of the highest set bit, or all ones if no bit is set. */
static inline uint32_t find_top(uint64_t x)
{
	return x ? 63 - (uint32_t)__builtin_clzll(x) : UINT32_MAX;
}

/*
 * Returns the left shift that brings the highest set bit to the top, or all
 * ones.
 */
static inline uint32_t find_shift(uint64_t x, uint32_t width)
{
	return x ? width - 1 - find_top(x) : UINT32_MAX;
}

/*
 * Extracts `length` bits, starting at bit `position`. Bits above the value's
 * width are copies of its sign if it is signed, else 0.
 */
static inline uint64_t extract(uint64_t x, uint32_t position, uint32_t length,
			       unsigned width, bool is_signed)
{
	uint64_t sign, out = 0;
	uint32_t top;

	position &= 0xff;
	length &= 0xff;
	if (!length)
		return 0;
	top = position + length - 1 < width - 1 ? position + length - 1
						: width - 1;
	sign = is_signed ? x >> top & 1 : 0;
	if (position < width)
		out = x >> position;
	if (position < width && length > width - position)
		length = width - position;
	if (position >= width)
		return sign ? UINT64_MAX : 0;
	if (length < 64)
		out &= ((uint64_t)1 << length) - 1;
	if (sign && length < 64)
		out |= ~(uint64_t)0 << length;
	return out;
}

/* Returns y with the lowest `length` bits of x inserted at bit `position`. */
static inline uint64_t insert_bits(uint64_t x, uint64_t y, uint32_t position,
				   uint32_t length, unsigned width)
{
	uint64_t mask;

	position &= 0xff;
	length &= 0xff;
	if (position >= width || !length)
		return y;
	mask = length < 64 ? ((uint64_t)1 << length) - 1 : UINT64_MAX;
	return (y & ~(mask << position)) | (x & mask) << position;
}

static inline uint64_t pair_words(uint32_t high, uint32_t low)
{
	return (uint64_t)high << 32 | low;
}

/*
 * Selects four of the eight bytes in a and b. If bit 3 of a selector is set,
 * the result is the selected byte's sign, repeated.
 */
static inline uint32_t permute(uint32_t a, uint32_t b, uint32_t selectors)
{
	uint64_t all = pair_words(b, a);
	uint32_t out = 0;

	for (unsigned i = 0; i < 4; i++, selectors >>= 4) {
		uint32_t byte = (uint32_t)(all >> (selectors & 7) * 8) & 0xff;

		if (selectors & 8)
			byte = byte & 0x80 ? 0xff : 0;
		out |= byte << i * 8;
	}
	return out;
}

/*
 * Computes the bitwise function of three operands with the given truth table.
 */
static inline uint32_t logic3(uint32_t a, uint32_t b, uint32_t c,
			      uint32_t table)
{
	uint32_t out = 0;

	for (unsigned i = 0; i < 8; i++)
		if (table >> i & 1)
			out |= (i & 4 ? a : ~a) & (i & 2 ? b : ~b) &
			       (i & 1 ? c : ~c);
	return out;
}

#endif
