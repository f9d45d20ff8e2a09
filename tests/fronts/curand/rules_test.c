/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rules_test.c - checks how generators are made and set, what follows what, and
 * errors.
 */
#include "fronts/curand/curand_test.h"

#include <math.h>
#include <pthread.h>

enum { N = 300000 };

static const int pseudo[] = {PSEUDO_TYPES};

static void a_generator_is_good_until_it_is_destroyed(struct fixture *fx)
{
	curandGenerator_t g = host_generator(CURAND_RNG_PSEUDO_XORWOW);
	unsigned x = 77;

	(void)fx;
	assert_rand(RAND(curandDestroyGenerator)(g), SUCCESS);
	assert_rand(RAND(curandDestroyGenerator)(g), NOT_INITIALIZED);
	assert_rand(RAND(curandDestroyGenerator)(NULL), NOT_INITIALIZED);
	assert_rand(RAND(curandGenerate)(NULL, &x, 1), NOT_INITIALIZED);
	assert_rand(RAND(curandGenerateSeeds)(NULL), NOT_INITIALIZED);
	assert_rand(RAND(curandSetStream)(NULL, NULL), NOT_INITIALIZED);
	assert_rand(RAND(curandSetGeneratorOffset)(NULL, 1), NOT_INITIALIZED);
	assert_rand(RAND(curandSetGeneratorOrdering)(NULL, 101),
		    NOT_INITIALIZED);
	assert_rand(RAND(curandSetPseudoRandomGeneratorSeed)(NULL, 1),
		    NOT_INITIALIZED);
	assert_rand(RAND(curandSetQuasiRandomGeneratorDimensions)(NULL, 1),
		    NOT_INITIALIZED);
	assert_int_equal(x, 77);
}

static void unknown_types_are_errors_and_mtgp32_is_refused(struct fixture *fx)
{
	curandGenerator_t g = (curandGenerator_t)(uintptr_t)77;

	(void)fx;
	assert_rand(RAND(curandCreateGeneratorHost)(&g, 300), TYPE_ERROR);
	assert_rand(RAND(curandCreateGenerator)(&g, 0), TYPE_ERROR);
	assert_rand(RAND(curandCreateGenerator)(&g, CURAND_RNG_PSEUDO_MTGP32),
		    ARCH_MISMATCH);
	assert_rand(
	    RAND(curandCreateGeneratorHost)(&g, CURAND_RNG_PSEUDO_MTGP32),
	    ARCH_MISMATCH);
	assert_int_equal((uintptr_t)g, 77);
	assert_rand(RAND(curandCreateGenerator)(NULL, 101), NOT_INITIALIZED);
}

/* A default type is one of the others. */
static void the_defaults_are_xorwow_and_sobol32(struct fixture *fx)
{
	static const int types[][2] = {
	    {CURAND_RNG_PSEUDO_DEFAULT, CURAND_RNG_PSEUDO_XORWOW},
	    {CURAND_RNG_QUASI_DEFAULT, CURAND_RNG_QUASI_SOBOL32}};
	unsigned x[2][16];

	(void)fx;
	for (int i = 0; i < 2; i++) {
		for (int k = 0; k < 2; k++)
			assert_rand(RAND(curandGenerate)(
					host_generator(types[i][k]), x[k], 16),
				    SUCCESS);
		assert_memory_equal(x[0], x[1], sizeof x[0]);
	}
}

