/* SPDX-License-Identifier: Apache-2.0 */
/*
 * matmul_lt_driver.c - checks cuBLASLt: halves, with a bias and ReLU, by the
 * algorithm that its heuristics return. The library is opened by name: without
 * it there is nothing to check.
 */
#include "driver.h"

#include <dlfcn.h>
#include <stdint.h>

#define M 64
#define N 48
#define K 32

/* The values of cublasLt.h. */
#define R_32F                0
#define R_16F                2
#define COMPUTE_32F          68
#define DESC_TRANSA          3
#define DESC_EPILOGUE        7
#define DESC_BIAS            8
#define PREF_WORKSPACE       1
#define EPILOGUE_RELU_BIAS   6
#define WORKSPACE            (1 << 20)
#define STATUS_NOT_SUPPORTED 15

struct heuristic {
	uint64_t algo[8];
	size_t workspace;
	int state;
	float waves;
	int reserved[4];
};

static void *library;

#define LT(name, ...) ((int (*)())function(#name))(__VA_ARGS__)
#define LT_OK(name, ...)                                                       \
	do {                                                                   \
		int status_ = LT(name, __VA_ARGS__);                           \
                                                                               \
		if (status_)                                                   \
			WRONG("%s: status %d", #name, status_);                \
	} while (0)

static void *function(const char *name)
{
	void *found = dlsym(library, name);

	if (!found)
		WRONG("no %s", name);
	return found;
}

/* A multiple of 1/2 below 2048 as a half. */
static uint16_t half_of(float x)
{
	uint32_t bits;

	memcpy(&bits, &x, sizeof bits);
	if (!(bits & 0x7fffffff))
		return 0;
	return (uint16_t)(bits >> 31 << 15 |
			  ((bits >> 23 & 255) - 127 + 15) << 10 |
			  (bits >> 13 & 1023));
}

static float a[K][M], b[K][N], bias[M];
static uint16_t ha[M][K], hb[N][K], hbias[M], got[N][M];

/* Columns of A, which is transposed, and of B: k is contiguous. */
static void make_values(void)
{
	for (int k = 0; k < K; k++) {
		for (int i = 0; i < M; i++) {
			a[k][i] = (float)((k * 7 + i * 3) % 7 - 3);
			ha[i][k] = half_of(a[k][i]);
		}
		for (int j = 0; j < N; j++) {
			b[k][j] = (float)((k * 5 + j) % 5 - 2);
			hb[j][k] = half_of(b[k][j]);
		}
	}
	for (int i = 0; i < M; i++) {
		bias[i] = (float)(i - 20) / 2;
		hbias[i] = half_of(bias[i]);
	}
}

static void check_values(void)
{
	for (int j = 0; j < N; j++)
		for (int i = 0; i < M; i++) {
			float sum = bias[i];

			for (int k = 0; k < K; k++)
				sum += a[k][i] * b[k][j];
			EQUAL(got[j][i], half_of(sum > 0 ? sum : 0));
		}
}

static CUdeviceptr put(const void *from, size_t size)
{
	CUdeviceptr at;

	OK(cuMemAlloc(&at, size));
	OK(cuMemcpyHtoD(at, from, size));
	return at;
}

int main(void)
{
	struct heuristic found;
	void *handle, *desc, *la, *lb, *ld, *preference;
	CUdeviceptr da, db, dd, dbias, room;
	size_t workspace = WORKSPACE, value;
	uint32_t epilogue = EPILOGUE_RELU_BIAS;
	int count = 0, transposed = 1, wrong_type = 1;
	float one = 1, zero = 0;
	CUstream stream;

	library = dlopen("libcublasLt.so.13", RTLD_NOW);
	if (!library)
		library = dlopen("libcublasLt.so.12", RTLD_NOW);
	if (!library)
		skip("there is no cuBLASLt");
	start();
	make_values();
	da = put(ha, sizeof ha);
	db = put(hb, sizeof hb);
	dbias = put(hbias, sizeof hbias);
	OK(cuMemAlloc(&dd, sizeof got));
	OK(cuMemAlloc(&room, WORKSPACE));
	OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));

	LT_OK(cublasLtCreate, &handle);
	LT_OK(cublasLtMatmulDescCreate, &desc, COMPUTE_32F, R_32F);
	LT_OK(cublasLtMatmulDescSetAttribute, desc, DESC_TRANSA, &transposed,
	      sizeof transposed);
	LT_OK(cublasLtMatmulDescSetAttribute, desc, DESC_EPILOGUE, &epilogue,
	      sizeof epilogue);
	LT_OK(cublasLtMatmulDescSetAttribute, desc, DESC_BIAS, &dbias,
	      sizeof dbias);
	LT_OK(cublasLtMatmulDescGetAttribute, desc, DESC_EPILOGUE, NULL,
	      (size_t)0, &value);
	EQUAL(value, sizeof epilogue);
	LT_OK(cublasLtMatrixLayoutCreate, &la, R_16F, (uint64_t)K, (uint64_t)M,
	      (int64_t)K);
	LT_OK(cublasLtMatrixLayoutCreate, &lb, R_16F, (uint64_t)K, (uint64_t)N,
	      (int64_t)K);
	LT_OK(cublasLtMatrixLayoutCreate, &ld, R_16F, (uint64_t)M, (uint64_t)N,
	      (int64_t)M);
	LT_OK(cublasLtMatmulPreferenceCreate, &preference);
	LT_OK(cublasLtMatmulPreferenceSetAttribute, preference, PREF_WORKSPACE,
	      &workspace, sizeof workspace);
	LT_OK(cublasLtMatmulAlgoGetHeuristic, handle, desc, la, lb, ld, ld,
	      preference, 1, &found, &count);
	EQUAL(count, 1);
	EQUAL(found.state, 0);
	REQUIRE(found.workspace <= WORKSPACE);

	LT_OK(cublasLtMatmul, handle, desc, &one, (void *)da, la, (void *)db,
	      lb, &zero, (void *)dd, ld, (void *)dd, ld, found.algo,
	      (void *)room, (size_t)WORKSPACE, stream);
	OK(cuMemcpyDtoHAsync(got, dd, sizeof got, stream));
	OK(cuStreamSynchronize(stream));
	check_values();

	/* Without an algorithm the library chooses one. */
	OK(cuMemsetD8(dd, 0xee, sizeof got));
	LT_OK(cublasLtMatmul, handle, desc, &one, (void *)da, la, (void *)db,
	      lb, &zero, (void *)dd, ld, (void *)dd, ld, NULL, (void *)room,
	      (size_t)WORKSPACE, NULL);
	OK(cuMemcpyDtoH(got, dd, sizeof got));
	check_values();

	/* A product of halves and doubles does not exist. */
	LT_OK(cublasLtMatrixLayoutDestroy, lb);
	LT_OK(cublasLtMatrixLayoutCreate, &lb, wrong_type, (uint64_t)K,
	      (uint64_t)N, (int64_t)K);
	EQUAL(LT(cublasLtMatmulAlgoGetHeuristic, handle, desc, la, lb, ld, ld,
		 preference, 1, &found, &count),
	      STATUS_NOT_SUPPORTED);
	LT_OK(cublasLtMatmulPreferenceDestroy, preference);
	LT_OK(cublasLtMatrixLayoutDestroy, la);
	LT_OK(cublasLtMatrixLayoutDestroy, lb);
	LT_OK(cublasLtMatrixLayoutDestroy, ld);
	LT_OK(cublasLtMatmulDescDestroy, desc);
	LT_OK(cublasLtDestroy, handle);
	return 0;
}
