/* SPDX-License-Identifier: Apache-2.0 */
/*
 * planner_test.c - checks how FFTW is used: an intermediate FFTW counts plans,
 * and records the thread in which they were made. This needs no GPU.
 */
#include "fronts/cufft/front.h"

#include "machine/fixture.h"

#include <dlfcn.h>

#define EXPORTED __attribute__((visibility("default")))

static unsigned planned, destroyed;
static pthread_t planner;
static void *real;

EXPORTED void *dlopen(const char *name, int flags)
{
	void *(*next)(const char *, int), *found;

	*(void **)&next = dlsym(RTLD_NEXT, "dlopen");
	found = next(name, flags);
	if (name && strcmp(name, "libfftw3f.so.3"))
		return found;
	real = found;
	return next(NULL, flags); /* this program's functions are found */
}

/* A function of the real FFTW, with the type of its replacement. */
#define REAL(function)                                                         \
	((__typeof__(&fftwf_##function))dlsym(real, "fftwf_" #function))

#define PLAN(name, ...)                                                        \
	EXPORTED void *fftwf_##name(int rank, const void *dims, int many_rank, \
				    const void *many, void *in,                \
				    void *out __VA_ARGS__, unsigned flags);
#define EXECUTE(name)                                                          \
	EXPORTED void fftwf_##name(void *plan, void *in, void *out);           \
	void fftwf_##name(void *plan, void *in, void *out)                     \
	{                                                                      \
		REAL(name)(plan, in, out);                                     \
	}
#define COMMA_SIGN , int sign

PLAN(plan_guru64_dft, COMMA_SIGN)
PLAN(plan_guru64_dft_r2c)
PLAN(plan_guru64_dft_c2r)
EXECUTE(execute_dft)
EXECUTE(execute_dft_r2c)
EXECUTE(execute_dft_c2r)
EXPORTED void fftwf_destroy_plan(void *plan);

void *fftwf_plan_guru64_dft(int rank, const void *dims, int many_rank,
			    const void *many, void *in, void *out, int sign,
			    unsigned flags)
{
	planned++;
	planner = pthread_self();
	return REAL(plan_guru64_dft)(rank, dims, many_rank, many, in, out, sign,
				     flags);
}

void *fftwf_plan_guru64_dft_r2c(int rank, const void *dims, int many_rank,
				const void *many, void *in, void *out,
				unsigned flags)
{
	planned++;
	return REAL(plan_guru64_dft_r2c)(rank, dims, many_rank, many, in, out,
					 flags);
}

void *fftwf_plan_guru64_dft_c2r(int rank, const void *dims, int many_rank,
				const void *many, void *in, void *out,
				unsigned flags)
{
	planned++;
	return REAL(plan_guru64_dft_c2r)(rank, dims, many_rank, many, in, out,
					 flags);
}

void fftwf_destroy_plan(void *plan)
{
	destroyed++;
	REAL(destroy_plan)(plan);
}

static void *memory_of_the_host(struct gpukit_run *run,
				enum gpukit_access access, uint64_t address,
				size_t size)
{
	(void)run, (void)access, (void)size;
	return address == 64 ? NULL : (void *)(uintptr_t)address;
}

/* A transform of `n` numbers in place. */
static struct transform_run run_of(int type, long long n, long long batch,
				   void *at)
{
	struct transform_run run = {.in = (CUdeviceptr)(uintptr_t)at,
				    .out = (CUdeviceptr)(uintptr_t)at};
	const struct request r = {
	    .type = type, .rank = 1, .n = &n, .batch = batch};

	assert_int_equal(transform_make(&r, &run.transform), CUFFT_SUCCESS);
	transform_lay_out(&run.transform, true);
	run.transform.direction = CUFFT_FORWARD;
	return run;
}

static void prepare(struct transform_run *run)
{
	assert_true(fftw_ready(false));
	assert_true(fftw_prepare(&run->transform, run->in, run->out));
}

static void *run_in_thread(void *params)
{
	struct gpukit_run run = {.params = params,
				 .memory = memory_of_the_host};

	return (void *)(uintptr_t)fftw_run(&run);
}

static void run_elsewhere(struct transform_run *run)
{
	pthread_t thread;
	void *result;

	assert_int_equal(pthread_create(&thread, NULL, run_in_thread, run), 0);
	pthread_join(thread, &result);
	assert_null(result); /* CUDA_SUCCESS */
}

static void a_transform_is_planned_once_by_who_asks(void **state)
{
	static float x[16] __attribute__((aligned(64)));
	struct transform_run run = run_of(CUFFT_C2C, 8, 1, x);

	(void)state;
	planned = 0;
	for (int i = 0; i < 3; i++) {
		prepare(&run);
		run_elsewhere(&run);
	}
	assert_int_equal(planned, 1);
	assert_true(pthread_equal(planner, pthread_self()));
}

/*
 * The 64 that were used last are kept; each plan that was made is freed once.
 */
static void plans_that_nobody_used_for_long_are_let_go(void **state)
{
	static float x[2 * 200] __attribute__((aligned(64)));

	(void)state;
	planned = destroyed = 0;
	for (int n = 101; n <= 200; n++) {
		struct transform_run run = run_of(CUFFT_C2C, n, 1, x);

		prepare(&run);
		run_elsewhere(&run);
	}
	assert_int_equal(planned, 100);
	assert_in_range(destroyed, 36, 40);
	for (int n = 200; n > 200 - 64; n--) {
		struct transform_run run = run_of(CUFFT_C2C, n, 1, x);

		prepare(&run);
	}
	assert_int_equal(planned, 100);
}

/* 5 n log2 n between complex numbers, half of that with real ones. */
static void operations_are_counted_as_usual(void **state)
{
	static float x[2 * 8 * 3] __attribute__((aligned(64)));
	static const struct {
		int type;
		uint64_t expected;
	} rows[] = {{CUFFT_C2C, 5 * 8 * 3 * 3}, {CUFFT_R2C, 5 * 8 * 3 * 3 / 2}};

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct transform_run params = run_of(rows[i].type, 8, 3, x);
		struct gpukit_run run = {.params = &params,
					 .memory = memory_of_the_host,
					 .operations = 1000};

		prepare(&params);
		assert_int_equal(fftw_run(&run), CUDA_SUCCESS);
		assert_int_equal(run.operations, 1000 + rows[i].expected);
	}
}

static void memory_that_is_not_there_is_illegal(void **state)
{
	struct transform_run params = run_of(CUFFT_C2C, 8, 1, NULL);
	struct gpukit_run run = {.params = &params,
				 .memory = memory_of_the_host};

	(void)state;
	params.in = params.out = 64;
	prepare(&params);
	assert_int_equal(fftw_run(&run), CUDA_ERROR_ILLEGAL_ADDRESS);
	assert_int_equal(run.operations, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_transform_is_planned_once_by_who_asks),
	    cmocka_unit_test(plans_that_nobody_used_for_long_are_let_go),
	    cmocka_unit_test(operations_are_counted_as_usual),
	    cmocka_unit_test(memory_that_is_not_there_is_illegal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
