/* SPDX-License-Identifier: Apache-2.0 */
/*
 * start_test.c - checks what the runtime does before its first call, at it, and
 * in a child after it: versions, failures, threads, fork.
 */
#include "fronts/cudart/cudart_test.h"

#include <pthread.h>

static void nothing_before_the_first_call(void **state)
{
	(void)state;
	assert_int_equal(scripted_calls(NULL), 0);
	assert_string_equal(cudaGetErrorName(cudaErrorNotReady),
			    "cudaErrorNotReady");
	assert_int_equal(scripted_calls(NULL), 0);
}

/* As observed of NVIDIA's without a driver and without a device. */
static void the_last_error_starts_it_too(void)
{
	CHECK_CUDA(cudaGetLastError(), Success);
	CHECK(scripted_calls("cuInit") == 1);
	CHECK_CUDA(cudaPeekAtLastError(), Success);
	CHECK(scripted_calls("cuInit") == 1);
}

static void arguments_come_after_the_start(void)
{
	scripted_answer("cuInit", CUDA_ERROR_NO_DEVICE);
	CHECK_CUDA(cudaGetDeviceCount(NULL), ErrorNoDevice);
	CHECK_CUDA(cudaGetDevice(NULL), ErrorNoDevice);
	CHECK_CUDA(cudaGetDeviceFlags(NULL), ErrorNoDevice);
	CHECK_CUDA(cudaFuncGetAttributes(NULL, NULL), ErrorNoDevice);
	CHECK_CUDA(cudaGetFuncBySymbol(NULL, NULL), ErrorNoDevice);
	CHECK_CUDA(cudaGetSymbolAddress(NULL, NULL), ErrorNoDevice);
	CHECK_CUDA(cudaGetSymbolSize(NULL, NULL), ErrorNoDevice);
	CHECK_CUDA(cudaMallocArray(NULL, NULL, 0, 0, 0), ErrorNoDevice);
	CHECK_CUDA(cudaMemcpyToSymbol(NULL, NULL, 1, 0, cudaMemcpyDeviceToHost),
		   ErrorNoDevice);
	CHECK_CUDA(cudaOccupancyMaxActiveClusters(NULL, NULL, NULL),
		   ErrorNoDevice);
	CHECK_CUDA(cudaGetDriverEntryPoint(NULL, NULL, 7, NULL), ErrorNoDevice);
}

static void versions_are_told_without_starting(void)
{
	int version = -1;

	CHECK_CUDA(cudaRuntimeGetVersion(&version), Success);
	CHECK(version == CUDART_VERSION);
	CHECK_CUDA(cudaDriverGetVersion(&version), Success);
	CHECK(version == 13000);
	CHECK_CUDA(cudaDriverGetVersion(NULL), ErrorInvalidValue);
	CHECK(scripted_calls("cuInit") == 0);
}

static void a_driver_of_an_older_major_is_refused(void)
{
	void *p = (void *)1;
	int n = -1;

	scripted_version = CUDART_MAJOR * 1000 - 1;
	CHECK_CUDA(cudaGetDeviceCount(&n), ErrorInsufficientDriver);
	CHECK(n == -1);
	CHECK_CUDA(cudaMalloc(&p, 1), ErrorInsufficientDriver);
	CHECK(p == (void *)1);
	CHECK_CUDA(cudaGetLastError(), ErrorInsufficientDriver);
	CHECK_CUDA(cudaGetLastError(), ErrorInsufficientDriver);
	CHECK_CUDA(cudaPeekAtLastError(), ErrorInsufficientDriver);
	CHECK(scripted_calls("cuInit") == 0);
	CHECK_CUDA(cudaDriverGetVersion(&n), Success);
	CHECK(n == CUDART_MAJOR * 1000 - 1);
}

static void a_driver_of_an_older_minor_will_do(void)
{
	void *p;
	int n;

	scripted_version = CUDART_MAJOR * 1000;
	CHECK_CUDA(cudaGetDeviceCount(&n), Success);
	CHECK(n == SCRIPTED_DEVICES);
	CHECK_CUDA(cudaMalloc(&p, 16), Success);
#if CUDART_MAJOR == 12
	{
		float ms;

		CHECK_CUDA(cudaEventElapsedTime(&ms, NULL, NULL), Success);
		CHECK_CUDA(cudaEventElapsedTime_v2(&ms, NULL, NULL),
			   ErrorCallRequiresNewerDriver);
	}
#endif
}

