/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blas.cu - uses cuBLAS among kernels: products, sums and batches in the order
 * of a stream, scalars on the host and on the device. The library is opened by
 * name, so that the program is built without it.
 */
#include "runtime.h"

#include <dlfcn.h>

#define N 64

typedef struct cublasContext *cublasHandle_t;

enum { OP_N, OP_T, OP_C };
enum { POINTER_MODE_HOST, POINTER_MODE_DEVICE };

static int (*create)(cublasHandle_t *);
static int (*destroy)(cublasHandle_t);
static int (*set_stream)(cublasHandle_t, cudaStream_t);
static int (*set_pointer_mode)(cublasHandle_t, int);
static int (*sgemm)(cublasHandle_t, int, int, int, int, int, const float *,
		    const float *, int, const float *, int, const float *,
		    float *, int);
static int (*sgemm_batched)(cublasHandle_t, int, int, int, int, int,
			    const float *, const float *const *, int,
			    const float *const *, int, const float *,
			    float *const *, int, int);
static int (*saxpy)(cublasHandle_t, int, const float *, const float *, int,
		    float *, int);
static int (*sdot)(cublasHandle_t, int, const float *, int, const float *, int,
		   float *);
static int (*isamax)(cublasHandle_t, int, const float *, int, int *);

template <typename F>
static void find(void *library, F *function, const char *name)
{
	*function = (F)dlsym(library, name);
	if (!*function)
		WRONG("no %s", name);
}

static void open_library(void)
{
	void *library = dlopen("libcublas.so.13", RTLD_NOW);

	if (!library)
		library = dlopen("libcublas.so.12", RTLD_NOW);
	if (!library)
		skip("no cuBLAS here");
	find(library, &create, "cublasCreate_v2");
	find(library, &destroy, "cublasDestroy_v2");
	find(library, &set_stream, "cublasSetStream_v2");
	find(library, &set_pointer_mode, "cublasSetPointerMode_v2");
	find(library, &sgemm, "cublasSgemm_v2");
	find(library, &sgemm_batched, "cublasSgemmBatched");
	find(library, &saxpy, "cublasSaxpy_v2");
	find(library, &sdot, "cublasSdot_v2");
	find(library, &isamax, "cublasIsamax_v2");
}

__global__ void fill(float *x, float first, float step, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		x[i] = first + step * (i % 16);
}

__global__ void add_one(float *x, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		x[i] += 1;
}

static float *matrix(float first, float step, cudaStream_t stream)
{
	float *x;

	OK(cudaMalloc(&x, N * N * sizeof *x));
	fill<<<N, N, 0, stream>>>(x, first, step, N * N);
	LAUNCHED();
	return x;
}

/* A kernel, a product, a kernel: each sees the result of the one before it. */
static void check_order(cublasHandle_t handle, cudaStream_t stream)
{
	float *a = matrix(1, 1, stream), *b = matrix(2, -1, stream);
	float *c = matrix(0, 0, stream), one = 1, host[N * N];

	for (int i = 0; i < 3; i++) {
		EQUAL(sgemm(handle, OP_N, OP_T, N, N, N, &one, a, N, b, N, &one,
			    c, N),
		      0);
		add_one<<<N, N, 0, stream>>>(c, N * N);
		LAUNCHED();
	}
	OK(cudaMemcpyAsync(host, c, sizeof host, cudaMemcpyDeviceToHost,
			   stream));
	OK(cudaStreamSynchronize(stream));
	for (int j = 0; j < N; j++) {
		for (int i = 0; i < N; i++) {
			float left = 1 + i % 16, right = 2 - j % 16;

			EQUAL_FLOAT(host[j * N + i],
				    3 * (N * left * right + 1));
		}
	}
	OK(cudaFree(a));
	OK(cudaFree(b));
	OK(cudaFree(c));
}

static void check_scalars(cublasHandle_t handle, cudaStream_t stream)
{
	float *x = matrix(1, 1, stream), *y = matrix(0, 2, stream);
	float two = 2, found, *on_device;
	int index;

	EQUAL(saxpy(handle, N, &two, x, 1, y, 1), 0);
	EQUAL(sdot(handle, 16, x, 1, y, 1, &found), 0);
	/* The sum of (i + 1) (4 i + 2) for 16 values of i. */
	EQUAL_FLOAT(found, 5712);
	EQUAL(isamax(handle, 16, y, 1, &index), 0);
	EQUAL(index, 16);
	OK(cudaMalloc(&on_device, 2 * sizeof *on_device));
	OK(cudaMemcpy(on_device, &two, sizeof two, cudaMemcpyHostToDevice));
	EQUAL(set_pointer_mode(handle, POINTER_MODE_DEVICE), 0);
	EQUAL(saxpy(handle, N, on_device, x, 1, y, 1), 0);
	EQUAL(sdot(handle, 16, x, 1, y, 1, on_device + 1), 0);
	EQUAL(set_pointer_mode(handle, POINTER_MODE_HOST), 0);
	OK(cudaMemcpyAsync(&found, on_device + 1, sizeof found,
			   cudaMemcpyDeviceToHost, stream));
	OK(cudaStreamSynchronize(stream));
	EQUAL_FLOAT(found, 5712 + 2 * 1496);
	OK(cudaFree(on_device));
	OK(cudaFree(x));
	OK(cudaFree(y));
}

static void check_batch(cublasHandle_t handle, cudaStream_t stream)
{
	float *all[3] = {matrix(1, 0, stream), matrix(2, 0, stream),
			 matrix(-1, 0, stream)};
	float *out[3], **arrays, half = 0.5f, zero = 0, found;

	for (int i = 0; i < 3; i++)
		out[i] = matrix(nanf(""), 0, stream);
	OK(cudaMalloc(&arrays, 6 * sizeof *arrays));
	OK(cudaMemcpy(arrays, all, sizeof all, cudaMemcpyHostToDevice));
	OK(cudaMemcpy(arrays + 3, out, sizeof out, cudaMemcpyHostToDevice));
	EQUAL(sgemm_batched(handle, OP_N, OP_N, N, N, N, &half, arrays, N,
			    arrays, N, &zero, arrays + 3, N, 3),
	      0);
	for (int i = 0; i < 3; i++) {
		const float expected[] = {32, 128, 32};

		OK(cudaMemcpyAsync(&found, out[i] + N * N - 1, sizeof found,
				   cudaMemcpyDeviceToHost, stream));
		OK(cudaStreamSynchronize(stream));
		EQUAL_FLOAT(found, expected[i]);
		OK(cudaFree(all[i]));
		OK(cudaFree(out[i]));
	}
	OK(cudaFree(arrays));
}

int main(void)
{
	cublasHandle_t handle;
	cudaStream_t stream;

	if (!devices())
		skip("no device");
	open_library();
	OK(cudaStreamCreate(&stream));
	EQUAL(create(&handle), 0);
	EQUAL(set_stream(handle, stream), 0);
	check_order(handle, stream);
	check_scalars(handle, stream);
	check_batch(handle, stream);
	EQUAL(destroy(handle), 0);
	EQUAL(sgemm(NULL, OP_N, OP_N, 1, 1, 1, NULL, NULL, 1, NULL, 1, NULL,
		    NULL, 1),
	      1);
	OK(cudaStreamDestroy(stream));
	return 0;
}
