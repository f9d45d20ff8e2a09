/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host_test.c - checks page-locked memory of the host: allocated, registered,
 * mapped.
 */
#include "fronts/cuda/memory_fixture.h"

#include <sched.h>
#include <stdatomic.h>
#include <sys/mman.h>

static void locked_memory_is_the_hosts_and_the_devices(void **state)
{
	CUdeviceptr p;
	char *own;

	(void)state;
	assert_cuda(CU(cuMemAllocHost_v2)((void **)&own, 5000), SUCCESS);
	strcpy(own, "seen by both");
	assert_cuda(CU(cuMemHostGetDevicePointer_v2)(&p, own, 0), SUCCESS);
	assert_cuda(CU(cuMemsetD8_v2)(p, 'S', 1), SUCCESS);
	assert_string_equal(own, "Seen by both");
	assert_cuda(CU(cuMemHostGetDevicePointer_v2)(&p, own + 10, 0), SUCCESS);
	assert_int_equal(p, (uintptr_t)own + 10);
	assert_cuda(CU(cuMemFreeHost)(own + 512), ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMemHostUnregister)(own), ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMemFree_v2)((uintptr_t)own), ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMemFreeHost)(own), SUCCESS);
	assert_cuda(CU(cuMemFreeHost)(own), ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMemHostGetDevicePointer_v2)(&p, own, 0),
		    ERROR_INVALID_VALUE);
}

static void flags_are_kept(void **state)
{
	unsigned flags = 0;
	void *own;

	(void)state;
	assert_cuda(CU(cuMemHostAlloc)(&own, 100,
				       CU_MEMHOSTALLOC_PORTABLE |
					   CU_MEMHOSTALLOC_WRITECOMBINED),
		    SUCCESS);
	assert_cuda(CU(cuMemHostGetFlags)(&flags, own), SUCCESS);
	assert_int_equal(flags & ~(unsigned)CU_MEMHOSTALLOC_DEVICEMAP,
			 CU_MEMHOSTALLOC_PORTABLE |
			     CU_MEMHOSTALLOC_WRITECOMBINED);
	assert_cuda(CU(cuMemHostGetFlags)(&flags, &flags), ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMemFreeHost)(own), SUCCESS);
}

/* Waits until it may continue, then takes its time. */
static _Atomic int may_go_on, has_ended;
static void hold_up(void *data)
{
	(void)data;
	while (!atomic_load(&may_go_on))
		sched_yield();
	usleep(20000);
	atomic_store(&has_ended, 1);
}

static void go_on(void *data)
{
	(void)data;
	atomic_store(&may_go_on, 1);
}

/* The memory of one context, used by another, freed in a third. */
static void freeing_waits_for_the_work_of_any_context(void **state)
{
	CUcontext other, third;
	CUdeviceptr p;
	CUstream s;
	char *own;

	(void)state;
	assert_cuda(
	    CU(cuMemHostAlloc)((void **)&own, BLOCK, CU_MEMHOSTALLOC_PORTABLE),
	    SUCCESS);
	assert_cuda(CU(cuCtxCreate_v2)(&other, 0, 1), SUCCESS);
	p = device_alloc(BLOCK);
	assert_cuda(CU(cuStreamCreate)(&s, CU_STREAM_NON_BLOCKING), SUCCESS);
	assert_cuda(CU(cuLaunchHostFunc)(s, hold_up, NULL), SUCCESS);
	assert_cuda(CU(cuMemcpyDtoHAsync_v2)(own, p, BLOCK, s), SUCCESS);
	assert_cuda(CU(cuCtxCreate_v2)(&third, 0, 0), SUCCESS);
	assert_cuda(CU(cuLaunchHostFunc)(NULL, go_on, NULL), SUCCESS);
	assert_cuda(CU(cuMemFreeHost)(own), SUCCESS);
	assert_int_equal(atomic_load(&has_ended), 1);
	assert_cuda(CU(cuCtxDestroy_v2)(third), SUCCESS);
	assert_cuda(CU(cuCtxDestroy_v2)(other), SUCCESS);
	assert_cuda(CU(cuCtxSetCurrent)(context), SUCCESS);
}

static void wrong_asks_are_told(void **state)
{
	void *own = state;
	CUdeviceptr p;

	assert_cuda(CU(cuMemHostAlloc)(&own, 0, 8), ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMemHostAlloc)(&own, 1, 8), ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMemHostAlloc)(NULL, 1, 0), ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMemHostAlloc)(&own, 1ULL << 50, 0),
		    ERROR_OUT_OF_MEMORY);
	assert_ptr_equal(own, state);
	assert_cuda(CU(cuMemHostGetDevicePointer_v2)(&p, state, 0),
		    ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMemHostRegister_v2)(NULL, 1, 0), ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMemHostRegister_v2)(state, 0, 0), ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMemHostRegister_v2)(state, 1, 0x10),
		    ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMemHostRegister_v2)(state, SIZE_MAX, 0),
		    ERROR_INVALID_VALUE);
}

