/* SPDX-License-Identifier: Apache-2.0 */
/*
 * absent_test.c - checks a machine without FFTW: this program's dlopen says
 * that it is not there.
 */
#include "fronts/cufft/cufft_test.h"

__attribute__((visibility("default"))) void *dlopen(const char *name, int flags)
{
	void *(*next)(const char *, int);

	if (name && strstr(name, "libfftw3."))
		return NULL;
	*(void **)&next = dlsym(RTLD_NEXT, "dlopen");
	return next(name, flags);
}

static void without_fftw_a_plan_cannot_be_set_up(struct fixture *fx)
{
	cufftHandle plan = -9, made;
	size_t size = 77;

	(void)fx;
	assert_fft(FFT(cufftPlan1d)(&plan, 8, CUFFT_Z2Z, 1), SETUP_FAILED);
	assert_int_equal(plan, -9);
	assert_fft(FFT(cufftCreate)(&made), SUCCESS);
	assert_fft(FFT(cufftMakePlan1d)(made, 8, CUFFT_D2Z, 1, &size),
		   SETUP_FAILED);
	assert_int_equal(size, 77);
	/* The library of the other precision is there. */
	assert_fft(FFT(cufftMakePlan1d)(made, 8, CUFFT_R2C, 1, &size), SUCCESS);
}

static const struct alone tests[] = {
    ALONE(without_fftw_a_plan_cannot_be_set_up),
};

ALONE_MAIN(tests)