static void settings_are_checked_by_type(struct fixture *fx)
{
	curandGenerator_t xorwow = host_generator(CURAND_RNG_PSEUDO_XORWOW);
	curandGenerator_t philox =
	    host_generator(CURAND_RNG_PSEUDO_PHILOX4_32_10);
	curandGenerator_t device = device_generator(CURAND_RNG_PSEUDO_MRG32K3A);
	curandGenerator_t sobol = host_generator(CURAND_RNG_QUASI_SOBOL32);
	static const struct {
		int order, xorwow, philox, device, sobol;
	} rows[] = {
	    {CURAND_ORDERING_PSEUDO_BEST, 0, 0, 0, 104},
	    {CURAND_ORDERING_PSEUDO_DEFAULT, 0, 0, 0, 104},
	    {CURAND_ORDERING_PSEUDO_SEEDED, 0, 104, 104, 104},
	    {CURAND_ORDERING_PSEUDO_LEGACY, 0, 0, 0, 104},
	    {CURAND_ORDERING_PSEUDO_DYNAMIC, 104, 104, 0, 104},
	    {CURAND_ORDERING_QUASI_DEFAULT, 104, 104, 104, 0},
	    {99, 104, 104, 104, 104},
	};

	(void)fx;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
#define ORDER(g) RAND(curandSetGeneratorOrdering)(g, rows[i].order)
		assert_int_equal(ORDER(xorwow), rows[i].xorwow);
		assert_int_equal(ORDER(philox), rows[i].philox);
		assert_int_equal(ORDER(device), rows[i].device);
		assert_int_equal(ORDER(sobol), rows[i].sobol);
#undef ORDER
	}
	assert_rand(RAND(curandSetPseudoRandomGeneratorSeed)(sobol, 1),
		    TYPE_ERROR);
	assert_rand(RAND(curandSetQuasiRandomGeneratorDimensions)(xorwow, 1),
		    TYPE_ERROR);
	assert_rand(RAND(curandSetQuasiRandomGeneratorDimensions)(sobol, 0),
		    OUT_OF_RANGE);
	assert_rand(RAND(curandSetQuasiRandomGeneratorDimensions)(sobol, 20001),
		    OUT_OF_RANGE);
	assert_rand(RAND(curandSetQuasiRandomGeneratorDimensions)(sobol, 20000),
		    SUCCESS);
	assert_rand(RAND(curandSetGeneratorOffset)(
			host_generator(CURAND_RNG_PSEUDO_MT19937), 1),
		    TYPE_ERROR);
}

static void counts_and_lambdas_are_checked(struct fixture *fx)
{
	static const double bad[] = {0, -1, 400001, (double)NAN};
	double x[6] = {77, 77, 77, 77, 77, 77};
	float *f = (float *)x;
	unsigned *u = (unsigned *)x;
	unsigned long long *w = (unsigned long long *)x;
	curandGenerator_t g, sobol = host_generator(CURAND_RNG_QUASI_SOBOL32);

	(void)fx;
	for (int i = 0; i < 2; i++) { /* for those that make numbers in pairs */
		g = host_generator(pseudo[i]);
		assert_rand(RAND(curandGenerateNormal)(g, f, 3, 0, 1),
			    LENGTH_NOT_MULTIPLE);
		assert_rand(RAND(curandGenerateNormalDouble)(g, x, 3, 0, 1),
			    LENGTH_NOT_MULTIPLE);
		assert_rand(RAND(curandGenerateLogNormal)(g, f, 1, 0, 1),
			    LENGTH_NOT_MULTIPLE);
		assert_rand(RAND(curandGenerateLogNormalDouble)(g, x, 1, 0, 1),
			    LENGTH_NOT_MULTIPLE);
		assert_rand(RAND(curandGenerateLongLong)(g, w, 1), TYPE_ERROR);
		for (size_t k = 0; k < sizeof bad / sizeof *bad; k++)
			assert_rand(
			    RAND(curandGeneratePoisson)(g, u, 1, bad[k]),
			    OUT_OF_RANGE);
		assert_rand(RAND(curandGenerate)(g, NULL, 1), OUT_OF_RANGE);
		assert_rand(RAND(curandGenerate)(g, NULL, 0), SUCCESS);
	}
	assert_rand(RAND(curandSetQuasiRandomGeneratorDimensions)(sobol, 3),
		    SUCCESS);
	assert_rand(RAND(curandGenerate)(sobol, u, 4), LENGTH_NOT_MULTIPLE);
	assert_rand(RAND(curandGenerateUniform)(sobol, f, 5),
		    LENGTH_NOT_MULTIPLE);
	assert_rand(RAND(curandGenerateLongLong)(sobol, w, 3), TYPE_ERROR);
	assert_rand(RAND(curandGenerate)(
			host_generator(CURAND_RNG_QUASI_SOBOL64), u, 3),
		    TYPE_ERROR);
	for (int i = 0; i < 6; i++)
		assert_true(x[i] == 77);
}

