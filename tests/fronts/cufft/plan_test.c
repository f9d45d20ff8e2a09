/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan_test.c - checks how plans are made, set and destroyed, and errors in
 * parameters.
 */
#include "fronts/cufft/cufft_test.h"

#include <math.h>

#define ROW CUFFT_C2C

static cufftHandle row_plan(int n)
{
	cufftHandle plan;

	assert_fft(FFT(cufftPlan1d)(&plan, n, ROW, 1), SUCCESS);
	return plan;
}

static CUdeviceptr memory(size_t size)
{
	CUdeviceptr at;

	begin();
	assert_cuda(CU(cuMemAlloc_v2)(&at, size), SUCCESS);
	return at;
}

static cufftResult forward(cufftHandle plan, CUdeviceptr in, CUdeviceptr out)
{
	return FFT(cufftExecC2C)(plan, (void *)(uintptr_t)in,
				 (void *)(uintptr_t)out, CUFFT_FORWARD);
}

static void a_context_comes_with_the_first_plan(struct fixture *fx)
{
	cufftHandle plan = -5;
	CUcontext ctx;

	(void)fx;
	assert_fft(FFT(cufftCreate)(&plan), SUCCESS);
	assert_true(plan > 0);
	assert_cuda(CU(cuCtxGetCurrent)(&ctx), SUCCESS);
	assert_non_null(ctx);
	assert_fft(FFT(cufftDestroy)(plan), SUCCESS);
}

static void a_handle_is_good_until_it_is_destroyed(struct fixture *fx)
{
	cufftHandle first = row_plan(4), second = row_plan(4);
	size_t size = 5;

	(void)fx;
	assert_int_not_equal(first, second);
	assert_fft(FFT(cufftGetSize)(first, &size), SUCCESS);
	assert_fft(FFT(cufftDestroy)(first), SUCCESS);
	assert_fft(FFT(cufftDestroy)(first), INVALID_PLAN);
	assert_fft(FFT(cufftGetSize)(first, &size), INVALID_PLAN);
	assert_fft(FFT(cufftSetStream)(first, NULL), INVALID_PLAN);
	assert_fft(FFT(cufftSetWorkArea)(first, NULL), INVALID_PLAN);
	assert_fft(FFT(cufftSetAutoAllocation)(first, 0), INVALID_PLAN);
	assert_fft(FFT(cufftDestroy)(-1), INVALID_PLAN);
	assert_fft(FFT(cufftDestroy)(0), INVALID_PLAN);
	assert_fft(FFT(cufftGetSize)(second, &size), SUCCESS);
}

static void a_thousand_plans_live_at_once(struct fixture *fx)
{
	cufftHandle plans[1000];

	(void)fx;
	for (int i = 0; i < 1000; i++)
		plans[i] = row_plan(i + 1);
	for (int i = 0; i < 1000; i++)
		assert_fft(FFT(cufftDestroy)(plans[i]), SUCCESS);
}

static void a_plan_is_made_once(struct fixture *fx)
{
	cufftHandle plan;
	size_t size = 77;

	(void)fx;
	assert_fft(FFT(cufftCreate)(&plan), SUCCESS);
	assert_fft(FFT(cufftGetSize)(plan, &size), INVALID_PLAN);
	assert_fft(forward(plan, 64, 64), INVALID_PLAN);
	assert_fft(FFT(cufftXtExec)(plan, &size, &size, CUFFT_FORWARD),
		   INVALID_PLAN);
	assert_int_equal(size, 77);
	assert_fft(FFT(cufftMakePlan1d)(plan, 8, ROW, 1, &size), SUCCESS);
	assert_int_equal(size, 0);
	assert_fft(FFT(cufftMakePlan1d)(plan, 8, ROW, 1, &size), INVALID_PLAN);
	assert_fft(FFT(cufftMakePlan2d)(plan, 8, 8, ROW, &size), INVALID_PLAN);
	assert_fft(FFT(cufftMakePlan3d)(plan, 8, 8, 8, ROW, &size),
		   INVALID_PLAN);
}

