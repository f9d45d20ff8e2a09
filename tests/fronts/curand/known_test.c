/* SPDX-License-Identifier: Apache-2.0 */
/*
 * known_test.c - checks published answers, and what NVIDIA's library was seen
 * to return.
 */
#include "fronts/curand/curand_test.h"

#include "fronts/curand/ring.h"

#include <math.h>

static void generate(curandGenerator_t g, unsigned *to, size_t n)
{
	assert_rand(RAND(curandGenerate)(g, to, n), SUCCESS);
}

static void seed(curandGenerator_t g, unsigned long long value)
{
	assert_rand(RAND(curandSetPseudoRandomGeneratorSeed)(g, value),
		    SUCCESS);
}

/* The three rows for philox4x32-10 among its known answers. */
static void philox_has_the_answers_of_random123(struct fixture *fx)
{
	static const struct {
		uint32_t counter[4], key[2], expected[4];
	} rows[] = {
	    {{0, 0, 0, 0},
	     {0, 0},
	     {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
	    {{~0U, ~0U, ~0U, ~0U},
	     {~0U, ~0U},
	     {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
	    {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
	     {0xa4093822, 0x299f31d0},
	     {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
	};
	uint32_t out[4];

	(void)fx;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		philox_block(rows[i].counter, rows[i].key, out);
		assert_memory_equal(out, rows[i].expected, sizeof out);
	}
}

/* Four numbers from each of 65536 subsequences, then the next four. */
static void philox_numbers_go_round_its_subsequences(struct fixture *fx)
{
	enum { ROUND = 4 * 65536 };
	const uint32_t key[] = {0x89abcdef, 0x01234567};
	unsigned *x = malloc((ROUND + 8) * sizeof *x);
	curandGenerator_t g = host_generator(CURAND_RNG_PSEUDO_PHILOX4_32_10);
	uint32_t expected[4];

	(void)fx;
	seed(g, 0x0123456789abcdef);
	generate(g, x, ROUND + 8);
	for (uint32_t i = 0; i < ROUND + 8; i += 4) {
		const uint32_t counter[] = {i / ROUND, 0, i / 4 % 65536, 0};

		philox_block(counter, key, expected);
		assert_memory_equal(x + i, expected, sizeof expected);
	}
	free(x);
}

/*
 * The first numbers of L'Ecuyer's package RngStreams, whose seeds are also
 * 12345; it divides by m1 + 1 where cuRAND divides by m1.
 */
static void mrg32k3a_has_the_numbers_of_rngstreams(struct fixture *fx)
{
	static const double expected[] = {0.1270111220, 0.3185275654,
					  0.3091860155, 0.8258468629,
					  0.2216299157};
	enum { ENGINES = 4096, N = 5 * ENGINES };
	static double x[N];
	curandGenerator_t g = host_generator(CURAND_RNG_PSEUDO_MRG32K3A);

	(void)fx;
	assert_rand(
	    RAND(curandSetGeneratorOrdering)(g, CURAND_ORDERING_PSEUDO_LEGACY),
	    SUCCESS);
	assert_rand(RAND(curandGenerateUniformDouble)(g, x, N), SUCCESS);
	for (int i = 0; i < 5; i++)
		assert_true(
		    fabs(x[(size_t)i * ENGINES] * 4294967087 / 4294967088 -
			 expected[i]) < 1e-10);
}

/* The 10000th number is in the C++ standard. */
static void mt19937_has_the_number_of_the_standard(struct fixture *fx)
{
	static unsigned x[10000];
	curandGenerator_t g = host_generator(CURAND_RNG_PSEUDO_MT19937);

	(void)fx;
	seed(g, 5489);
	generate(g, x, 10000);
	assert_int_equal(x[9999], 4123659995);
}

/* As Python's random.Random(2**32 + 5).getrandbits(32) returns them. */
static void mt19937_takes_long_seeds(struct fixture *fx)
{
	static const unsigned expected[] = {675479763, 2085189291, 1213270837};
	unsigned x[3];
	curandGenerator_t g = host_generator(CURAND_RNG_PSEUDO_MT19937);

	(void)fx;
	seed(g, (1ULL << 32) + 5);
	generate(g, x, 3);
	assert_memory_equal(x, expected, sizeof x);
}

/* What curandGenerate of NVIDIA's release 10.4.0 returns for seed 0. */
static void xorwow_and_mrg32k3a_begin_as_nvidias_do(struct fixture *fx)
{
	static const unsigned xorwow[] = {0xbd7f03b6, 0xebc63fb7, 0x09fd3f29,
					  0xf80df3fd, 0xecd6032e, 0x7244003b,
					  0xaad56dc0, 0x1c246aca};
	static const unsigned mrg[] = {0x2083cd07, 0x14537e00, 0x43115831,
				       0x80d28544, 0xf132d19e, 0xab8caf71,
				       0x7f700c9c, 0x6b0ccb1b};
	static unsigned x[4098];

	(void)fx;
	generate(host_generator(CURAND_RNG_PSEUDO_XORWOW), x, 4098);
	assert_memory_equal(x, xorwow, sizeof xorwow);
	assert_int_equal(x[4096], 0x703e556d);
	assert_int_equal(x[4097], 0x75da7152);
	generate(host_generator(CURAND_RNG_PSEUDO_MRG32K3A), x, 4098);
	assert_memory_equal(x, mrg, sizeof mrg);
	assert_int_equal(x[4096], 0x73f6b003);
}

/* Marsaglia's step, repeated from the state of the seed. */
static void xorwow_goes_the_steps_of_its_paper(struct fixture *fx)
{
	enum { ENGINES = 4096, STEPS = 50 };
	static unsigned out[ENGINES * STEPS];
	unsigned a = 1099087573U * (7 ^ 0xaad26b49U);
	unsigned b = 2591861531U * 0xf7dcefddU;
	unsigned x = 123456789 + a, y = 362436069 ^ a, z = 521288629 + b;
	unsigned w = 88675123 ^ b, v = 5783321 + a, d = 6615241 + a + b;
	curandGenerator_t g = host_generator(CURAND_RNG_PSEUDO_XORWOW);

	(void)fx;
	seed(g, 7);
	generate(g, out, ENGINES * STEPS);
	for (int i = 0; i < STEPS; i++) {
		unsigned t = x ^ (x >> 2);

		x = y, y = z, z = w, w = v;
		v = (v ^ (v << 4)) ^ (t ^ (t << 1));
		d += 362437;
		assert_int_equal(out[i * ENGINES], d + v);
	}
}

/* The table's first lines, as Joe and Kuo print them: m(1), m(2) ... */
static void sobol_vectors_are_joe_and_kuos(struct fixture *fx)
{
	static const unsigned m[][6] = {
	    {1},
	    {1, 3},
	    {1, 3, 1},
	    {1, 1, 1},
	    {1, 1, 3, 3},
	    {1, 3, 5, 13},
	    {1, 1, 5, 5, 17},
	    {1, 1, 5, 5, 5},
	    {1, 1, 7, 11, 19},
	};
	unsigned(*v32)[32];
	unsigned long long(*v64)[64];

	(void)fx;
	assert_rand(RAND(curandGetDirectionVectors32)(
			&v32, CURAND_DIRECTION_VECTORS_32_JOEKUO6),
		    SUCCESS);
	assert_rand(RAND(curandGetDirectionVectors64)(
			&v64, CURAND_DIRECTION_VECTORS_64_JOEKUO6),
		    SUCCESS);
	for (size_t d = 0; d < sizeof m / sizeof *m; d++)
		for (int i = 0; i < 6 && m[d][i]; i++) {
			assert_int_equal(v32[d + 1][i], m[d][i] << (31 - i));
			assert_true(v64[d + 1][i] == (unsigned long long)m[d][i]
							 << (63 - i));
		}
	for (int i = 0; i < 32; i++)
		assert_int_equal(v32[0][i], 1U << (31 - i));
	/* The polynomial of dimension 3 is x^2 + x + 1: m(3) = 2 m(2) ^ 4 m(1)
	 * ^ m(1) = 6 ^ 4 ^ 1, m(4) = 2 m(3) ^ 4 m(2) ^ m(2) = 6 ^ 12 ^ 3. */
	assert_int_equal(v32[2][2] >> 29, 3);
	assert_int_equal(v32[2][3] >> 28, 9);
}

/* Points in Gray code order, one dimension after the other. */
static void sobol_points_are_the_first_of_the_sequence(struct fixture *fx)
{
	static const float expected[] = {0, 0.5F, 0.75F, 0.25F,
					 0, 0.5F, 0.25F, 0.75F,
					 0, 0.5F, 0.25F, 0.75F};
	float x[12];
	curandGenerator_t g = host_generator(CURAND_RNG_QUASI_SOBOL32);

	(void)fx;
	assert_rand(RAND(curandSetQuasiRandomGeneratorDimensions)(g, 3),
		    SUCCESS);
	assert_rand(RAND(curandGenerateUniform)(g, x, 12), SUCCESS);
	for (int i = 0; i < 12; i++)
		assert_true(fabsf(x[i] - expected[i]) < 1e-9F);
}

static const struct alone tests[] = {
    ALONE(philox_has_the_answers_of_random123),
    ALONE(philox_numbers_go_round_its_subsequences),
    ALONE(mrg32k3a_has_the_numbers_of_rngstreams),
    ALONE(mt19937_has_the_number_of_the_standard),
    ALONE(mt19937_takes_long_seeds),
    ALONE(xorwow_and_mrg32k3a_begin_as_nvidias_do),
    ALONE(xorwow_goes_the_steps_of_its_paper),
    ALONE(sobol_vectors_are_joe_and_kuos),
    ALONE(sobol_points_are_the_first_of_the_sequence),
};

ALONE_MAIN(tests)