static void registered_memory_is_the_devices_too(void **state)
{
	char *own = malloc(10000);
	CUdeviceptr p;

	(void)state;
	assert_cuda(CU(cuMemHostUnregister)(own),
		    ERROR_HOST_MEMORY_NOT_REGISTERED);
	assert_cuda(CU(cuMemHostRegister_v2)(own, 10000, 0), SUCCESS);
	assert_cuda(CU(cuMemHostRegister_v2)(own, 10000, 0),
		    ERROR_HOST_MEMORY_ALREADY_REGISTERED);
	assert_cuda(CU(cuMemHostRegister_v2)(own + 9999, 1, 0),
		    ERROR_HOST_MEMORY_ALREADY_REGISTERED);
	assert_cuda(CU(cuMemHostGetDevicePointer_v2)(&p, own + 5, 0), SUCCESS);
	assert_cuda(CU(cuMemsetD8_v2)(p, 3, 9995), SUCCESS);
	assert_int_equal(own[9999], 3);
	assert_cuda(CU(cuMemsetD8_v2)(p, 3, 9996), ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMemFreeHost)(own), ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMemHostUnregister)(own + 1), ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMemHostUnregister)(own), SUCCESS);
	assert_cuda(CU(cuMemsetD8_v2)(p, 3, 1), ERROR_INVALID_VALUE);
	free(own);
}

static void what_is_not_mapped_is_not_registered(void **state)
{
	char *p = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)state;
	munmap(p + 4096, 4096);
	assert_cuda(CU(cuMemHostRegister_v2)(p, 3 * 4096, 0),
		    ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMemHostRegister_v2)(p + 100, 3996, 0), SUCCESS);
	assert_cuda(CU(cuMemHostUnregister)(p + 100), SUCCESS);
	munmap(p, 3 * 4096);
}

static void device_memory_is_not_registered(void **state)
{
	CUdeviceptr p = device_alloc(4096);

	(void)state;
	assert_int_not_equal(
	    CU(cuMemHostRegister_v2)((void *)(uintptr_t)p, 4096, 0), 0);
	device_free(p);
}

static void many_ranges_are_registered(void **state)
{
	enum { N = 2000 };
	char *own = malloc(N * 100);
	uint64_t seed = 5;
	static bool in[N];
	CUdeviceptr p;

	(void)state;
	for (unsigned n = 0; n < 5 * N; n++) {
		unsigned i = (unsigned)(next_random(&seed) % N);
		char *at = own + i * 100;

		if (in[i])
			assert_cuda(CU(cuMemHostUnregister)(at), SUCCESS);
		else
			assert_cuda(CU(cuMemHostRegister_v2)(at, 100, 0),
				    SUCCESS);
		in[i] = !in[i];
	}
	for (unsigned i = 0; i < N; i++) {
		char *at = own + i * 100 + 99;

		assert_int_equal(CU(cuMemHostGetDevicePointer_v2)(&p, at, 0),
				 in[i] ? CUDA_SUCCESS
				       : CUDA_ERROR_INVALID_VALUE);
		if (in[i])
			assert_cuda(CU(cuMemHostUnregister)(at - 99), SUCCESS);
	}
	free(own);
}

static void a_child_keeps_locked_memory(void **state)
{
	char *own;
	int status;
	pid_t pid;

	(void)state;
	assert_cuda(CU(cuMemAllocHost_v2)((void **)&own, 100), SUCCESS);
	strcpy(own, "before");
	pid = fork();
	if (!pid) {
		bool same = !strcmp(own, "before");

		strcpy(own, "child");
		_exit(!same ||
		      CU(cuMemFreeHost)(own) != CUDA_ERROR_NOT_INITIALIZED);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_string_equal(own, "before");
	assert_cuda(CU(cuMemFreeHost)(own), SUCCESS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(locked_memory_is_the_hosts_and_the_devices),
	    cmocka_unit_test(flags_are_kept),
	    cmocka_unit_test(freeing_waits_for_the_work_of_any_context),
	    cmocka_unit_test(wrong_asks_are_told),
	    cmocka_unit_test(registered_memory_is_the_devices_too),
	    cmocka_unit_test(what_is_not_mapped_is_not_registered),
	    cmocka_unit_test(device_memory_is_not_registered),
	    cmocka_unit_test(many_ranges_are_registered),
	    cmocka_unit_test(a_child_keeps_locked_memory),
	};

	return cmocka_run_group_tests(tests, memory_setup, memory_teardown);
}
