/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuda_test.h - a fake machine and the drop-in libcuda on it, loaded as by a
 * client. A process initialises CUDA once, on one machine: a test program has
 * one machine for all its tests.
 */
#ifndef TESTS_CUDA_FRONT_H
#define TESTS_CUDA_FRONT_H

#include "abi/cuda/cuda_abi.h"
#include "base/str.h"
#include "machine/fixture.h"

#include <dlfcn.h>

/*
 * The driver on which the tests of a file run; the default one unless defined.
 */
#ifndef CUDA_DRIVER
#define CUDA_DRIVER "580.95.05"
#define CUDA_FRONT  FAKE_DIR "/libcuda.so.1"
#endif

/* CU(cuInit)(0) calls it with the type from its row. */
#define CU(symbol) ((__typeof__(&symbol))cuda_symbol(#symbol))

#define assert_cuda(call, result) assert_int_equal((call), CUDA_##result)

static void *cuda_library;

static inline void *cuda_symbol(const char *name)
{
	void *at = dlsym(cuda_library, name);

	if (!at)
		fail_msg("no %s", name);
	return at;
}

static inline void cuda_load(const char *path)
{
	cuda_library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!cuda_library)
		fail_msg("%s", dlerror());
}

/* Makes a machine of two A100; the library is loaded but not initialised. */
static inline int cuda_setup(void **state)
{
	struct fixture *fx = calloc(1, sizeof(*fx));

	fixture_open(fx, 2);
	fixture_set_driver(fx, CUDA_DRIVER);
	cuda_load(CUDA_FRONT);
	*state = fx;
	return 0;
}

static inline int cuda_setup_init(void **state)
{
	cuda_setup(state);
	assert_cuda(CU(cuInit)(0), SUCCESS);
	return 0;
}

/* The library stays loaded: other threads of it may run. */
static inline int cuda_teardown(void **state)
{
	fixture_close(*state);
	free(*state);
	return 0;
}

#endif
