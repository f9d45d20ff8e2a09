/* SPDX-License-Identifier: Apache-2.0 */
/* cufft_test.h - cuFFT on a fake machine, as a program uses it. */
#ifndef TESTS_CUFFT_TEST_H
#define TESTS_CUFFT_TEST_H

#include "abi/libraries/cufft_abi.h"
#include "fronts/cuda/loaded.h"

#define LIBRARY_NAME(major) FAKE_DIR "/libcufft.so." #major
#define LIBRARY_OF(major)   LIBRARY_NAME(major)

/* FFT(cufftCreate)(&plan) calls it with the type from its row. */
#define FFT(symbol) ((__typeof__(&symbol))fft_symbol(#symbol))

#define assert_fft(call, result) assert_int_equal((call), CUFFT_##result)

static inline void *fft_symbol(const char *name)
{
	static void *library;
	void *at;

	if (!library)
		library =
		    dlopen(LIBRARY_OF(FRONT_MAJOR), RTLD_NOW | RTLD_LOCAL);
	if (!library)
		fail_msg("%s", dlerror());
	at = dlsym(library, name);
	if (!at)
		fail_msg("no %s", name);
	return at;
}

#endif
