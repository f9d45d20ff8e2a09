/* SPDX-License-Identifier: Apache-2.0 */
/* value.c - reads and writes numbers and indices of cuSPARSE's types. */
#include "fronts/cusparse/value.h"

#include <math.h>
#include <string.h>

static const struct {
	unsigned char size;
	bool is_complex;
	cudaDataType compute;
} types[] = {
    [CUDA_R_32F] = {4, false, CUDA_R_32F},
    [CUDA_R_64F] = {8, false, CUDA_R_64F},
    [CUDA_R_16F] = {2, false, CUDA_R_32F},
    [CUDA_R_8I] = {1, false, CUDA_R_32I},
    [CUDA_C_32F] = {8, true, CUDA_C_32F},
    [CUDA_C_64F] = {16, true, CUDA_C_64F},
    [CUDA_C_16F] = {4, true, CUDA_C_32F},
    [CUDA_R_32I] = {4, false, CUDA_R_32I},
    [CUDA_R_16BF] = {2, false, CUDA_R_32F},
    [CUDA_C_16BF] = {4, true, CUDA_C_32F},
};

#define TYPES (sizeof types / sizeof *types)

size_t value_size(cudaDataType type)
{
	return (unsigned)type < TYPES ? types[type].size : 0;
}

bool value_is_complex(cudaDataType type)
{
	return (unsigned)type < TYPES && types[type].is_complex;
}

cudaDataType value_compute_type(cudaDataType type)
{
	return types[type].compute;
}

/*
 * Converts an IEEE 754 float with the given numbers of exponent and mantissa
 * bits.
 */
static double small_to_double(uint16_t bits, int exponent, int mantissa)
{
	int bias = (1 << (exponent - 1)) - 1;
	int e = bits >> mantissa & ((1 << exponent) - 1);
	int m = bits & ((1 << mantissa) - 1);
	double v;

	if (e == (1 << exponent) - 1)
		v = m ? (double)NAN : (double)INFINITY;
	else if (e)
		v = ldexp((double)(m | 1 << mantissa), e - bias - mantissa);
	else
		v = ldexp((double)m, 1 - bias - mantissa);
	return bits >> (exponent + mantissa) & 1 ? -v : v;
}

/* Rounds to nearest, ties to even, by adding and subtracting 2^52. */
static uint16_t double_to_small(double v, int exponent, int mantissa)
{
	int bias = (1 << (exponent - 1)) - 1, e;
	unsigned sign = signbit(v) ? 1u << (exponent + mantissa) : 0;
	unsigned infinity = ((1u << exponent) - 1) << mantissa;
	double scaled;

	v = fabs(v);
	if (isnan(v))
		return (uint16_t)(sign | infinity | 1u << (mantissa - 1));
	if (isinf(v))
		return (uint16_t)(sign | infinity);
	if (v == 0)
		return (uint16_t)sign;
	frexp(v, &e);
	e = e - 1 < 1 - bias ? 1 - bias : e - 1;
	/*
	 * The mantissa includes its hidden bit, which then carries into the
	 * exponent.
	 */
	scaled = ldexp(v, mantissa - e) + 0x1p52 - 0x1p52;
	if (e > bias || (e == bias && scaled >= ldexp(1, mantissa + 1)))
		return (uint16_t)(sign | infinity);
	return (uint16_t)(sign + ((unsigned)(e + bias - 1) << mantissa) +
			  (unsigned)scaled);
}

#define HALF 5, 10
#define BF16 8, 7

/*
 * Returns a real or imaginary part. `at` counts parts, two per complex number.
 */
static double load_part(cudaDataType type, const void *array, int64_t at)
{
	switch ((int)type) {
	case CUDA_R_32F:
	case CUDA_C_32F:
		return (double)((const float *)array)[at];
	case CUDA_R_64F:
	case CUDA_C_64F:
		return ((const double *)array)[at];
	case CUDA_R_16F:
	case CUDA_C_16F:
		return small_to_double(((const uint16_t *)array)[at], HALF);
	case CUDA_R_16BF:
	case CUDA_C_16BF:
		return small_to_double(((const uint16_t *)array)[at], BF16);
	case CUDA_R_8I:
		return ((const int8_t *)array)[at];
	case CUDA_R_32I:
		return ((const int32_t *)array)[at];
	}
	return 0;
}

static int64_t double_to_integer(double v)
{
	return v >= -0x1p63 && v < 0x1p63 ? (int64_t)v : INT64_MIN;
}

static void store_part(cudaDataType type, void *array, int64_t at, double v)
{
	switch ((int)type) {
	case CUDA_R_32F:
	case CUDA_C_32F:
		((float *)array)[at] = (float)v;
		break;
	case CUDA_R_64F:
	case CUDA_C_64F:
		((double *)array)[at] = v;
		break;
	case CUDA_R_16F:
	case CUDA_C_16F:
		((uint16_t *)array)[at] = double_to_small(v, HALF);
		break;
	case CUDA_R_16BF:
	case CUDA_C_16BF:
		((uint16_t *)array)[at] = double_to_small(v, BF16);
		break;
	case CUDA_R_8I:
		((int8_t *)array)[at] = (int8_t)double_to_integer(v);
		break;
	case CUDA_R_32I:
		((int32_t *)array)[at] = (int32_t)double_to_integer(v);
		break;
	}
}

struct value value_load_any(cudaDataType type, const void *array, int64_t index)
{
	if (!types[type].is_complex)
		return (struct value){load_part(type, array, index), 0};
	return (struct value){load_part(type, array, 2 * index),
			      load_part(type, array, 2 * index + 1)};
}

void value_store(cudaDataType type, void *array, int64_t index, struct value v)
{
	if (!types[type].is_complex) {
		store_part(type, array, index, v.re);
		return;
	}
	store_part(type, array, 2 * index, v.re);
	store_part(type, array, 2 * index + 1, v.im);
}

/* Divides by Smith's algorithm, which overflows only if the quotient does. */
struct value value_divide(struct value a, struct value b)
{
	double r, d;

	if (a.im == 0 && b.im == 0)
		return (struct value){a.re / b.re, 0};
	if (fabs(b.re) >= fabs(b.im)) {
		r = b.im / b.re;
		d = b.re + b.im * r;
		return (struct value){(a.re + a.im * r) / d,
				      (a.im - a.re * r) / d};
	}
	r = b.re / b.im;
	d = b.re * r + b.im;
	return (struct value){(a.re * r + a.im) / d, (a.im * r - a.re) / d};
}

size_t index_size(cusparseIndexType_t type)
{
	static const unsigned char sizes[] = {[CUSPARSE_INDEX_16U] = 2,
					      [CUSPARSE_INDEX_32I] = 4,
					      [CUSPARSE_INDEX_64I] = 8};

	return (unsigned)type < sizeof sizes ? sizes[type] : 0;
}

void index_store(cusparseIndexType_t type, void *array, int64_t at, int64_t v)
{
	switch ((int)type) {
	case CUSPARSE_INDEX_16U:
		((uint16_t *)array)[at] = (uint16_t)v;
		break;
	case CUSPARSE_INDEX_32I:
		((int32_t *)array)[at] = (int32_t)v;
		break;
	case CUSPARSE_INDEX_64I:
		((int64_t *)array)[at] = v;
		break;
	}
}