static void a_plan_that_fails_leaves_the_handle_alone(struct fixture *fx)
{
	cufftHandle plan = -9;

	(void)fx;
	assert_fft(FFT(cufftPlan1d)(&plan, 0, ROW, 1), INVALID_SIZE);
	assert_fft(FFT(cufftPlan1d)(&plan, -3, ROW, 1), INVALID_SIZE);
	assert_fft(FFT(cufftPlan1d)(&plan, 8, ROW, 0), INVALID_SIZE);
	assert_fft(FFT(cufftPlan1d)(&plan, 8, 0x30, 1), INVALID_VALUE);
	assert_fft(FFT(cufftPlan2d)(&plan, 8, 0, ROW), INVALID_SIZE);
	assert_fft(FFT(cufftPlan2d)(&plan, 0, 8, ROW), INVALID_SIZE);
	assert_fft(FFT(cufftPlan3d)(&plan, 8, 8, -1, ROW), INVALID_SIZE);
	assert_fft(
	    FFT(cufftPlan3d)(&plan, 2147483647, 2147483647, 2147483647, ROW),
	    INVALID_SIZE);
	assert_int_equal(plan, -9);
	assert_fft(FFT(cufftCreate)(NULL), INVALID_VALUE);
	assert_fft(FFT(cufftPlan1d)(NULL, 8, ROW, 1), INVALID_VALUE);
	assert_fft(FFT(cufftPlan3d)(NULL, 8, 8, 8, ROW), INVALID_VALUE);
}

static void layouts_are_checked(struct fixture *fx)
{
	int n[] = {4, 4}, embed[] = {4, 4}, none[] = {4, 0};
	cufftHandle plan;

	(void)fx;
#define MANY(rank, n, in, is, id, on, os, od)                                  \
	FFT(cufftPlanMany)(&plan, rank, n, in, is, id, on, os, od, ROW, 2)
	assert_fft(MANY(0, n, NULL, 1, 1, NULL, 1, 1), INVALID_VALUE);
	assert_fft(MANY(4, n, NULL, 1, 1, NULL, 1, 1), INVALID_VALUE);
	assert_fft(MANY(2, NULL, NULL, 1, 1, NULL, 1, 1), INVALID_VALUE);
	assert_fft(MANY(2, n, embed, 0, 16, embed, 1, 16), INVALID_VALUE);
	assert_fft(MANY(2, n, embed, 1, 16, embed, -1, 16), INVALID_VALUE);
	assert_fft(MANY(2, n, embed, 1, -1, embed, 1, 16), INVALID_VALUE);
	assert_fft(MANY(2, n, none, 1, 16, embed, 1, 16), INVALID_VALUE);
	assert_fft(MANY(2, n, embed, 1, 16, none, 1, 16), INVALID_VALUE);
	/* If one is missing, the other has no meaning. */
	assert_fft(MANY(2, n, NULL, 0, -1, none, 0, -1), SUCCESS);
	assert_fft(MANY(2, n, embed, 1, 16, embed, 1, 16), SUCCESS);
#undef MANY
}

