/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_fixture.h - a machine of two A100, a current context on the first, and
 * buffers with a pattern, for tests of CUDA's memory.
 */
#ifndef TESTS_CUDA_MEMORY_H
#define TESTS_CUDA_MEMORY_H

#include "base/units.h"
#include "fronts/cuda/cuda_test.h"

#include <stdatomic.h>

#define BLOCK (2 * MIB)

static CUcontext context;

static inline int memory_setup(void **state)
{
	cuda_setup_init(state);
	assert_cuda(CU(cuDevicePrimaryCtxRetain)(&context, 0), SUCCESS);
	assert_cuda(CU(cuCtxSetCurrent)(context), SUCCESS);
	return 0;
}

static inline int memory_teardown(void **state)
{
	assert_cuda(CU(cuDevicePrimaryCtxRelease_v2)(0), SUCCESS);
	return cuda_teardown(state);
}

static inline CUdeviceptr device_alloc(size_t size)
{
	CUdeviceptr p = 0;

	assert_cuda(CU(cuMemAlloc_v2)(&p, size), SUCCESS);
	assert_int_not_equal(p, 0);
	return p;
}

static inline void device_free(CUdeviceptr p)
{
	assert_cuda(CU(cuMemFree_v2)(p), SUCCESS);
}

static inline uint64_t next_random(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

static inline void fill_random(void *at, size_t size, uint64_t seed)
{
	unsigned char *bytes = at;

	seed = seed * 2654435761u + 1;
	for (size_t i = 0; i < size; i++)
		bytes[i] = (unsigned char)(next_random(&seed) >> 11);
}

static inline void device_holds(CUdeviceptr p, const void *expected,
				size_t size)
{
	unsigned char *got = malloc(size);

	assert_cuda(CU(cuMemcpyDtoH_v2)(got, p, size), SUCCESS);
	assert_memory_equal(got, expected, size);
	free(got);
}

static inline void settle(void)
{
	assert_cuda(CU(cuCtxSynchronize)(), SUCCESS);
}

static inline uint64_t free_now(void)
{
	size_t left, total;

	assert_cuda(CU(cuMemGetInfo_v2)(&left, &total), SUCCESS);
	return left;
}

/*
 * A function that stays in its stream until it is released; the teardown
 * releases it at the latest, so that a failed test holds up nobody.
 */
static _Atomic bool is_let_go;

static inline void stay(void *unused)
{
	(void)unused;
	while (!atomic_load(&is_let_go))
		usleep(200);
}

static inline void let_go(void *unused)
{
	(void)unused;
	atomic_store(&is_let_go, true);
}

/* Most likely after the waiter has begun to wait. */
static inline void let_go_later(void *unused)
{
	usleep(20000);
	let_go(unused);
}

static inline void hold(CUstream stream)
{
	atomic_store(&is_let_go, false);
	assert_cuda(CU(cuLaunchHostFunc)(stream, stay, NULL), SUCCESS);
}

static inline int let_all_go(void **state)
{
	let_go(state);
	CU(cuCtxSynchronize)();
	return 0;
}

#define HOLDING_TEST(test)                                                     \
	cmocka_unit_test_setup_teardown(test, NULL, let_all_go)

#define MEMORY_MAIN(tests)                                                     \
	int main(void)                                                         \
	{                                                                      \
		return cmocka_run_group_tests(tests, memory_setup,             \
					      memory_teardown);                \
	}

#endif
