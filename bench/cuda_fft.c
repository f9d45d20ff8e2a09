/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuda_fft.c - a transform of 1 Mi complex numbers by cuFFT, beside FFTW
 * itself on memory of the host, planned the same way. The best round of each
 * counts: the machine's memory is for all.
 */
#include "base/clock.h"
#include "base/units.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#define N        (1 << 20)
#define SIZE     ((size_t)N * 2 * sizeof(float))
#define ROUNDS   15
#define FORWARD  (-1)
#define C2C      0x29
#define ESTIMATE 64

static int (*plan_1d)(int *plan, int n, int type, int batch);
static int (*execute)(int plan, void *in, void *out, int direction);
static int (*device_malloc)(void **at, size_t size);
static int (*device_set)(void *at, int value, size_t size);
static int (*device_wait)(void);
static void *(*fftw_plan)(int n, void *in, void *out, int sign, unsigned flags);
static void (*fftw_execute)(void *plan);

static const struct {
	const char *library, *symbol;
	void *at;
} functions[] = {
    {"libcufft.so.12", "cufftPlan1d", &plan_1d},
    {"libcufft.so.12", "cufftExecC2C", &execute},
    {"libcudart.so.13", "cudaMalloc", &device_malloc},
    {"libcudart.so.13", "cudaMemset", &device_set},
    {"libcudart.so.13", "cudaDeviceSynchronize", &device_wait},
    {"libfftw3f.so.3", "fftwf_plan_dft_1d", &fftw_plan},
    {"libfftw3f.so.3", "fftwf_execute", &fftw_execute},
};

static void must(int failed, const char *what)
{
	if (!failed)
		return;
	fprintf(stderr, "cuda_fft: %s: %d\n", what, failed);
	exit(1);
}

static void open_libraries(void)
{
	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
		void *library = dlopen(functions[i].library, RTLD_NOW);
		void *found =
		    library ? dlsym(library, functions[i].symbol) : NULL;

		must(!found, functions[i].symbol);
		*(void **)functions[i].at = found;
	}
}

static void *device_memory(void)
{
	void *at;

	must(device_malloc(&at, SIZE), "cudaMalloc");
	must(device_set(at, 0, SIZE), "cudaMemset");
	return at;
}

static void *host_memory(void)
{
	float *at = aligned_alloc(64, SIZE);

	must(!at, "aligned_alloc");
	for (int i = 0; i < 2 * N; i++)
		at[i] = 0;
	return at;
}

static double one_of_ours(int plan, void *in, void *out)
{
	uint64_t began = gk_mono_ns();

	must(execute(plan, in, out, FORWARD), "cufftExecC2C");
	must(device_wait(), "cudaDeviceSynchronize");
	return (double)(gk_mono_ns() - began) / 1e6;
}

static double one_of_theirs(void *plan)
{
	uint64_t began = gk_mono_ns();

	fftw_execute(plan);
	return (double)(gk_mono_ns() - began) / 1e6;
}

int main(void)
{
	double ours = 1e9, theirs = 1e9, ms;
	void *din, *dout, *in, *out, *plan;
	int handle;

	open_libraries();
	din = device_memory();
	dout = device_memory();
	in = host_memory();
	out = host_memory();
	must(plan_1d(&handle, N, C2C, 1), "cufftPlan1d");
	plan = fftw_plan(N, in, out, FORWARD, ESTIMATE);
	for (int i = 0; i < ROUNDS; i++) {
		ms = one_of_ours(handle, din, dout);
		ours = ms < ours ? ms : ours;
		ms = one_of_theirs(plan);
		theirs = ms < theirs ? ms : theirs;
	}
	printf("fft_ms %.4f\nfft_peer_ms %.4f\n", ours, theirs);
	return 0;
}
