/* SPDX-License-Identifier: Apache-2.0 */
/*
 * saxpy.cu - computes y = a x + y with a stride of the whole grid, in floats
 * and in doubles.
 */
#include "runtime.h"

#define N 100000

template <typename T>
__global__ void axpy(T a, const T *x, T *y, int n)
{
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
	     i += gridDim.x * blockDim.x)
		y[i] = a * x[i] + y[i];
}

template <typename T> static void check(void)
{
	T *host = (T *)malloc(N * sizeof(T)), *x, *y;

	OK(cudaMalloc(&x, N * sizeof(T)));
	OK(cudaMalloc(&y, N * sizeof(T)));
	for (int i = 0; i < N; i++)
		host[i] = (T)i;
	OK(cudaMemcpy(x, host, N * sizeof(T), cudaMemcpyHostToDevice));
	for (int i = 0; i < N; i++)
		host[i] = (T)1;
	OK(cudaMemcpy(y, host, N * sizeof(T), cudaMemcpyHostToDevice));
	axpy<T><<<7, 96>>>((T)2, x, y, N);
	axpy<T><<<1, 1024>>>((T)1, x, y, N);
	LAUNCHED();
	OK(cudaMemcpy(host, y, N * sizeof(T), cudaMemcpyDeviceToHost));
	for (int i = 0; i < N; i++)
		EQUAL_FLOAT(host[i], 3.0 * i + 1);
	OK(cudaFree(x));
	OK(cudaFree(y));
	free(host);
}

int main(void)
{
	check<float>();
	check<double>();
	return 0;
}