struct failure {
	CUresult told;
	cudaError_t expected;
};

static const struct failure *failing;

static void a_failure_to_start(void)
{
	int n = -1;

	scripted_answer("cuInit", failing->told);
	CHECK(cudaGetDeviceCount(&n) == failing->expected);
	CHECK(n == -1);
	CHECK(cudaPeekAtLastError() == failing->expected);
	CHECK(cudaFree(NULL) == failing->expected);
	CHECK(scripted_calls("cuInit") == 1);
}

static void failures_to_start_are_told(void **state)
{
	static const struct failure failures[] = {
	    {CUDA_ERROR_NO_DEVICE, cudaErrorNoDevice},
	    {CUDA_ERROR_NOT_INITIALIZED, cudaErrorInitializationError},
	    {CUDA_ERROR_STUB_LIBRARY, cudaErrorStubLibrary},
	    {CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, cudaErrorSystemDriverMismatch},
	    {CUDA_ERROR_UNKNOWN, cudaErrorUnknown},
	    {(CUresult)12345, cudaErrorUnknown},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(failures); i++) {
		failing = &failures[i];
		in_child(a_failure_to_start);
	}
}

static void *first_call(void *barrier)
{
	void *p = NULL;

	pthread_barrier_wait(barrier);
	CHECK_CUDA(cudaMalloc(&p, 8), Success);
	CHECK(p == (void *)0x100008);
	return NULL;
}

static void threads_start_it_once(void)
{
	pthread_t threads[8];
	pthread_barrier_t barrier;

	pthread_barrier_init(&barrier, NULL, COUNT(threads));
	for (size_t i = 0; i < COUNT(threads); i++)
		CHECK(!pthread_create(&threads[i], NULL, first_call, &barrier));
	for (size_t i = 0; i < COUNT(threads); i++)
		pthread_join(threads[i], NULL);
	CHECK(scripted_calls("cuInit") == 1);
	CHECK(scripted_calls("cuDevicePrimaryCtxRetain") == 1);
	CHECK(scripted_calls("cuMemAlloc_v2") == COUNT(threads));
}

static void in_a_child_after_the_start(void)
{
	void *p;
	int n;

	CHECK_CUDA(cudaMalloc(&p, 1), ErrorInitializationError);
	CHECK_CUDA(cudaGetDeviceCount(&n), ErrorInitializationError);
	CHECK_CUDA(cudaSetDevice(0), ErrorInitializationError);
	CHECK_CUDA(cudaGetLastError(), ErrorInitializationError);
	CHECK_CUDA(cudaRuntimeGetVersion(&n), Success);
}

static void a_child_cannot_go_on(void)
{
	void *p;

	CHECK_CUDA(cudaMalloc(&p, 1), Success);
	in_child(in_a_child_after_the_start);
	CHECK_CUDA(cudaMalloc(&p, 1), Success);
}

static void a_child_may_start(void)
{
	void *p;

	CHECK_CUDA(cudaMalloc(&p, 1), Success);
	CHECK(scripted_calls("cuInit") == 1);
}

#define IN_CHILD(work)                                                         \
	static void work##_there(void **state)                                 \
	{                                                                      \
		(void)state;                                                   \
		in_child(work);                                                \
		assert_int_equal(scripted_calls(NULL), 0);                     \
	}
IN_CHILD(the_last_error_starts_it_too)
IN_CHILD(arguments_come_after_the_start)
IN_CHILD(versions_are_told_without_starting)
IN_CHILD(a_driver_of_an_older_major_is_refused)
IN_CHILD(a_driver_of_an_older_minor_will_do)
IN_CHILD(threads_start_it_once)
IN_CHILD(a_child_cannot_go_on)
IN_CHILD(a_child_may_start)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(nothing_before_the_first_call),
	    cmocka_unit_test(the_last_error_starts_it_too_there),
	    cmocka_unit_test(arguments_come_after_the_start_there),
	    cmocka_unit_test(versions_are_told_without_starting_there),
	    cmocka_unit_test(a_driver_of_an_older_major_is_refused_there),
	    cmocka_unit_test(a_driver_of_an_older_minor_will_do_there),
	    cmocka_unit_test(failures_to_start_are_told),
	    cmocka_unit_test(threads_start_it_once_there),
	    cmocka_unit_test(a_child_cannot_go_on_there),
	    cmocka_unit_test(a_child_may_start_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
