/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blas_cost.c - what cuBLAS costs beside OpenBLAS called directly: products of
 * 1024 x 1024 floats, in turns, from the call until the stream is empty. On the
 * machine of its environment. One line a thing.
 */
#include "base/clock.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#define N       1024
#define ROUNDS  31
#define COLUMNS 102 /* CblasColMajor */
#define PLAIN   111 /* CblasNoTrans */

typedef int gemm_fn(void *handle, int ta, int tb, int m, int n, int k,
		    const float *alpha, const void *a, int lda, const void *b,
		    int ldb, const float *beta, void *c, int ldc);
typedef void cblas_fn(int order, int ta, int tb, int m, int n, int k,
		      float alpha, const float *a, int lda, const float *b,
		      int ldb, float beta, float *c, int ldc);

static void *open_library(const char *name)
{
	void *library = dlopen(name, RTLD_NOW);

	if (!library) {
		fprintf(stderr, "blas_cost: %s\n", dlerror());
		exit(1);
	}
	return library;
}

static void *symbol(void *library, const char *name)
{
	void *at = dlsym(library, name);

	if (!at) {
		fprintf(stderr, "blas_cost: %s\n", dlerror());
		exit(1);
	}
	return at;
}

static void must(int result, const char *what)
{
	if (!result)
		return;
	fprintf(stderr, "blas_cost: %s: %d\n", what, result);
	exit(1);
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *times)
{
	qsort(times, ROUNDS, sizeof *times, compare);
	return times[ROUNDS / 2];
}

static double now_ms(void)
{
	return (double)gk_mono_ns() / 1e6;
}

/* Three matrices on the device, those of `host`. */
static void fill_device(void *cuda, const float *host, unsigned long long at[3])
{
	int (*alloc)(unsigned long long *, size_t) =
	    symbol(cuda, "cuMemAlloc_v2");
	int (*copy)(unsigned long long, const void *, size_t) =
	    symbol(cuda, "cuMemcpyHtoD_v2");

	for (int i = 0; i < 3; i++) {
		must(alloc(&at[i], sizeof(float) * N * N), "cuMemAlloc");
		must(copy(at[i], host, sizeof(float) * N * N), "cuMemcpyHtoD");
	}
}

int main(void)
{
	void *cuda = open_library("libcuda.so.1");
	void *blas = open_library("libcublas.so.13");
	cblas_fn *direct =
	    (cblas_fn *)symbol(open_library("libopenblas.so.0"), "cblas_sgemm");
	gemm_fn *ours = (gemm_fn *)symbol(blas, "cublasSgemm_v2");
	int (*create)(void **) = symbol(blas, "cublasCreate_v2");
	int (*wait)(void *) = symbol(cuda, "cuStreamSynchronize");
	float *host = calloc(3 * N * N, sizeof *host), one = 1, zero = 0;
	double theirs[ROUNDS], times[ROUNDS], apart[ROUNDS];
	unsigned long long at[3];
	void *handle;

	for (int i = 0; host && i < 3 * N * N; i++)
		host[i] = (float)(i % 17);
	must(!host || create(&handle), "cublasCreate");
	fill_device(cuda, host, at);
	for (int round = -3; round < ROUNDS; round++) {
		int r = round < 0 ? 0 : round;
		double start = now_ms();

		direct(COLUMNS, PLAIN, PLAIN, N, N, N, 1, host, N, host + N * N,
		       N, 0, host + 2 * N * N, N);
		theirs[r] = now_ms() - start;
		start = now_ms();
		must(ours(handle, 0, 0, N, N, N, &one, (void *)at[0], N,
			  (void *)at[1], N, &zero, (void *)at[2], N),
		     "cublasSgemm");
		must(wait(NULL), "cuStreamSynchronize");
		times[r] = now_ms() - start;
		apart[r] = 100 * (times[r] - theirs[r]) / theirs[r];
	}
	printf("openblas_ms %f\nsgemm_ms %f\nsgemm_over_percent %f\n",
	       median(theirs), median(times), median(apart));
	return 0;
}