/* All `n` numbers in one call. */
static unsigned *numbers(curandGenerator_t g, size_t n)
{
	unsigned *x = malloc(n * sizeof *x);

	assert_rand(RAND(curandGenerate)(g, x, n), SUCCESS);
	return x;
}

static void parts_are_the_same_as_the_whole(struct fixture *fx)
{
	static const size_t parts[] = {1, 2, 3, 4095, 4096, 7, 81921, 100000};

	(void)fx;
	for (int i = 0; i < 4; i++) {
		unsigned *whole = numbers(host_generator(pseudo[i]), N), *part;
		curandGenerator_t g = host_generator(pseudo[i]);
		size_t at = 0;

		for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
			part = numbers(g, parts[k]);
			assert_memory_equal(part, whole + at,
					    parts[k] * sizeof *part);
			at += parts[k];
			free(part);
		}
		free(whole);
	}
}

static void an_offset_leaves_out_as_many_numbers(struct fixture *fx)
{
	static const unsigned offsets[] = {0, 1, 3, 4, 4099, 81925, 262150};

	(void)fx;
	for (int i = 0; i < 3; i++) {
		unsigned *whole = numbers(host_generator(pseudo[i]), N), *rest;
		curandGenerator_t g = host_generator(pseudo[i]);

		for (size_t k = 0; k < sizeof offsets / sizeof *offsets; k++) {
			assert_rand(
			    RAND(curandSetGeneratorOffset)(g, offsets[k]),
			    SUCCESS);
			rest = numbers(g, 1000);
			assert_memory_equal(rest, whole + offsets[k],
					    1000 * sizeof *rest);
			free(rest);
		}
		free(whole);
	}
}

/* Far offsets are sums of near ones: 2^40 + 8192 follows 2^40. */
static void far_offsets_lead_to_each_other(struct fixture *fx)
{
	(void)fx;
	for (int i = 0; i < 3; i++) {
		curandGenerator_t g = host_generator(pseudo[i]);
		unsigned *whole, *rest;

		assert_rand(RAND(curandSetGeneratorOffset)(g, 1ULL << 40),
			    SUCCESS);
		whole = numbers(g, N);
		assert_rand(
		    RAND(curandSetGeneratorOffset)(g, (1ULL << 40) + 262145),
		    SUCCESS);
		rest = numbers(g, 100);
		assert_memory_equal(rest, whole + 262145, 100 * sizeof *rest);
		free(whole), free(rest);
	}
}

static void quasirandom_points_follow_each_other(struct fixture *fx)
{
	unsigned x[30], y[15], z[15];
	curandGenerator_t g =
	    host_generator(CURAND_RNG_QUASI_SCRAMBLED_SOBOL32);

	(void)fx;
	assert_rand(RAND(curandSetQuasiRandomGeneratorDimensions)(g, 3),
		    SUCCESS);
	assert_rand(RAND(curandGenerate)(g, x, 30), SUCCESS);
	assert_rand(RAND(curandSetGeneratorOffset)(g, 0), SUCCESS);
	assert_rand(RAND(curandGenerate)(g, y, 15), SUCCESS);
	assert_rand(RAND(curandGenerate)(g, z, 15), SUCCESS);
	for (size_t d = 0; d < 3; d++) {
		assert_memory_equal(y + 5 * d, x + 10 * d, 5 * sizeof *x);
		assert_memory_equal(z + 5 * d, x + 10 * d + 5, 5 * sizeof *x);
	}
}