static void sizes_can_be_asked_before(struct fixture *fx)
{
	long long n[] = {4, 6}, huge[] = {1LL << 40, 1LL << 40, 1LL << 62};
	int small[] = {4, 6};
	size_t size = 77;
	cufftHandle plan;

	(void)fx;
	assert_fft(FFT(cufftCreate)(&plan), SUCCESS);
#define ASKS(call, result)                                                     \
	do {                                                                   \
		size = 77;                                                     \
		assert_fft(FFT call, result);                                  \
		assert_int_equal(size, CUFFT_##result ? 77 : 0);               \
	} while (0)
	ASKS((cufftEstimate1d)(8, ROW, 1, &size), SUCCESS);
	ASKS((cufftEstimate1d)(0, ROW, 1, &size), INVALID_SIZE);
	ASKS((cufftEstimate2d)(8, 8, ROW, &size), SUCCESS);
	ASKS((cufftEstimate2d)(8, 8, 3, &size), INVALID_VALUE);
	ASKS((cufftEstimate3d)(8, 8, 8, ROW, &size), SUCCESS);
	ASKS((cufftEstimateMany)(2, small, NULL, 0, 0, NULL, 0, 0, ROW, 1,
				 &size),
	     SUCCESS);
	ASKS((cufftGetSize1d)(plan, 8, ROW, 1, &size), SUCCESS);
	ASKS((cufftGetSize1d)(plan + 1, 8, ROW, 1, &size), INVALID_PLAN);
	ASKS((cufftGetSize2d)(plan, 8, 8, ROW, &size), SUCCESS);
	ASKS((cufftGetSize3d)(plan, 8, 8, 8, ROW, &size), SUCCESS);
	ASKS((cufftGetSize3d)(plan, 8, 8, 0, ROW, &size), INVALID_SIZE);
	ASKS((cufftGetSizeMany)(plan, 2, small, NULL, 0, 0, NULL, 0, 0, ROW, 1,
				&size),
	     SUCCESS);
	ASKS((cufftGetSizeMany64)(plan, 2, n, NULL, 0, 0, NULL, 0, 0, ROW, 1,
				  &size),
	     SUCCESS);
	/* Rows farther apart than 64 bits can count. */
	ASKS((cufftGetSizeMany64)(plan, 2, n, huge + 1, 1, 1, n, 1, 24, ROW, 1,
				  &size),
	     INVALID_SIZE);
	ASKS((cufftGetSizeMany64)(plan, 2, huge, NULL, 0, 0, NULL, 0, 0, ROW, 1,
				  &size),
	     INVALID_SIZE);
#undef ASKS
	assert_fft(FFT(cufftEstimate1d)(8, ROW, 1, NULL), INVALID_VALUE);
	assert_fft(FFT(cufftMakePlan1d)(plan, 8, ROW, 1, NULL), INVALID_VALUE);
}

/* Checks that a transform of 8 ones by `plan` gives 8 and zeros. */
static void check_ones(cufftHandle plan)
{
	float x[16];
	CUdeviceptr at = memory(sizeof x);

	for (int i = 0; i < 16; i++)
		x[i] = i % 2 == 0;
	assert_cuda(CU(cuMemcpyHtoD_v2)(at, x, sizeof x), SUCCESS);
	assert_fft(forward(plan, at, at), SUCCESS);
	assert_cuda(CU(cuMemcpyDtoH_v2)(x, at, sizeof x), SUCCESS);
	for (int i = 0; i < 16; i++)
		assert_true(fabsf(x[i] - (i == 0 ? 8.0F : 0.0F)) < 1e-5F);
}

static void every_way_makes_the_same_plan(struct fixture *fx)
{
	int n[] = {8};
	long long wide[] = {8}, cube[] = {1, 1, 8};
	cufftHandle plans[8];
	size_t size;

	(void)fx;
	for (int i = 2; i < 8; i++)
		assert_fft(FFT(cufftCreate)(&plans[i]), SUCCESS);
	assert_fft(FFT(cufftPlan2d)(&plans[0], 1, 8, ROW), SUCCESS);
	assert_fft(FFT(cufftPlan3d)(&plans[1], 1, 1, 8, ROW), SUCCESS);
	assert_fft(FFT(cufftMakePlan1d)(plans[2], 8, ROW, 1, &size), SUCCESS);
	assert_fft(FFT(cufftMakePlan2d)(plans[3], 1, 8, ROW, &size), SUCCESS);
	assert_fft(FFT(cufftMakePlan3d)(plans[4], 1, 1, 8, ROW, &size),
		   SUCCESS);
	assert_fft(FFT(cufftMakePlanMany)(plans[5], 1, n, n, 1, 8, n, 1, 8, ROW,
					  1, &size),
		   SUCCESS);
	assert_fft(FFT(cufftMakePlanMany64)(plans[6], 1, wide, wide, 1, 8, wide,
					    1, 8, ROW, 1, &size),
		   SUCCESS);
	assert_fft(FFT(cufftXtMakePlanMany)(plans[7], 3, cube, NULL, 0, 0,
					    CUDA_C_32F, NULL, 0, 0, CUDA_C_32F,
					    1, &size, CUDA_C_32F),
		   SUCCESS);
	for (int i = 0; i < 8; i++)
		check_ones(plans[i]);
}

static void
transforms_wait_in_their_stream_without_their_plan(struct fixture *fx)
{
	enum { N = 8, TIMES = 3 };
	float x[2 * N] = {1};
	cufftHandle plan = row_plan(N);
	CUdeviceptr at = memory(sizeof x);
	CUstream s;

	(void)fx;
	assert_cuda(CU(cuStreamCreate)(&s, CU_STREAM_NON_BLOCKING), SUCCESS);
	assert_cuda(CU(cuMemcpyHtoD_v2)(at, x, sizeof x), SUCCESS);
	assert_fft(FFT(cufftSetStream)(plan, s), SUCCESS);
	/* Two of them restore the input, N times as large. */
	for (int i = 0; i < 2 * TIMES; i++)
		assert_fft(forward(plan, at, at), SUCCESS);
	assert_fft(FFT(cufftDestroy)(plan), SUCCESS);
	assert_cuda(CU(cuMemcpyDtoHAsync_v2)(x, at, sizeof x, s), SUCCESS);
	assert_cuda(CU(cuStreamSynchronize)(s), SUCCESS);
	assert_true(fabsf(x[0] - N * N * N) < 1e-3F);
	for (int i = 1; i < 2 * N; i++)
		assert_true(fabsf(x[i]) < 1e-3F);
}

static void pointers_and_directions_are_checked(struct fixture *fx)
{
	cufftHandle plan = row_plan(8), twice;
	CUdeviceptr at = memory(4096);
	void *p = (void *)(uintptr_t)at, *odd = (void *)(uintptr_t)(at + 4);

	(void)fx;
	assert_fft(FFT(cufftPlan1d)(&twice, 8, CUFFT_Z2Z, 1), SUCCESS);
	assert_fft(FFT(cufftExecC2C)(plan, NULL, p, -1), INVALID_VALUE);
	assert_fft(FFT(cufftExecC2C)(plan, p, NULL, -1), INVALID_VALUE);
	assert_fft(FFT(cufftExecC2C)(plan, odd, p, -1), INVALID_VALUE);
	assert_fft(FFT(cufftExecC2C)(plan, p, odd, -1), INVALID_VALUE);
	assert_fft(FFT(cufftExecC2C)(plan, p, p, 0), INVALID_VALUE);
	assert_fft(FFT(cufftExecC2C)(plan, p, p, 2), INVALID_VALUE);
	assert_fft(FFT(cufftXtExec)(plan, p, p, 0), INVALID_VALUE);
	assert_fft(FFT(cufftExecZ2Z)(plan, p, p, -1), INVALID_PLAN);
	assert_fft(FFT(cufftExecC2C)(twice, p, p, -1), INVALID_PLAN);
	assert_fft(FFT(cufftExecR2C)(plan, p, p), INVALID_PLAN);
	assert_fft(FFT(cufftExecC2R)(plan, p, p), INVALID_PLAN);
	assert_fft(FFT(cufftExecD2Z)(plan, p, p), INVALID_PLAN);
	assert_fft(FFT(cufftExecZ2D)(plan, p, p), INVALID_PLAN);
	assert_cuda(CU(cuCtxSynchronize)(), SUCCESS);
}

/* 8 numbers are 64 bytes: the last begins at 56. */
static void a_number_beyond_its_memory_is_illegal(struct fixture *fx)
{
	cufftHandle plan = row_plan(8);
	CUdeviceptr at = memory(2 << 20);
	size_t end = 2 << 20;

	(void)fx;
	assert_fft(forward(plan, at + end - 64, at + end - 64), SUCCESS);
	assert_cuda(CU(cuCtxSynchronize)(), SUCCESS);
	assert_fft(forward(plan, at + end - 56, at + end - 56), SUCCESS);
	assert_cuda(CU(cuCtxSynchronize)(), ERROR_ILLEGAL_ADDRESS);
	assert_fft(forward(plan, at, at), EXEC_FAILED);
}

static void
types_of_16_bits_are_refused_and_mixed_ones_invalid(struct fixture *fx)
{
	long long n[] = {8};
	cufftHandle plan;
	size_t size = 77;

	(void)fx;
	assert_fft(FFT(cufftCreate)(&plan), SUCCESS);
#define XT(function, in, out, execution)                                       \
	FFT(function)                                                          \
	(plan, 1, n, NULL, 0, 0, in, NULL, 0, 0, out, 1, &size, execution)
	assert_fft(XT(cufftXtMakePlanMany, CUDA_C_16F, CUDA_C_16F, CUDA_C_16F),
		   NOT_SUPPORTED);
	assert_fft(
	    XT(cufftXtGetSizeMany, CUDA_R_16BF, CUDA_C_16BF, CUDA_C_16BF),
	    NOT_SUPPORTED);
	assert_fft(XT(cufftXtMakePlanMany, CUDA_C_32F, CUDA_C_64F, CUDA_C_32F),
		   INVALID_VALUE);
	assert_fft(XT(cufftXtMakePlanMany, CUDA_R_32F, CUDA_R_32F, CUDA_C_32F),
		   INVALID_VALUE);
	assert_int_equal(size, 77);
	assert_fft(XT(cufftXtGetSizeMany, CUDA_R_64F, CUDA_C_64F, CUDA_C_64F),
		   SUCCESS);
	assert_int_equal(size, 0);
	assert_fft(XT(cufftXtMakePlanMany, CUDA_R_32F, CUDA_C_32F, CUDA_C_32F),
		   SUCCESS);
#undef XT
}

/* The direction is ignored for real numbers. */
static void xt_exec_runs_every_type(struct fixture *fx)
{
	static const int types[] = {CUFFT_R2C, CUFFT_C2R};
	float x[10] = {1, 1, 1, 1, 1, 1, 1, 1};
	CUdeviceptr at = memory(sizeof x);
	void *p = (void *)(uintptr_t)at;
	cufftHandle plan;

	(void)fx;
	assert_cuda(CU(cuMemcpyHtoD_v2)(at, x, sizeof x), SUCCESS);
	for (int i = 0; i < 2; i++) {
		assert_fft(FFT(cufftPlan1d)(&plan, 8, types[i], 1), SUCCESS);
		assert_fft(FFT(cufftXtExec)(plan, p, p, 99), SUCCESS);
	}
	assert_cuda(CU(cuMemcpyDtoH_v2)(x, at, sizeof x), SUCCESS);
	for (int i = 0; i < 8; i++)
		assert_true(fabsf(x[i] - 8) < 1e-5F);
}

static void work_areas_may_be_given_and_are_not_needed(struct fixture *fx)
{
	cufftHandle plan;
	CUdeviceptr at = memory(64);
	void *area = (void *)(uintptr_t)at;
	size_t size = 4096;

	(void)fx;
	assert_fft(FFT(cufftCreate)(&plan), SUCCESS);
	assert_fft(FFT(cufftSetAutoAllocation)(plan, 0), SUCCESS);
	assert_fft(FFT(cufftMakePlan1d)(plan, 8, ROW, 1, &size), SUCCESS);
	assert_fft(FFT(cufftSetWorkArea)(plan, area), SUCCESS);
	assert_fft(FFT(cufftXtSetWorkArea)(plan, &area), SUCCESS);
	size = 4096;
	assert_fft(
	    FFT(cufftXtSetWorkAreaPolicy)(plan, CUFFT_WORKAREA_USER, &size),
	    SUCCESS);
	assert_int_equal(size, 4096);
	assert_fft(
	    FFT(cufftXtSetWorkAreaPolicy)(plan, CUFFT_WORKAREA_MINIMAL, &size),
	    SUCCESS);
	assert_int_equal(size, 0);
	assert_fft(FFT(cufftXtSetWorkAreaPolicy)(plan, 3, &size),
		   INVALID_VALUE);
	assert_fft(FFT(cufftXtSetWorkAreaPolicy)(plan + 1, 0, &size),
		   INVALID_PLAN);
	assert_fft(FFT(cufftXtSetWorkArea)(plan + 1, &area), INVALID_PLAN);
	check_ones(plan);
}

static void properties_are_kept_until_the_plan_is_made(struct fixture *fx)
{
	enum { JIT = 1, THREADS = 2 };
	cufftHandle plan;
	long long value = 77;
	size_t size;

	(void)fx;
	assert_fft(FFT(cufftCreate)(&plan), SUCCESS);
	assert_fft(FFT(cufftSetPlanPropertyInt64)(plan, JIT, 2), INVALID_VALUE);
	assert_fft(FFT(cufftSetPlanPropertyInt64)(plan, 3, 1), INVALID_VALUE);
	assert_fft(FFT(cufftSetPlanPropertyInt64)(plan, 0, 1), INVALID_VALUE);
	assert_fft(FFT(cufftSetPlanPropertyInt64)(plan, THREADS, -1),
		   INVALID_VALUE);
	assert_fft(FFT(cufftSetPlanPropertyInt64)(plan + 1, JIT, 1),
		   INVALID_PLAN);
	assert_fft(FFT(cufftSetPlanPropertyInt64)(plan, JIT, 1), SUCCESS);
	assert_fft(FFT(cufftSetPlanPropertyInt64)(plan, THREADS, 4), SUCCESS);
	assert_fft(FFT(cufftGetPlanPropertyInt64)(plan, JIT, &value), SUCCESS);
	assert_int_equal(value, 1);
	assert_fft(FFT(cufftResetPlanProperty)(plan, JIT), SUCCESS);
	assert_fft(FFT(cufftGetPlanPropertyInt64)(plan, JIT, &value), SUCCESS);
	assert_int_equal(value, 0);
	assert_fft(FFT(cufftMakePlan1d)(plan, 8, ROW, 1, &size), SUCCESS);
	assert_fft(FFT(cufftResetPlanProperty)(plan, JIT), NOT_SUPPORTED);
	assert_fft(FFT(cufftGetPlanPropertyInt64)(plan, THREADS, &value),
		   SUCCESS);
	assert_int_equal(value, 4);
	assert_fft(FFT(cufftGetPlanPropertyInt64)(plan, THREADS, NULL),
		   INVALID_VALUE);
}

/* As the originals of PyPI answer, even without a GPU. */
static void the_version_is_that_of_the_original(struct fixture *fx)
{
	static const int expected[][4] = {
	    [0] = {11303, 11, 3, 3}, [1] = {12000, 12, 0, 0}};
	const int *v = expected[FRONT_MAJOR - 11];
	int value = -7;

	(void)fx;
	assert_fft(FFT(cufftGetVersion)(&value), SUCCESS);
	assert_int_equal(value, v[0]);
	for (int i = 0; i < 3; i++) {
		assert_fft(FFT(cufftGetProperty)(i, &value), SUCCESS);
		assert_int_equal(value, v[i + 1]);
	}
	assert_fft(FFT(cufftGetProperty)(-1, &value), INVALID_TYPE);
	assert_fft(FFT(cufftGetProperty)(3, &value), INVALID_TYPE);
	assert_int_equal(value, v[3]);
	assert_fft(FFT(cufftGetVersion)(NULL), INVALID_VALUE);
	assert_fft(FFT(cufftGetProperty)(0, NULL), INVALID_VALUE);
}

static const struct alone tests[] = {
    ALONE(a_context_comes_with_the_first_plan),
    ALONE(a_handle_is_good_until_it_is_destroyed),
    ALONE(a_thousand_plans_live_at_once),
    ALONE(a_plan_is_made_once),
    ALONE(a_plan_that_fails_leaves_the_handle_alone),
    ALONE(layouts_are_checked),
    ALONE(sizes_can_be_asked_before),
    ALONE(every_way_makes_the_same_plan),
    ALONE(transforms_wait_in_their_stream_without_their_plan),
    ALONE(pointers_and_directions_are_checked),
    ALONE(a_number_beyond_its_memory_is_illegal),
    ALONE(types_of_16_bits_are_refused_and_mixed_ones_invalid),
    ALONE(xt_exec_runs_every_type),
    ALONE(work_areas_may_be_given_and_are_not_needed),
    ALONE(properties_are_kept_until_the_plan_is_made),
    ALONE(the_version_is_that_of_the_original),
};

ALONE_MAIN(tests)
