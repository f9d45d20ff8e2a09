/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quality_test.c - checks that the numbers of a fixed seed have the
 * distribution they should.
 */
#include "fronts/curand/curand_test.h"

#include <math.h>

enum { N = 1 << 17 };

static const int pseudo[] = {PSEUDO_TYPES};
static const int quasi[] = {
    CURAND_RNG_QUASI_SOBOL32, CURAND_RNG_QUASI_SCRAMBLED_SOBOL32,
    CURAND_RNG_QUASI_SOBOL64, CURAND_RNG_QUASI_SCRAMBLED_SOBOL64};
#define TYPES 8

static int type_of(int i)
{
	return i < 4 ? pseudo[i] : quasi[i - 4];
}

static int by_size(const void *a, const void *b)
{
	const double left = *(const double *)a, right = *(const double *)b;

	return left < right ? -1 : left > right;
}

static double uniform_part(double x)
{
	return x;
}

static double normal_part(double x)
{
	return 0.5 * erfc(-x / sqrt(2));
}

/*
 * Kolmogorov and Smirnov: the largest distance from the distribution; 1 of
 * 10000 seeds exceeds 2.2 / sqrt(n), and this one does not.
 */
static void check_part(double *x, double (*part)(double), int type)
{
	double most = 0;

	qsort(x, N, sizeof *x, by_size);
	for (int i = 0; i < N; i++) {
		double p = part(x[i]);

		most = fmax(most,
			    fmax(p - (double)i / N, (double)(i + 1) / N - p));
	}
	if (!(most < 2.2 / sqrt(N)))
		fail_msg("type %d: distance %g", type, most * sqrt(N));
}

/* Neighbours: their correlation is normal with deviation 1 / sqrt(n). */
static void check_neighbours(const double *x, double mean, double variance)
{
	double sum = 0;

	for (int i = 0; i + 1 < N; i++)
		sum += (x[i] - mean) * (x[i + 1] - mean);
	assert_true(fabs(sum / (N - 1) / variance) < 4.5 / sqrt(N));
}

static void check_moments(const double *x, double mean, double variance)
{
	double sum = 0, squares = 0;

	for (int i = 0; i < N; i++) {
		sum += x[i];
		squares += (x[i] - mean) * (x[i] - mean);
	}
	assert_true(fabs(sum / N - mean) < 4.5 * sqrt(variance / N));
	/* For a normal distribution, whose fourth moment is the larger one. */
	assert_true(fabs(squares / N - variance) <
		    4.5 * variance * sqrt(2.0 / N));
}

static void uniform_numbers_are_uniform(struct fixture *fx)
{
	void *at = device_memory(N * sizeof(double));
	static float f[N];
	static double x[N];

	(void)fx;
	for (int i = 0; i < TYPES; i++) {
		curandGenerator_t g = device_generator(type_of(i));

		assert_rand(RAND(curandGenerateUniform)(g, at, N), SUCCESS);
		download(f, at, sizeof f);
		for (int k = 0; k < N; k++) {
			x[k] = (double)f[k];
			assert_true(f[k] > 0 && f[k] <= 1);
		}
		check_moments(x, 0.5, 1.0 / 12);
		if (i < 4)
			check_neighbours(x, 0.5, 1.0 / 12);
		check_part(x, uniform_part, type_of(i));
		assert_rand(RAND(curandGenerateUniformDouble)(g, at, N),
			    SUCCESS);
		download(x, at, sizeof x);
		check_moments(x, 0.5, 1.0 / 12);
		check_part(x, uniform_part, type_of(i));
		assert_true(x[0] > 0 && x[N - 1] <= 1);
	}
}

/* Every bit is 1 half of the time, within 4.5 deviations of sqrt(n) / 2. */
static void every_bit_is_random(struct fixture *fx)
{
	static unsigned x[N];
	void *at = device_memory(sizeof x);

	(void)fx;
	for (int i = 0; i < 6; i++) {
		int ones[32] = {0};

		assert_rand(
		    RAND(curandGenerate)(device_generator(type_of(i)), at, N),
		    SUCCESS);
		download(x, at, sizeof x);
		for (int k = 0; k < N; k++)
			for (int bit = 0; bit < 32; bit++)
				ones[bit] += x[k] >> bit & 1;
		/* The last bits of Sobol' numbers need more numbers. */
		for (int bit = i < 4 ? 0 : 16; bit < 32; bit++)
			assert_true(abs(ones[bit] - N / 2) < 2.25 * sqrt(N));
	}
}

static void normal_numbers_are_normal(struct fixture *fx)
{
	void *at = device_memory(N * sizeof(double));
	static float f[N];
	static double x[N];

	(void)fx;
	for (int i = 0; i < TYPES; i++) {
		curandGenerator_t g = device_generator(type_of(i));

		assert_rand(RAND(curandGenerateNormal)(g, at, N, 3, 2),
			    SUCCESS);
		download(f, at, sizeof f);
		for (int k = 0; k < N; k++)
			x[k] = ((double)f[k] - 3) / 2;
		check_moments(x, 0, 1);
		if (i < 4)
			check_neighbours(x, 0, 1);
		check_part(x, normal_part, type_of(i));
		assert_rand(RAND(curandGenerateNormalDouble)(g, at, N, -1, 0.5),
			    SUCCESS);
		download(x, at, sizeof x);
		for (int k = 0; k < N; k++)
			x[k] = (x[k] + 1) / 0.5;
		check_moments(x, 0, 1);
		check_part(x, normal_part, type_of(i));
	}
}