static void a_seed_begins_anew_and_another_gives_others(struct fixture *fx)
{
	enum { SHORT = 1000 };

	(void)fx;
	for (int i = 0; i < 4; i++) {
		curandGenerator_t g = host_generator(pseudo[i]);
		unsigned *first = numbers(g, SHORT), *other, *again;
		int same = 0;

		assert_rand(RAND(curandSetPseudoRandomGeneratorSeed)(g, 1),
			    SUCCESS);
		other = numbers(g, SHORT);
		assert_rand(RAND(curandSetPseudoRandomGeneratorSeed)(g, 0),
			    SUCCESS);
		again = numbers(g, SHORT);
		assert_memory_equal(first, again, SHORT * sizeof *first);
		for (int k = 0; k < SHORT; k++)
			same += first[k] == other[k];
		assert_true(same < 3);
		free(first), free(other), free(again);
	}
}

/* Seeded ordering shares only the first subsequence with the others. */
static void orderings_differ(struct fixture *fx)
{
	curandGenerator_t g = host_generator(CURAND_RNG_PSEUDO_XORWOW);
	unsigned x[64], y[64];
	int same = 0;

	(void)fx;
	assert_rand(RAND(curandGenerate)(g, x, 64), SUCCESS);
	assert_rand(
	    RAND(curandSetGeneratorOrdering)(g, CURAND_ORDERING_PSEUDO_SEEDED),
	    SUCCESS);
	assert_rand(RAND(curandGenerate)(g, y, 64), SUCCESS);
	for (int i = 0; i < 64; i++)
		same += x[i] == y[i];
	assert_int_equal(same, 1);
	assert_int_equal(x[0], y[0]);
}

/* On a stream, in two calls, with settings in between. */
static void a_device_generates_what_the_host_does(struct fixture *fx)
{
	enum { SHORT = 10000 };
	static float x[SHORT], y[SHORT];
	float *at = device_memory(sizeof x);
	CUstream s;

	(void)fx;
	assert_cuda(CU(cuStreamCreate)(&s, CU_STREAM_NON_BLOCKING), SUCCESS);
	for (int i = 0; i < 4; i++) {
		curandGenerator_t device = device_generator(pseudo[i]);
		curandGenerator_t host = host_generator(pseudo[i]);

		assert_rand(RAND(curandSetStream)(device, s), SUCCESS);
		assert_rand(RAND(curandGenerateSeeds)(device), SUCCESS);
		assert_rand(RAND(curandGenerateNormal)(device, at, 500, 1, 2),
			    SUCCESS);
		assert_rand(RAND(curandGenerateUniform)(device, at + 500, 500),
			    SUCCESS);
		assert_rand(RAND(curandSetPseudoRandomGeneratorSeed)(device, 9),
			    SUCCESS);
		assert_rand(RAND(curandGenerateUniform)(device, at + 1000,
							SHORT - 1000),
			    SUCCESS);
		assert_cuda(CU(cuStreamSynchronize)(s), SUCCESS);
		download(x, at, sizeof x);
		assert_rand(RAND(curandGenerateNormal)(host, y, 500, 1, 2),
			    SUCCESS);
		assert_rand(RAND(curandGenerateUniform)(host, y + 500, 500),
			    SUCCESS);
		assert_rand(RAND(curandSetPseudoRandomGeneratorSeed)(host, 9),
			    SUCCESS);
		assert_rand(
		    RAND(curandGenerateUniform)(host, y + 1000, SHORT - 1000),
		    SUCCESS);
		assert_memory_equal(x, y, sizeof x);
	}
}

/* As on a GPU, where the kernel changes the state in memory. */
static void a_graph_goes_on_with_the_sequence(struct fixture *fx)
{
	unsigned x[24], *at = device_memory(sizeof x), *whole;
	curandGenerator_t g = device_generator(CURAND_RNG_PSEUDO_XORWOW);
	CUgraph graph;
	CUgraphExec exec;
	CUstream s;

	(void)fx;
	assert_cuda(CU(cuStreamCreate)(&s, CU_STREAM_NON_BLOCKING), SUCCESS);
	assert_rand(RAND(curandSetStream)(g, s), SUCCESS);
	assert_cuda(
	    CU(cuStreamBeginCapture_v2)(s, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL),
	    SUCCESS);
	assert_rand(RAND(curandGenerate)(g, at, 8), SUCCESS);
	assert_cuda(CU(cuStreamEndCapture)(s, &graph), SUCCESS);
	assert_cuda(CU(cuGraphInstantiateWithFlags)(&exec, graph, 0), SUCCESS);
	for (int i = 0; i < 3; i++) {
		assert_cuda(CU(cuGraphLaunch)(exec, s), SUCCESS);
		assert_cuda(CU(cuStreamSynchronize)(s), SUCCESS);
		download(x + (size_t)i * 8, at, 8 * sizeof *x);
	}
	whole = numbers(host_generator(CURAND_RNG_PSEUDO_XORWOW), 24);
	assert_memory_equal(x, whole, sizeof x);
	free(whole);
}

