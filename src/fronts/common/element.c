/* SPDX-License-Identifier: Apache-2.0 */
/*
 * element.c - converts elements between types. Small types go through float,
 * which represents them exactly, all others through double.
 */
#include "fronts/common/element.h"

#include <string.h>

#define CHUNK 512

static const struct {
	size_t size; /* bytes of one part (real or imaginary) */
	enum element real;
	bool complex;
} types[] = {
    [R_32F] = {4, R_32F, false},         [R_64F] = {8, R_64F, false},
    [R_16F] = {2, R_16F, false},         [R_8I] = {1, R_8I, false},
    [C_32F] = {4, R_32F, true},          [C_64F] = {8, R_64F, true},
    [C_16F] = {2, R_16F, true},          [C_8I] = {1, R_8I, true},
    [R_8U] = {1, R_8U, false},           [C_8U] = {1, R_8U, true},
    [R_32I] = {4, R_32I, false},         [C_32I] = {4, R_32I, true},
    [R_16BF] = {2, R_16BF, false},       [C_16BF] = {2, R_16BF, true},
    [R_8F_E4M3] = {1, R_8F_E4M3, false}, [R_8F_E5M2] = {1, R_8F_E5M2, false},
};

#define TYPES (sizeof types / sizeof *types)

size_t element_size(enum element type)
{
	if ((unsigned)type >= TYPES)
		return 0;
	return types[type].size << types[type].complex;
}

bool element_is_complex(enum element type)
{
	return (unsigned)type < TYPES && types[type].complex;
}

enum element element_real(enum element type)
{
	return (unsigned)type < TYPES ? types[type].real : type;
}

static float float_of(uint32_t bits)
{
	float f;

	memcpy(&f, &bits, sizeof f);
	return f;
}

static uint32_t bits_of(float f)
{
	uint32_t bits;

	memcpy(&bits, &f, sizeof bits);
	return bits;
}

/*
 * Converts a float of IEEE 754 layout with `exponent` and `mantissa` bits to
 * float. The largest exponent means infinity or NaN.
 */
static inline float widen_small(uint32_t small, int exponent, int mantissa)
{
	uint32_t sign = (small >> (exponent + mantissa)) << 31;
	uint32_t rest = small & ((1u << (exponent + mantissa)) - 1);
	/* Read as a float, the number is too small by a power of two, because
	 * the biases of the exponents differ. */
	uint32_t bias = 127 + 127 - ((1u << (exponent - 1)) - 1);
	float value = float_of(rest << (23 - mantissa)) * float_of(bias << 23);
	uint32_t bits = bits_of(value);

	if (rest >> mantissa == (1u << exponent) - 1)
		bits |= 0xffu << 23;
	return float_of(bits | sign);
}

/* The inverse of widen_small(): converts to the nearest value. Values that are
 * too large become infinity. */
static inline uint32_t narrow_small(float f, int exponent, int mantissa)
{
	uint32_t bits = bits_of(f), sign = bits >> 31;
	uint32_t infinity = ((1u << exponent) - 1) << mantissa;
	int bias = (1 << (exponent - 1)) - 1;
	uint32_t size = bits & 0x7fffffff, result;

	if (size > 0x7f800000) {
		result = infinity | 1u << (mantissa - 1);
	} else if (size >= (uint32_t)(127 + bias + 1) << 23) {
		result = infinity;
	} else if (size < (uint32_t)(127 - bias + 1) << 23) {
		/* The result is denormal: adding this number aligns and rounds
		 * the mantissa. */
		uint32_t magic = (uint32_t)(127 - bias + 1 + 23 - mantissa)
				 << 23;

		result = bits_of(float_of(size) + float_of(magic)) - magic;
	} else {
		uint32_t odd = size >> (23 - mantissa) & 1;

		size += (1u << (22 - mantissa)) - 1 + odd;
		result = (size >> (23 - mantissa)) -
			 ((uint32_t)(127 - bias) << mantissa);
	}
	return result | sign << (exponent + mantissa);
}

