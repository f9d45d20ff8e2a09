/* SPDX-License-Identifier: Apache-2.0 */
/*
 * program.c - a CUDA program, linked as toolkits link them, that uses a kernel
 * and the libraries that compute. Its argument names the part, or how many MiB
 * it allocates; it prints whether that worked.
 */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int cudaMalloc(void **, size_t);
int cudaFree(void *);
int cudaMemcpy(void *, const void *, size_t, int);
int cudaDeviceSynchronize(void);
int cuModuleLoadData(void **, const void *);
int cuModuleGetFunction(void **, void *, const char *);
int cuLaunchKernel(void *, unsigned, unsigned, unsigned, unsigned, unsigned,
		   unsigned, unsigned, void *, void **, void **);
int cublasCreate_v2(void **);
int cublasSgemm_v2(void *, int, int, int, int, int, const float *,
		   const float *, int, const float *, int, const float *,
		   float *, int);
int cufftPlan1d(int *, int, int, int);
int cufftExecC2C(int, void *, void *, int);
int cusolverDnCreate(void **);
int cusolverDnDpotrf_bufferSize(void *, int, int, double *, int, int *);
int cusolverDnDpotrf(void *, int, int, double *, int, double *, int, int *);

enum { TO_DEVICE = 1, TO_HOST, SIDE = 64, POINTS = 37 };

static const char doubler[] = ".version 7.0\n"
			      ".target sm_70\n"
			      ".address_size 64\n"
			      ".visible .entry twice(.param .u64 at)\n"
			      "{\n"
			      "  .reg .u64 %a, %o;\n"
			      "  .reg .u32 %t;\n"
			      "  .reg .f32 %x;\n"
			      "  ld.param.u64 %a, [at];\n"
			      "  mov.u32 %t, %tid.x;\n"
			      "  mul.wide.u32 %o, %t, 4;\n"
			      "  add.u64 %a, %a, %o;\n"
			      "  ld.global.f32 %x, [%a];\n"
			      "  add.f32 %x, %x, %x;\n"
			      "  st.global.f32 [%a], %x;\n"
			      "  ret;\n"
			      "}\n";

static void check(const char *what, int ok)
{
	printf("%s %s\n", what, ok ? "works" : "fails");
	if (!ok)
		exit(1);
}

static void *put(const void *from, size_t size)
{
	void *at = NULL;

	check("memory",
	      !cudaMalloc(&at, size) && !cudaMemcpy(at, from, size, TO_DEVICE));
	return at;
}

static void try_kernel(void)
{
	float numbers[32];
	void *module, *function, *at;
	void *params[] = {&at};

	for (int i = 0; i < 32; i++)
		numbers[i] = (float)i;
	at = put(numbers, sizeof numbers);
	check("kernel", !cuModuleLoadData(&module, doubler) &&
			    !cuModuleGetFunction(&function, module, "twice") &&
			    !cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0,
					    NULL, params, NULL) &&
			    !cudaMemcpy(numbers, at, sizeof numbers, TO_HOST) &&
			    numbers[31] == 62);
}

static void try_cublas(void)
{
	static float ones[SIDE * SIDE];
	const float one = 1, zero = 0;
	void *handle, *a, *c;

	for (int i = 0; i < SIDE * SIDE; i++)
		ones[i] = 1;
	a = put(ones, sizeof ones);
	c = put(ones, sizeof ones);
	check("cuBLAS",
	      !cublasCreate_v2(&handle) &&
		  !cublasSgemm_v2(handle, 0, 0, SIDE, SIDE, SIDE, &one, a, SIDE,
				  a, SIDE, &zero, c, SIDE) &&
		  !cudaMemcpy(ones, c, sizeof ones, TO_HOST) &&
		  ones[SIDE * SIDE - 1] == SIDE);
}

static void try_cufft(void)
{
	float wave[2 * POINTS] = {1};
	void *at = put(wave, sizeof wave);
	int plan;

	check("cuFFT", !cufftPlan1d(&plan, POINTS, 0x29, 1) &&
			   !cufftExecC2C(plan, at, at, -1) &&
			   !cudaMemcpy(wave, at, sizeof wave, TO_HOST) &&
			   fabsf(wave[2 * POINTS - 2] - 1) < 1e-5f);
}

static void try_cusolver(void)
{
	double four[] = {4, 2, 2, 5};
	void *handle, *work, *info, *at = put(four, sizeof four);
	int size, failed = 1;

	check("cuSOLVER",
	      !cusolverDnCreate(&handle) &&
		  !cusolverDnDpotrf_bufferSize(handle, 0, 2, at, 2, &size) &&
		  !cudaMalloc(&work, (size_t)size * sizeof(double) + 8) &&
		  !cudaMalloc(&info, sizeof failed) &&
		  !cusolverDnDpotrf(handle, 0, 2, at, 2, work, size, info) &&
		  !cudaMemcpy(four, at, sizeof four, TO_HOST) &&
		  !cudaMemcpy(&failed, info, sizeof failed, TO_HOST) &&
		  !failed && four[0] == 2 && four[1] == 1 && four[3] == 2);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*try)(void);
	} parts[] = {{"kernel", try_kernel},
		     {"cuBLAS", try_cublas},
		     {"cuFFT", try_cufft},
		     {"cuSOLVER", try_cusolver}};
	void *at;

	if (argc > 1 && atoi(argv[1])) {
		check("allocation",
		      !cudaMalloc(&at, (size_t)atoi(argv[1]) << 20));
		return 0;
	}
	for (int i = 0; i < 4; i++)
		if (argc > 1 && !strcmp(argv[1], parts[i].name))
			parts[i].try();
	return cudaDeviceSynchronize();
}
