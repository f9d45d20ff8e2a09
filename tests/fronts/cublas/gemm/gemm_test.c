/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gemm_test.c - compares products of matrices of all types with three plain
 * loops.
 */
#include "fronts/cublas/gemm/gemm.h"
#include "fronts/cublas/cblas.h"
#include "unit.h"

#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST   40
#define MATRIX ((size_t)MOST * MOST)

static const struct kind {
	enum element ab, cd, compute;
	double tolerance;
} kinds[] = {
    {R_32F, R_32F, R_32F, 1e-4},     {R_64F, R_64F, R_64F, 1e-12},
    {C_32F, C_32F, C_32F, 1e-4},     {C_64F, C_64F, C_64F, 1e-12},
    {R_16F, R_16F, R_32F, 0.02},     {R_16F, R_32F, R_32F, 1e-4},
    {R_16BF, R_16BF, R_32F, 0.2},    {R_16BF, R_32F, R_32F, 1e-4},
    {R_8I, R_32I, R_32I, 0},         {R_8I, R_32F, R_32F, 1e-4},
    {C_8I, C_32F, C_32F, 1e-4},      {R_8F_E4M3, R_16BF, R_32F, 0.2},
    {R_8F_E5M2, R_32F, R_32F, 1e-4},
};

static uint64_t seed = 1;

/* Small multiples of 1/4, which all types have. */
static void fill(void *matrix, enum element type)
{
	size_t size = element_size(type);
	double parts[2];

	for (size_t i = 0; i < MATRIX; i++) {
		for (int p = 0; p < 2; p++) {
			seed =
			    seed * 6364136223846793005u + 1442695040888963407u;
			parts[p] = (double)(seed >> 60) - 8;
		}
		element_set((char *)matrix + i * size, type, parts);
	}
}

/* Not every compiler has CMPLX(). */
static double complex complex_of(double real, double imaginary)
{
	union {
		double parts[2];
		double complex number;
	} both = {{real, imaginary}};

	return both.number;
}

static double complex at(const void *matrix, enum element type, int64_t ld,
			 int64_t i, int64_t j)
{
	double parts[2];

	element_get((const char *)matrix +
			(size_t)(j * ld + i) * element_size(type),
		    type, parts);
	return complex_of(parts[0], parts[1]);
}

static double complex op_at(const void *matrix, enum element type, int64_t ld,
			    enum operation op, int64_t i, int64_t j)
{
	double complex found = op == OP_N ? at(matrix, type, ld, i, j)
					  : at(matrix, type, ld, j, i);

	return op == OP_C ? conj(found) : found;
}

static double complex expect_one(const struct gemm *g, const void *c, int64_t i,
				 int64_t j)
{
	double complex alpha = complex_of(g->alpha[0], g->alpha[1]);
	double complex beta = complex_of(g->beta[0], g->beta[1]), sum = 0;

	if (!element_is_complex(g->type_a)) {
		alpha = creal(alpha);
		beta = creal(beta);
	}
	for (int64_t k = 0; alpha != 0 && k < g->k; k++)
		sum += op_at(g->a, g->type_a, g->lda, g->op_a, i, k) *
		       op_at(g->b, g->type_b, g->ldb, g->op_b, k, j);
	sum = sum * alpha;
	return beta == 0 ? sum : sum + beta * at(c, g->type_c, g->ldc, i, j);
}

static _Alignas(16) char a[MATRIX * 16], b[MATRIX * 16], c[MATRIX * 16],
    d[MATRIX * 16];

static void check(struct gemm *g, double tolerance)
{
	memcpy(d, c, sizeof d);
	assert_int_equal(gemm_run(g), 0);
	for (int64_t j = 0; j < MOST; j++) {
		for (int64_t i = 0; i < MOST; i++) {
			double complex is = at(d, g->type_d, g->ldd, i, j);
			bool in = i < g->m && j < g->n;
			double complex should =
			    in ? expect_one(g, c, i, j)
			       : at(c, g->type_c, g->ldc, i, j);
			double off = cabs(is - should);

			assert_true(off <= tolerance * (1 + cabs(should)));
		}
	}
}

static struct gemm product(const struct kind *k, int64_t m, int64_t n,
			   int64_t depth)
{
	fill(a, k->ab);
	fill(b, k->ab);
	fill(c, k->cd);
	return (struct gemm){.m = m,
			     .n = n,
			     .k = depth,
			     .a = a,
			     .b = b,
			     .c = d,
			     .d = d,
			     .lda = MOST,
			     .ldb = MOST,
			     .ldc = MOST,
			     .ldd = MOST,
			     .type_a = k->ab,
			     .type_b = k->ab,
			     .type_c = k->cd,
			     .type_d = k->cd,
			     .compute = k->compute,
			     .alpha = {2, 0},
			     .beta = {-1, 0}};
}

