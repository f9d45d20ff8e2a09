/* SPDX-License-Identifier: Apache-2.0 */
/*
 * random.cu - uses cuRAND among kernels: published numbers, the same ones on
 * the host and in parts, and pi from points that a kernel counts. The library
 * is opened by name, so that the program is built without it.
 */
#include "runtime.h"

#include <dlfcn.h>
#include <math.h>

#define N (1 << 18)

enum { XORWOW = 101, MRG32K3A = 121, PHILOX = 161, SOBOL32 = 201 };
enum { SUCCESS = 0, TYPE_ERROR = 103, OUT_OF_RANGE = 104, NOT_MULTIPLE = 105 };
enum { LEGACY = 103 };

typedef struct curandGenerator_st *generator;

static int (*create)(generator *, int);
static int (*create_host)(generator *, int);
static int (*destroy)(generator);
static int (*set_seed)(generator, unsigned long long);
static int (*set_offset)(generator, unsigned long long);
static int (*set_ordering)(generator, int);
static int (*set_dimensions)(generator, unsigned);
static int (*set_stream)(generator, cudaStream_t);
static int (*bits)(generator, unsigned *, size_t);
static int (*uniform)(generator, float *, size_t);
static int (*normal)(generator, float *, size_t, float, float);
static int (*poisson)(generator, unsigned *, size_t, double);

template <typename F>
static void find(void *library, F *function, const char *name)
{
	*function = (F)dlsym(library, name);
	if (!*function)
		WRONG("no %s", name);
}

static void open_library(void)
{
	void *library = dlopen("libcurand.so.10", RTLD_NOW);

	if (!library)
		skip("no cuRAND here");
	find(library, &create, "curandCreateGenerator");
	find(library, &create_host, "curandCreateGeneratorHost");
	find(library, &destroy, "curandDestroyGenerator");
	find(library, &set_seed, "curandSetPseudoRandomGeneratorSeed");
	find(library, &set_offset, "curandSetGeneratorOffset");
	find(library, &set_ordering, "curandSetGeneratorOrdering");
	find(library, &set_dimensions,
	     "curandSetQuasiRandomGeneratorDimensions");
	find(library, &set_stream, "curandSetStream");
	find(library, &bits, "curandGenerate");
	find(library, &uniform, "curandGenerateUniform");
	find(library, &normal, "curandGenerateNormal");
	find(library, &poisson, "curandGeneratePoisson");
}

static generator made(int type)
{
	generator g;

	EQUAL(create(&g, type), SUCCESS);
	return g;
}

/* Philox with counter 0 and key 0, from the list of known answers. */
static void know_the_first_numbers(unsigned *device)
{
	unsigned x[4];
	generator g = made(PHILOX);

	EQUAL(bits(g, device, 4), SUCCESS);
	OK(cudaMemcpy(x, device, sizeof x, cudaMemcpyDeviceToHost));
	EQUAL(x[0], 0x6627e8d5);
	EQUAL(x[1], 0xe169c58d);
	EQUAL(x[2], 0xbc57ac4c);
	EQUAL(x[3], 0x9b00dbd8);
	EQUAL(destroy(g), SUCCESS);
}

/* In legacy order, which is the same on all devices and on the host. */
static void compare(unsigned *device, int type)
{
	static unsigned x[N], y[N];
	generator g = made(type), host;

	EQUAL(create_host(&host, type), SUCCESS);
	EQUAL(set_ordering(g, LEGACY), SUCCESS);
	EQUAL(set_ordering(host, LEGACY), SUCCESS);
	EQUAL(set_seed(g, 20240229), SUCCESS);
	EQUAL(set_seed(host, 20240229), SUCCESS);
	EQUAL(bits(host, x, N), SUCCESS);
	EQUAL(bits(g, device, N / 4), SUCCESS);
	EQUAL(bits(g, device + N / 4, N - N / 4), SUCCESS);
	OK(cudaMemcpy(y, device, sizeof y, cudaMemcpyDeviceToHost));
	EQUAL(memcmp(x, y, sizeof x), 0);
	EQUAL(set_offset(g, 4096), SUCCESS);
	EQUAL(bits(g, device, 4096), SUCCESS);
	OK(cudaMemcpy(y, device, 4096 * sizeof *y, cudaMemcpyDeviceToHost));
	EQUAL(memcmp(x + 4096, y, 4096 * sizeof *y), 0);
	EQUAL(destroy(g), SUCCESS);
	EQUAL(destroy(host), SUCCESS);
}