static void *destroy_in_thread(void *g)
{
	CUcontext ctx;

	assert_rand(RAND(curandDestroyGenerator)(g), SUCCESS);
	assert_cuda(CU(cuCtxGetCurrent)(&ctx), SUCCESS);
	assert_null(ctx);
	return NULL;
}

/* A thread without a context also waits for what was queued. */
static void a_destroyed_generator_has_done_its_work(struct fixture *fx)
{
	enum { MANY = 1 << 20 };
	unsigned x = 0, *at = device_memory(MANY * sizeof x);
	curandGenerator_t g = device_generator(CURAND_RNG_PSEUDO_XORWOW);
	pthread_t thread;

	(void)fx;
	for (int i = 0; i < 5; i++)
		assert_rand(RAND(curandGenerate)(g, at, MANY), SUCCESS);
	assert_int_equal(pthread_create(&thread, NULL, destroy_in_thread, g),
			 0);
	pthread_join(thread, NULL);
	assert_cuda(CU(cuCtxSynchronize)(), SUCCESS);
	download(&x, at, sizeof x);
	assert_int_not_equal(x, 0);
}

static void a_number_beyond_its_memory_is_illegal(struct fixture *fx)
{
	size_t size = 2 << 20;
	char *at = device_memory(size);
	curandGenerator_t g = device_generator(CURAND_RNG_PSEUDO_XORWOW);
	double *last = (double *)(void *)(at + size - 8);

	(void)fx;
	assert_rand(RAND(curandGenerateUniformDouble)(g, last, 1), SUCCESS);
	assert_cuda(CU(cuCtxSynchronize)(), SUCCESS);
	assert_rand(RAND(curandGenerateUniformDouble)(g, last, 2), SUCCESS);
	assert_cuda(CU(cuCtxSynchronize)(), ERROR_ILLEGAL_ADDRESS);
	assert_rand(RAND(curandGenerateUniformDouble)(g, last, 1),
		    PREEXISTING_FAILURE);
}

static void
more_numbers_than_there_are_addresses_are_illegal(struct fixture *fx)
{
	unsigned *at = device_memory(64);
	curandGenerator_t g = device_generator(CURAND_RNG_PSEUDO_XORWOW);

	(void)fx;
	/* With four bytes each: 2^64 in all, which is 0 in 64 bits. */
	assert_rand(RAND(curandGenerate)(g, at, (size_t)1 << 62), SUCCESS);
	assert_cuda(CU(cuCtxSynchronize)(), ERROR_ILLEGAL_ADDRESS);
}

static void half_a_number_off_is_misaligned(struct fixture *fx)
{
	char *at = device_memory(64);
	curandGenerator_t g = device_generator(CURAND_RNG_PSEUDO_XORWOW);

	(void)fx;
	assert_rand(
	    RAND(curandGenerateUniformDouble)(g, (double *)(void *)(at + 4), 1),
	    SUCCESS);
	assert_cuda(CU(cuCtxSynchronize)(), ERROR_MISALIGNED_ADDRESS);
}