static void log_normal_numbers_have_normal_logarithms(struct fixture *fx)
{
	void *at = device_memory(N * sizeof(double));
	static float f[N];
	static double x[N];

	(void)fx;
	for (int i = 0; i < TYPES; i++) {
		curandGenerator_t g = device_generator(type_of(i));

		assert_rand(RAND(curandGenerateLogNormal)(g, at, N, 1, 0.25F),
			    SUCCESS);
		download(f, at, sizeof f);
		for (int k = 0; k < N; k++)
			x[k] = (log((double)f[k]) - 1) / 0.25;
		check_part(x, normal_part, type_of(i));
		assert_rand(
		    RAND(curandGenerateLogNormalDouble)(g, at, N, -2, 1.5),
		    SUCCESS);
		download(x, at, sizeof x);
		for (int k = 0; k < N; k++)
			x[k] = (log(x[k]) + 2) / 1.5;
		check_part(x, normal_part, type_of(i));
	}
}

/*
 * Chi-square over the values of which at least 20 are expected: its deviation
 * is sqrt(2 k).
 */
static void check_poisson(const unsigned *x, double lambda, int type)
{
	enum { MOST = 4096 };
	static unsigned seen[MOST];
	double chi = 0, k = 0, base = floor(lambda) - MOST / 2;

	memset(seen, 0, sizeof seen);
	base = base < 0 ? 0 : base;
	for (int i = 0; i < N; i++)
		if (x[i] >= base && x[i] < base + MOST)
			seen[x[i] - (unsigned)base]++;
	for (int i = 0; i < MOST; i++) {
		double n = base + i;
		double expected =
		    N * exp(n * log(lambda) - lambda - lgamma(n + 1));

		if (expected < 20)
			continue;
		k++;
		chi += (seen[i] - expected) * (seen[i] - expected) / expected;
	}
	if (!(fabs(chi - k) < 4.5 * sqrt(2 * k) || (type >= 200 && chi < k)))
		fail_msg("type %d, lambda %g: chi-square %g of %g", type,
			 lambda, chi, k);
}

static void poisson_numbers_are_poissons(struct fixture *fx)
{
	static const double lambdas[] = {0.1, 1,   7.5,  63,
					 65,  500, 5000, 400000};
	static unsigned x[N];
	void *at = device_memory(sizeof x);

	(void)fx;
	for (int i = 0; i < TYPES; i++)
		for (size_t l = 0; l < sizeof lambdas / sizeof *lambdas; l++) {
			curandGenerator_t g = device_generator(type_of(i));
			double sum = 0;

			assert_rand(
			    RAND(curandGeneratePoisson)(g, at, N, lambdas[l]),
			    SUCCESS);
			download(x, at, sizeof x);
			for (int k = 0; k < N; k++)
				sum += x[k];
			assert_true(fabs(sum / N - lambdas[l]) <
				    4.5 * sqrt(lambdas[l] / N));
			check_poisson(x, lambdas[l], type_of(i));
		}
}

/* 256 points that begin at a multiple of 256: one in each part of an axis. */
static void check_axis(const unsigned long long *x, int bits)
{
	unsigned char seen[256] = {0};

	for (int i = 0; i < 256; i++) {
		unsigned part = (unsigned)(x[i] >> (bits - 8));

		assert_int_equal(seen[part], 0);
		seen[part] = 1;
	}
}

static void sobol_points_part_every_axis_evenly(struct fixture *fx)
{
	enum { DIMENSIONS = 20000, POINTS = 256 };
	unsigned long long *x = malloc(sizeof *x * DIMENSIONS * POINTS);
	unsigned *narrow = (unsigned *)(void *)x;

	(void)fx;
	for (int i = 0; i < 4; i++) {
		curandGenerator_t g = host_generator(quasi[i]);
		size_t n = DIMENSIONS * POINTS;

		assert_rand(RAND(curandSetQuasiRandomGeneratorDimensions)(
				g, DIMENSIONS),
			    SUCCESS);
		assert_rand(RAND(curandSetGeneratorOffset)(g, POINTS * 3),
			    SUCCESS);
		if (i >= 2) {
			assert_rand(RAND(curandGenerateLongLong)(g, x, n),
				    SUCCESS);
		} else {
			assert_rand(RAND(curandGenerate)(g, narrow, n),
				    SUCCESS);
			for (size_t k = n; k-- > 0;)
				x[k] = narrow[k];
		}
		for (size_t d = 0; d < DIMENSIONS; d++)
			check_axis(x + d * POINTS, i >= 2 ? 64 : 32);
		assert_rand(RAND(curandDestroyGenerator)(g), SUCCESS);
	}
	free(x);
}

static const struct alone tests[] = {
    ALONE(uniform_numbers_are_uniform),
    ALONE(every_bit_is_random),
    ALONE(normal_numbers_are_normal),
    ALONE(log_normal_numbers_have_normal_logarithms),
    ALONE(poisson_numbers_are_poissons),
    ALONE(sobol_points_part_every_axis_evenly),
};

ALONE_MAIN(tests)
