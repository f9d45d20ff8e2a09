/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vector_add.cu - sums vectors whose length fills no block, and checks what is
 * after them.
 */
#include "runtime.h"

#define N    1000003
#define TAIL 16

__global__ void add(const float *a, const float *b, float *to, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		to[i] = a[i] + b[i];
}

int main(void)
{
	size_t bytes = (N + TAIL) * sizeof(float);
	float *a = (float *)malloc(bytes), *b = (float *)malloc(bytes);
	float *to = (float *)malloc(bytes), *da, *db, *dto;

	for (int i = 0; i < N + TAIL; i++) {
		a[i] = (float)i;
		b[i] = 0.5f;
		to[i] = -1;
	}
	OK(cudaMalloc(&da, bytes));
	OK(cudaMalloc(&db, bytes));
	OK(cudaMalloc(&dto, bytes));
	OK(cudaMemcpy(da, a, bytes, cudaMemcpyHostToDevice));
	OK(cudaMemcpy(db, b, bytes, cudaMemcpyHostToDevice));
	OK(cudaMemcpy(dto, to, bytes, cudaMemcpyHostToDevice));
	add<<<(N + 255) / 256, 256>>>(da, db, dto, N);
	LAUNCHED();
	OK(cudaDeviceSynchronize());
	OK(cudaMemcpy(to, dto, bytes, cudaMemcpyDeviceToHost));
	for (int i = 0; i < N; i++)
		if (to[i] != (float)i + 0.5f)
			WRONG("sum %d is %g", i, (double)to[i]);
	for (int i = N; i < N + TAIL; i++)
		EQUAL_FLOAT(to[i], -1);
	OK(cudaFree(da));
	OK(cudaFree(db));
	OK(cudaFree(dto));
	free(a), free(b), free(to);
	return 0;
}
