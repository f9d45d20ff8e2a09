/* SPDX-License-Identifier: Apache-2.0 */
/*
 * managed.cu - lets the host and a kernel take turns on the same words of
 * managed memory.
 */
#include "runtime.h"

#define N 5000

__managed__ int total = 3;

__global__ void work(int *at)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < N)
		at[i] += i;
	if (!i)
		total *= 7;
}

int main(void)
{
	int *at;

	OK(cudaMallocManaged(&at, N * sizeof(int)));
	for (int round = 1; round <= 3; round++) {
		for (int i = 0; i < N; i++)
			at[i] = round * 100;
		work<<<(N + 127) / 128, 128>>>(at);
		LAUNCHED();
		OK(cudaDeviceSynchronize());
		for (int i = 0; i < N; i++)
			EQUAL(at[i], round * 100 + i);
	}
	EQUAL(total, 3 * 7 * 7 * 7);
	OK(cudaMemset(at, 0, N * sizeof(int)));
	OK(cudaDeviceSynchronize());
	EQUAL(at[N - 1], 0);
	OK(cudaFree(at));
	return 0;
}
