/* SPDX-License-Identifier: Apache-2.0 */
/* curand_test.h - cuRAND on a fake machine, as a program uses it. */
#ifndef TESTS_CURAND_TEST_H
#define TESTS_CURAND_TEST_H

#include "abi/libraries/curand_abi.h"
#include "fronts/cuda/loaded.h"

/* RAND(curandCreateGenerator)(&g, type) calls it with its row's type. */
#define RAND(symbol) ((__typeof__(&symbol))rand_symbol(#symbol))

#define assert_rand(call, result)                                              \
	assert_int_equal((call), CURAND_STATUS_##result)

#define PSEUDO_TYPES                                                           \
	CURAND_RNG_PSEUDO_XORWOW, CURAND_RNG_PSEUDO_MRG32K3A,                  \
	    CURAND_RNG_PSEUDO_PHILOX4_32_10, CURAND_RNG_PSEUDO_MT19937

static inline void *rand_symbol(const char *name)
{
	static void *library;
	void *at;

	if (!library)
		library =
		    dlopen(FAKE_DIR "/libcurand.so.10", RTLD_NOW | RTLD_LOCAL);
	if (!library)
		fail_msg("%s", dlerror());
	at = dlsym(library, name);
	if (!at)
		fail_msg("no %s", name);
	return at;
}

static inline curandGenerator_t host_generator(int type)
{
	curandGenerator_t g;

	assert_rand(RAND(curandCreateGeneratorHost)(&g, type), SUCCESS);
	return g;
}

static inline curandGenerator_t device_generator(int type)
{
	curandGenerator_t g;

	begin();
	assert_rand(RAND(curandCreateGenerator)(&g, type), SUCCESS);
	return g;
}

/* Memory of the device, to which programs have pointers. */
static inline void *device_memory(size_t size)
{
	CUdeviceptr at;

	begin();
	assert_cuda(CU(cuMemAlloc_v2)(&at, size), SUCCESS);
	return (void *)(uintptr_t)at;
}

static inline void download(void *to, const void *from, size_t size)
{
	assert_cuda(CU(cuMemcpyDtoH_v2)(to, (CUdeviceptr)(uintptr_t)from, size),
		    SUCCESS);
}

#endif