static void all_types_shapes_and_transposes_agree(void **state)
{
	static const int64_t sizes[] = {0, 1, 7, 33};

	(void)state;
	for (size_t i = 0; i < COUNT(kinds); i++) {
		for (int shape = 0; shape < 64; shape++) {
			struct gemm g =
			    product(&kinds[i], sizes[shape & 3],
				    sizes[shape >> 2 & 3], sizes[shape >> 4]);

			g.op_a = (enum operation)(shape % 3);
			g.op_b = (enum operation)(shape / 3 % 3);
			g.alpha[1] = element_is_complex(g.type_a) ? 1 : 0;
			g.beta[1] = element_is_complex(g.type_a) ? -3 : 0;
			check(&g, kinds[i].tolerance);
		}
	}
}

static void write_nan(void *matrix, enum element type)
{
	const double nan[] = {(double)NAN, (double)NAN};

	for (size_t i = 0; i < MATRIX; i++)
		element_set((char *)matrix + i * element_size(type), type, nan);
}

static void with_beta_zero_c_is_not_read(void **state)
{
	(void)state;
	for (size_t i = 0; i < 8; i++) {
		struct gemm g = product(&kinds[i], 5, 6, 7);

		write_nan(d, g.type_d);
		g.beta[0] = 0;
		assert_int_equal(gemm_run(&g), 0);
		assert_false(isnan(creal(at(d, g.type_d, MOST, 4, 5))));
		assert_true(isnan(creal(at(d, g.type_d, MOST, 5, 5))));
	}
}

static void with_alpha_zero_a_and_b_are_not_read(void **state)
{
	(void)state;
	for (size_t i = 0; i < 8; i++) {
		struct gemm g = product(&kinds[i], 5, 6, 7);

		g.alpha[0] = 0;
		g.a = g.b = NULL;
		check(&g, kinds[i].tolerance);
	}
}

static void a_nan_of_a_goes_on_its_row_alone(void **state)
{
	struct gemm g = product(&kinds[0], 5, 6, 7);

	(void)state;
	((float *)(void *)a)[MOST + 2] = NAN;
	memcpy(d, c, sizeof d);
	assert_int_equal(gemm_run(&g), 0);
	for (int64_t i = 0; i < 5; i++)
		assert_int_equal(isnan(creal(at(d, R_32F, MOST, i, 3))) != 0,
				 i == 2);
}

static void the_result_may_lie_elsewhere(void **state)
{
	struct gemm g = product(&kinds[1], 5, 6, 7);

	(void)state;
	g.c = c;
	check(&g, kinds[1].tolerance);
}

static void integers_wrap(void **state)
{
	struct gemm g = product(&kinds[8], 1, 1, 2);
	int32_t is, first = INT32_MAX;

	(void)state;
	memset(a, 1, 2 * MOST);
	memset(b, 1, 2);
	memcpy(d, &first, sizeof first);
	g.alpha[0] = g.beta[0] = 1;
	assert_int_equal(gemm_run(&g), 0);
	memcpy(&is, d, sizeof is);
	assert_int_equal(is, INT32_MIN + 1);
}

static bool stops_at_once(void)
{
	return true;
}

static void what_is_stopped_ends(void **state)
{
	struct gemm g = product(&kinds[0], 5, 6, 7);

	(void)state;
	g.stopped = stops_at_once;
	memcpy(d, c, sizeof d);
	assert_int_equal(gemm_run(&g), 0);
	assert_memory_equal(d, c, sizeof d);
}

static int needs_openblas(void **state)
{
	(void)state;
	return cblas() ? 0 : -1;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(all_types_shapes_and_transposes_agree),
	    cmocka_unit_test(with_beta_zero_c_is_not_read),
	    cmocka_unit_test(with_alpha_zero_a_and_b_are_not_read),
	    cmocka_unit_test(a_nan_of_a_goes_on_its_row_alone),
	    cmocka_unit_test(the_result_may_lie_elsewhere),
	    cmocka_unit_test(integers_wrap),
	    cmocka_unit_test(what_is_stopped_ends),
	};

	return cmocka_run_group_tests(tests, needs_openblas, NULL);
}
