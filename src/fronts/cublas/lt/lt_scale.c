/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lt_scale.c - reads and computes the scales of narrow floats. cuBLASLt's
 * documentation describes their layout: for blocks of 16 or 32 elements it is
 * made of tiles of 128 x 4 scales.
 */
#include "fronts/cublas/lt/lt_scale.h"
#include "base/assert.h"

#include <string.h>

enum {
	SCALAR = CUBLASLT_MATMUL_MATRIX_SCALE_SCALAR_32F,
	VEC16 = CUBLASLT_MATMUL_MATRIX_SCALE_VEC16_UE4M3,
	VEC32 = CUBLASLT_MATMUL_MATRIX_SCALE_VEC32_UE8M0,
	OUTER = CUBLASLT_MATMUL_MATRIX_SCALE_OUTER_VEC_32F,
	VEC128 = CUBLASLT_MATMUL_MATRIX_SCALE_VEC128_32F,
	BLOCK = CUBLASLT_MATMUL_MATRIX_SCALE_BLK128x128_32F,
};

#define WIDE      128 /* length of a VEC128 block, side of a BLK128x128 block */
#define TILE_ROWS 128
#define TILE_COLS 4
#define E4M3_MAX  448.0
#define E5M2_MAX  57344.0
#define E2M1_MAX  6.0

static uint64_t divide_up(uint64_t a, uint64_t b)
{
	return (a + b - 1) / b;
}

static uint64_t block_length(int32_t mode)
{
	return mode == VEC16 ? 16 : 32;
}

/* Returns the number of tiles along the inner index. */
static uint64_t tiles_across(int32_t mode, uint64_t inner)
{
	return divide_up(inner, block_length(mode) * TILE_COLS);
}

size_t lt_scales_size(int32_t mode, uint64_t inner, uint64_t outer)
{
	uint64_t blocks = divide_up(inner, WIDE);

	switch (mode) {
	case VEC16:
	case VEC32:
		return tiles_across(mode, inner) * divide_up(outer, TILE_ROWS) *
		       TILE_ROWS * TILE_COLS;
	case OUTER:
		return outer * sizeof(float);
	case VEC128:
		return outer * blocks * sizeof(float);
	case BLOCK:
		return divide_up(blocks, 4) * 4 * divide_up(outer, WIDE) *
		       sizeof(float);
	default:
		return sizeof(float);
	}
}

/*
 * Returns the byte offset of a block's scale. `block` is its index along the
 * inner dimension.
 */
static size_t place_in_tiles(const struct lt_scales *s, uint64_t block,
			     uint64_t outer)
{
	uint64_t tile = outer / TILE_ROWS * tiles_across(s->mode, s->inner) +
			block / TILE_COLS;

	outer %= TILE_ROWS;
	return tile * TILE_ROWS * TILE_COLS + outer % 32 * 16 + outer / 32 * 4 +
	       block % TILE_COLS;
}

/* Returns 2^(byte - 127), or NaN for 255. */
static double value_of_ue8m0(uint8_t byte)
{
	uint64_t bits = (uint64_t)(byte + 1023 - 127) << 52;
	double value;

	if (byte == 255)
		return __builtin_nan("");
	memcpy(&value, &bits, sizeof value);
	return value;
}

static double value_of_ue4m3(uint8_t byte)
{
	double parts[2];

	byte &= 0x7f;
	element_get(&byte, R_8F_E4M3, parts);
	return parts[0];
}

static double float_at(const struct lt_scales *s, size_t i)
{
	float value;

	memcpy(&value, (const char *)s->data + i * sizeof value, sizeof value);
	return (double)value;
}

double lt_scale_at(const struct lt_scales *s, uint64_t inner, uint64_t outer)
{
	const uint8_t *bytes = s->data;

	if (!s->data)
		return 1;
	switch (s->mode) {
	case VEC16:
		return value_of_ue4m3(
		    bytes[place_in_tiles(s, inner / 16, outer)]);
	case VEC32:
		return value_of_ue8m0(
		    bytes[place_in_tiles(s, inner / 32, outer)]);
	case OUTER:
		return float_at(s, outer);
	case VEC128:
		return float_at(s, inner / WIDE * s->outer + outer);
	case BLOCK:
		return float_at(
		    s, inner / WIDE +
			   outer / WIDE *
			       (divide_up(divide_up(s->inner, WIDE), 4) * 4));
	default:
		return float_at(s, 0);
	}
}

static double largest_of(uint32_t type)
{
	return type == R_8F_E4M3   ? E4M3_MAX
	       : type == R_8F_E5M2 ? E5M2_MAX
				   : E2M1_MAX;
}

/*
 * Rounds up to a power of two, as documented, even if the scale is subnormal.
 */
static uint8_t round_to_ue8m0(float scale)
{
	uint32_t bits, exponent, mantissa;

	memcpy(&bits, &scale, sizeof bits);
	exponent = bits >> 23 & 255;
	mantissa = bits & 0x7fffff;
	if (exponent ? exponent < 254 && mantissa : mantissa > 0x400000)
		exponent++;
	return (uint8_t)exponent;
}

static uint8_t round_to_ue4m3(float scale)
{
	uint8_t byte;

	element_set(&byte, R_8F_E4M3, (double[2]){(double)scale, 0});
	return byte;
}

void lt_quantize(const struct lt_scales *s, uint32_t type, uint64_t outer,
		 double *x)
{
	uint64_t length = block_length(s->mode);

	GK_ASSERT(s->data && (s->mode == VEC16 || s->mode == VEC32));
	GK_ASSERT(outer < s->outer);
	for (uint64_t first = 0; first < s->inner; first += length) {
		uint64_t end =
		    first + length < s->inner ? first + length : s->inner;
		uint8_t *at = (uint8_t *)s->data +
			      place_in_tiles(s, first / length, outer);
		double largest = 0, divisor;
		float scale, factor;

		for (uint64_t i = first; i < end; i++)
			if (!(__builtin_fabs(x[i]) <= largest))
				largest = __builtin_fabs(x[i]);
		scale = (float)(largest / largest_of(type));
		*at = s->mode == VEC32 ? round_to_ue8m0(scale)
				       : round_to_ue4m3(scale);
		divisor = s->mode == VEC32 ? value_of_ue8m0(*at)
					   : value_of_ue4m3(*at);
		factor = divisor != 0 ? (float)(1 / divisor) : 0;
		for (uint64_t i = first; i < end; i++)
			x[i] *= (double)factor;
	}
}