static uint16_t narrow_bf16(float f)
{
	uint32_t bits = bits_of(f);

	if ((bits & 0x7fffffff) > 0x7f800000)
		return (uint16_t)(bits >> 16 | 0x40);
	return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/* E4M3 has no infinity: NaN is only 1111.111, and the largest value is 448. */
static float widen_e4m3(uint8_t small)
{
	uint32_t exponent = small >> 3 & 15, mantissa = small & 7;

	if (exponent < 15)
		return widen_small(small, 4, 3);
	if (mantissa == 7)
		return float_of(0x7fc00000 | (uint32_t)(small >> 7) << 31);
	return (small >> 7 ? -32.0f : 32.0f) * (float)(8 + mantissa);
}

static uint8_t narrow_e4m3(float f)
{
	uint32_t size = bits_of(f) & 0x7fffffff;
	uint8_t sign = (uint8_t)(bits_of(f) >> 31 << 7);

	if (size > 0x7f800000)
		return sign | 0x7f;
	if (float_of(size) >= 448)
		return sign | 0x7e;
	/*
	 * Values of 256 and more use the exponent that means infinity in IEEE
	 * 754.
	 */
	if (float_of(size) >= 248)
		return sign |
		       (uint8_t)(narrow_small(float_of(size) / 2, 4, 3) + 8);
	return sign | (uint8_t)narrow_small(float_of(size), 4, 3);
}

/* Infinity becomes the largest value, as when cuBLAS writes 8-bit floats. */
static uint8_t narrow_e5m2(float f)
{
	uint32_t small = narrow_small(f, 5, 2);

	return (uint8_t)((small & 0x7f) == 0x7c ? small - 1 : small);
}

#define EACH(expression)                                                       \
	for (size_t i = 0; i < n; i++)                                         \
		to[i] = (expression);                                          \
	break

/* Converts n parts to float. R_64F and R_32I are rounded. */
static void widen_to_float(float *to, const void *from, enum element type,
			   size_t n)
{
	const uint16_t *words = from;
	const uint8_t *bytes = from;

	switch ((int)type) {
	case R_16F:
		EACH(widen_small(words[i], 5, 10));
	case R_16BF:
		EACH(float_of((uint32_t)words[i] << 16));
	case R_8I:
		EACH((float)(int8_t)bytes[i]);
	case R_8U:
		EACH((float)bytes[i]);
	case R_8F_E4M3:
		EACH(widen_e4m3(bytes[i]));
	case R_8F_E5M2:
		EACH(widen_small(bytes[i], 5, 2));
	case R_64F:
		EACH((float)((const double *)from)[i]);
	case R_32I:
		EACH((float)((const int32_t *)from)[i]);
	default:
		memcpy(to, from, n * sizeof *to);
	}
}

/* The nearest integer in [low, high]; 0 for NaN. */
static double round_within(double f, double low, double high)
{
	const double magic = 6755399441055744.0; /* 1.5 * 2^52 */

	if (!(f == f))
		return 0;
	f = f < low ? low : f > high ? high : f;
	return f + magic - magic;
}

static void narrow_from_float(void *out, enum element type, const float *from,
			      size_t n)
{
	switch ((int)type) {
	case R_16F: {
		uint16_t *to = out;
		EACH((uint16_t)narrow_small(from[i], 5, 10));
	}
	case R_16BF: {
		uint16_t *to = out;
		EACH(narrow_bf16(from[i]));
	}
	case R_8I: {
		int8_t *to = out;
		EACH((int8_t)round_within((double)from[i], -128, 127));
	}
	case R_8U: {
		uint8_t *to = out;
		EACH((uint8_t)round_within((double)from[i], 0, 255));
	}
	case R_8F_E4M3: {
		uint8_t *to = out;
		EACH(narrow_e4m3(from[i]));
	}
	case R_8F_E5M2: {
		uint8_t *to = out;
		EACH(narrow_e5m2(from[i]));
	}
	case R_64F: {
		double *to = out;
		EACH((double)from[i]);
	}
	case R_32I: {
		int32_t *to = out;
		EACH((int32_t)round_within((double)from[i], INT32_MIN,
					   INT32_MAX));
	}
	default:
		memcpy(out, from, n * sizeof *from);
	}
}

static void widen_to_double(double *to, const void *from, enum element type,
			    size_t n)
{
	float floats[CHUNK];

	if (type == R_64F) {
		memcpy(to, from, n * sizeof *to);
	} else if (type == R_32I) {
		for (size_t i = 0; i < n; i++)
			to[i] = ((const int32_t *)from)[i];
	} else {
		widen_to_float(floats, from, type, n);
		for (size_t i = 0; i < n; i++)
			to[i] = (double)floats[i];
	}
}

static void narrow_from_double(void *to, enum element type, const double *from,
			       size_t n)
{
	float floats[CHUNK];

	if (type == R_64F) {
		memcpy(to, from, n * sizeof *from);
	} else if (type == R_32I) {
		for (size_t i = 0; i < n; i++)
			((int32_t *)to)[i] = (int32_t)round_within(
			    from[i], INT32_MIN, INT32_MAX);
	} else {
		for (size_t i = 0; i < n; i++)
			floats[i] = (float)from[i];
		narrow_from_float(to, type, floats, n);
	}
}

/* Converts n parts through double, for types that do not fit in a float. */
static void convert_by_double(char *to, enum element to_type, const char *from,
			      enum element from_type, size_t n)
{
	double doubles[CHUNK];

	for (size_t done = 0; done < n; done += CHUNK) {
		size_t some = n - done < CHUNK ? n - done : CHUNK;

		widen_to_double(doubles, from + done * types[from_type].size,
				from_type, some);
		narrow_from_double(to + done * types[to_type].size, to_type,
				   doubles, some);
	}
}

void element_convert(void *to, enum element to_type, const void *from,
		     enum element from_type, size_t n)
{
	n <<= element_is_complex(to_type);
	to_type = element_real(to_type);
	from_type = element_real(from_type);
	if (to_type == from_type)
		memmove(to, from, n * types[to_type].size);
	else if (to_type == R_32F)
		widen_to_float(to, from, from_type, n);
	else if (from_type == R_32F)
		narrow_from_float(to, to_type, from, n);
	else
		convert_by_double(to, to_type, from, from_type, n);
}

void element_get(const void *from, enum element type, double ret_parts[2])
{
	ret_parts[1] = 0;
	convert_by_double((char *)ret_parts, R_64F, from, element_real(type),
			  1 + element_is_complex(type));
}

void element_set(void *to, enum element type, const double parts[2])
{
	convert_by_double(to, element_real(type), (const char *)parts, R_64F,
			  1 + element_is_complex(type));
}