static void tables_are_the_same_at_each_call(struct fixture *fx)
{
	unsigned(*first)[32], (*again)[32], *constants;
	unsigned long long(*wide)[64], *long_constants;

	(void)fx;
	for (int set = 101; set <= 102; set++) {
		assert_rand(RAND(curandGetDirectionVectors32)(&first, set),
			    SUCCESS);
		assert_rand(RAND(curandGetDirectionVectors32)(&again, set),
			    SUCCESS);
		assert_ptr_equal(first, again);
		assert_rand(RAND(curandGetDirectionVectors64)(&wide, set + 2),
			    SUCCESS);
		/*
		 * The first bit of a number depends only on the index's first
		 * bit.
		 */
		for (int d = 0; d < 20000; d++) {
			assert_int_equal(first[d][0] >> 31, 1);
			assert_true(wide[d][0] >> 63);
		}
	}
	assert_rand(RAND(curandGetDirectionVectors32)(&first, 103),
		    OUT_OF_RANGE);
	assert_rand(RAND(curandGetDirectionVectors64)(&wide, 102),
		    OUT_OF_RANGE);
	assert_rand(RAND(curandGetScrambleConstants32)(&constants), SUCCESS);
	assert_rand(RAND(curandGetScrambleConstants64)(&long_constants),
		    SUCCESS);
	assert_int_not_equal(constants[0], constants[19999]);
	assert_true(long_constants[0] != long_constants[19999]);
}

/* The first point of a scrambled sequence is its constant. */
static void constants_belong_to_scrambled_generators(struct fixture *fx)
{
	unsigned *constants, x[2];
	unsigned long long *wide, y[2];
	curandGenerator_t g =
	    host_generator(CURAND_RNG_QUASI_SCRAMBLED_SOBOL32);

	(void)fx;
	assert_rand(RAND(curandGetScrambleConstants32)(&constants), SUCCESS);
	assert_rand(RAND(curandSetQuasiRandomGeneratorDimensions)(g, 2),
		    SUCCESS);
	assert_rand(RAND(curandGenerate)(g, x, 2), SUCCESS);
	assert_memory_equal(x, constants, sizeof x);
	g = host_generator(CURAND_RNG_QUASI_SCRAMBLED_SOBOL64);
	assert_rand(RAND(curandGetScrambleConstants64)(&wide), SUCCESS);
	assert_rand(RAND(curandSetQuasiRandomGeneratorDimensions)(g, 2),
		    SUCCESS);
	assert_rand(RAND(curandGenerateLongLong)(g, y, 2), SUCCESS);
	assert_memory_equal(y, wide, sizeof y);
}

/* As the original answers. */
static void the_version_is_that_of_the_original(struct fixture *fx)
{
	static const int expected[] = {10, 4, 0};
	int value = -7;

	(void)fx;
	assert_rand(RAND(curandGetVersion)(&value), SUCCESS);
	assert_int_equal(value, 10400);
	for (int i = 0; i < 3; i++) {
		assert_rand(RAND(curandGetProperty)(i, &value), SUCCESS);
		assert_int_equal(value, expected[i]);
	}
	assert_rand(RAND(curandGetProperty)(-1, &value), OUT_OF_RANGE);
	assert_rand(RAND(curandGetProperty)(3, &value), OUT_OF_RANGE);
	assert_int_equal(value, 0);
}

static const struct alone tests[] = {
    ALONE(a_generator_is_good_until_it_is_destroyed),
    ALONE(unknown_types_are_errors_and_mtgp32_is_refused),
    ALONE(the_defaults_are_xorwow_and_sobol32),
    ALONE(settings_are_checked_by_type),
    ALONE(counts_and_lambdas_are_checked),
    ALONE(parts_are_the_same_as_the_whole),
    ALONE(an_offset_leaves_out_as_many_numbers),
    ALONE(far_offsets_lead_to_each_other),
    ALONE(quasirandom_points_follow_each_other),
    ALONE(a_seed_begins_anew_and_another_gives_others),
    ALONE(orderings_differ),
    ALONE(a_device_generates_what_the_host_does),
    ALONE(a_graph_goes_on_with_the_sequence),
    ALONE(a_destroyed_generator_has_done_its_work),
    ALONE(a_number_beyond_its_memory_is_illegal),
    ALONE(more_numbers_than_there_are_addresses_are_illegal),
    ALONE(half_a_number_off_is_misaligned),
    ALONE(tables_are_the_same_at_each_call),
    ALONE(constants_belong_to_scrambled_generators),
    ALONE(the_version_is_that_of_the_original),
};

ALONE_MAIN(tests)
