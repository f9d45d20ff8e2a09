/* SPDX-License-Identifier: Apache-2.0 */
/*
 * element_test.c - checks elements of all types as floats and back, against
 * their formulas.
 */
#include "fronts/common/element.h"
#include "unit.h"

#include <math.h>
#include <string.h>

/* A small float's value by definition; NAN and INFINITY where IEEE has them. */
static double value_of(unsigned bits, int exponent, int mantissa, bool ieee)
{
	int bias = (1 << (exponent - 1)) - 1;
	int e = (int)(bits >> mantissa) & ((1 << exponent) - 1);
	int m = (int)bits & ((1 << mantissa) - 1);
	double sign = bits >> (exponent + mantissa) ? -1 : 1;

	if (e == (1 << exponent) - 1 && ieee)
		return m ? (double)NAN : sign * (double)INFINITY;
	if (e == (1 << exponent) - 1 && m == (1 << mantissa) - 1)
		return (double)NAN;
	if (!e)
		return sign * ldexp(m, 1 - bias - mantissa);
	return sign * ldexp((1 << mantissa) + m, e - bias - mantissa);
}

static const struct small {
	enum element type;
	int exponent, mantissa;
	bool ieee, stops;
} smalls[] = {
    {R_16F, 5, 10, true, false},
    {R_16BF, 8, 7, true, false},
    {R_8F_E4M3, 4, 3, false, true},
    {R_8F_E5M2, 5, 2, true, true},
};

static float widened(const struct small *s, unsigned bits)
{
	uint16_t word = (uint16_t)bits;
	float f;

	element_convert(&f, R_32F, &word, s->type, 1);
	return f;
}

static unsigned narrowed(const struct small *s, float f)
{
	uint16_t word = 0;

	element_convert(&word, s->type, &f, R_32F, 1);
	return word;
}

static void every_small_float_has_its_value(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(smalls); i++) {
		const struct small *s = &smalls[i];

		for (unsigned b = 0; b < 2u << (s->exponent + s->mantissa);
		     b++) {
			double value =
			    value_of(b, s->exponent, s->mantissa, s->ieee);
			float f = widened(s, b);

			if (isnan(value)) {
				assert_true(isnan(f));
				continue;
			}
			assert_true((double)f == value);
			assert_int_equal(signbit(f) != 0, signbit(value) != 0);
			if (isfinite(value))
				assert_int_equal(narrowed(s, f), b);
		}
	}
}

/*
 * Between two neighbours the nearer one is chosen, in the middle the even one.
 */
static void rounding_is_to_nearest_even(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(smalls); i++) {
		const struct small *s = &smalls[i];
		unsigned end = 1u << (s->exponent + s->mantissa);

		for (unsigned b = 0; b + 1 < end; b++) {
			double low =
			    value_of(b, s->exponent, s->mantissa, s->ieee);
			double high =
			    value_of(b + 1, s->exponent, s->mantissa, s->ieee);
			float middle = (float)((low + high) / 2);

			if (!isfinite(low) || !isfinite(high))
				continue;
			assert_int_equal(narrowed(s, middle), b + (b & 1));
			assert_int_equal(narrowed(s, nextafterf(middle, 0)), b);
			assert_int_equal(
			    narrowed(s, nextafterf(middle, INFINITY)), b + 1);
		}
	}
}

static void what_is_too_large_is_infinite_or_the_largest(void **state)
{
	static const struct {
		enum element type;
		unsigned largest, of_infinity;
	} ends[] = {
	    {R_16F, 0x7bff, 0x7c00},
	    {R_16BF, 0x7f7f, 0x7f80},
	    {R_8F_E4M3, 0x7e, 0x7e},
	    {R_8F_E5M2, 0x7b, 0x7b},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(smalls); i++) {
		assert_int_equal(smalls[i].type, ends[i].type);
		assert_int_equal(narrowed(&smalls[i], INFINITY),
				 ends[i].of_infinity);
		assert_int_equal(
		    narrowed(&smalls[i],
			     nextafterf(widened(&smalls[i], ends[i].largest),
					INFINITY)),
		    ends[i].largest);
		assert_true(
		    isnan(widened(&smalls[i], narrowed(&smalls[i], NAN))));
	}
	/* Half a step above the largest half. */
	assert_int_equal(narrowed(&smalls[0], 65519.996f), 0x7bff);
	assert_int_equal(narrowed(&smalls[0], 65520.0f), 0x7c00);
}

static void integers_round_and_stop_at_their_ends(void **state)
{
	const float from[] = {-1e9f, -128.5f, -2.5f, 0.5f, 1.5f, 127.5f, 300};
	const int8_t expected[] = {-128, -128, -2, 0, 2, 127, 127};
	int8_t to[7];
	int32_t wide;
	double large = 1e12;

	(void)state;
	element_convert(to, R_8I, from, R_32F, 7);
	assert_memory_equal(to, expected, sizeof to);
	element_convert(&wide, R_32I, &large, R_64F, 1);
	assert_int_equal(wide, INT32_MAX);
}

static void long_rows_convert_by_way_of_double(void **state)
{
	enum { N = 1500 };
	static int32_t from[N], to[N];
	static double between[N];

	(void)state;
	for (int i = 0; i < N; i++)
		from[i] = i * 1000003;
	element_convert(between, R_64F, from, R_32I, N);
	assert_true(between[N - 1] == (double)from[N - 1]);
	element_convert(to, R_32I, between, R_64F, N);
	assert_memory_equal(to, from, sizeof to);
}

static void complex_ones_have_two_parts(void **state)
{
	const float from[] = {1, -2, 0.5f, 4};
	uint16_t to[4];
	const uint16_t halves[] = {0x3c00, 0xc000, 0x3800, 0x4400};
	double parts[2];

	(void)state;
	assert_int_equal(element_size(C_16F), 4);
	element_convert(to, C_16F, from, C_32F, 2);
	assert_memory_equal(to, halves, sizeof to);
	element_get(to, C_16F, parts);
	assert_true(parts[0] == 1 && parts[1] == -2);
}

static void unknown_types_have_no_size(void **state)
{
	(void)state;
	assert_int_equal(element_size((enum element)12), 0);
	assert_int_equal(element_size((enum element)99), 0);
	assert_int_equal(element_size((enum element) - 1), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(every_small_float_has_its_value),
	    cmocka_unit_test(rounding_is_to_nearest_even),
	    cmocka_unit_test(what_is_too_large_is_infinite_or_the_largest),
	    cmocka_unit_test(integers_round_and_stop_at_their_ends),
	    cmocka_unit_test(long_rows_convert_by_way_of_double),
	    cmocka_unit_test(complex_ones_have_two_parts),
	    cmocka_unit_test(unknown_types_have_no_size),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