__global__ void count_inside(const float *x, const float *y, unsigned *count)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (x[i] * x[i] + y[i] * y[i] < 1)
		atomicAdd(count, 1);
}

/* Four times the part of a square that is in a circle, within `most`. */
static void estimate_pi(float *device, unsigned *count, int type, double most)
{
	generator g = made(type);
	cudaStream_t stream;
	unsigned inside;

	OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	EQUAL(set_stream(g, stream), SUCCESS);
	if (type == SOBOL32)
		EQUAL(set_dimensions(g, 2), SUCCESS);
	else
		EQUAL(set_seed(g, 7), SUCCESS);
	OK(cudaMemsetAsync(count, 0, sizeof *count, stream));
	EQUAL(uniform(g, device, 2 * N), SUCCESS);
	count_inside<<<N / 256, 256, 0, stream>>>(device, device + N, count);
	OK(cudaMemcpyAsync(&inside, count, sizeof inside,
			   cudaMemcpyDeviceToHost, stream));
	OK(cudaStreamSynchronize(stream));
	if (!(fabs(4.0 * inside / N - M_PI) < most))
		WRONG("type %d: pi is %g", type, 4.0 * inside / N);
	EQUAL(destroy(g), SUCCESS);
	OK(cudaStreamDestroy(stream));
}

static void check_moments(float *device, unsigned *counts, int type)
{
	static float x[N];
	static unsigned k[N];
	double sum = 0, squares = 0, counted = 0;
	generator g = made(type);

	EQUAL(normal(g, device, N, 10, 2), SUCCESS);
	EQUAL(poisson(g, counts, N, 12.5), SUCCESS);
	OK(cudaMemcpy(x, device, sizeof x, cudaMemcpyDeviceToHost));
	OK(cudaMemcpy(k, counts, sizeof k, cudaMemcpyDeviceToHost));
	for (int i = 0; i < N; i++) {
		sum += x[i];
		squares += (x[i] - 10.0) * (x[i] - 10.0);
		counted += k[i];
	}
	/* Within five standard deviations each. */
	REQUIRE(fabs(sum / N - 10) < 5 * 2 / sqrt(N));
	REQUIRE(fabs(squares / N - 4) < 5 * 4 * sqrt(2.0 / N));
	REQUIRE(fabs(counted / N - 12.5) < 5 * sqrt(12.5 / N));
	EQUAL(destroy(g), SUCCESS);
}

static void make_mistakes(float *device)
{
	generator g = made(XORWOW), quasi = made(SOBOL32);

	EQUAL(normal(g, device, 3, 0, 1), NOT_MULTIPLE);
	EQUAL(poisson(g, (unsigned *)device, 3, -1), OUT_OF_RANGE);
	EQUAL(set_dimensions(g, 2), TYPE_ERROR);
	EQUAL(set_seed(quasi, 2), TYPE_ERROR);
	EQUAL(set_dimensions(quasi, 20001), OUT_OF_RANGE);
	EQUAL(set_dimensions(quasi, 3), SUCCESS);
	EQUAL(uniform(quasi, device, 4), NOT_MULTIPLE);
	EQUAL(destroy(g), SUCCESS);
	EQUAL(destroy(quasi), SUCCESS);
}

int main(void)
{
	static const int types[] = {XORWOW, MRG32K3A, PHILOX};
	float *device;
	unsigned *count;

	open_library();
	OK(cudaMalloc(&device, 2 * N * sizeof *device));
	OK(cudaMalloc(&count, N * sizeof *count));
	know_the_first_numbers(count);
	for (int type : types) {
		compare(count, type);
		estimate_pi(device, count, type, 5 * 1.65 / sqrt(N));
		check_moments(device, count, type);
	}
	estimate_pi(device, count, SOBOL32, 1e-3);
	make_mistakes(device);
	OK(cudaFree(device));
	OK(cudaFree(count));
	return 0;
}
