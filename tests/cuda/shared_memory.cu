/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shared_memory.cu - checks blocks that work together: shared memory, static
 * and dynamic, barriers.
 */
#include "runtime.h"

#define N      4096
#define THREADS 256

__global__ void sum(const int *from, int *to)
{
	__shared__ int part[THREADS];
	int t = threadIdx.x;

	part[t] = from[blockIdx.x * THREADS + t];
	__syncthreads();
	for (int half = THREADS / 2; half; half /= 2) {
		if (t < half)
			part[t] += part[t + half];
		__syncthreads();
	}
	if (!t)
		to[blockIdx.x] = part[0];
}

__global__ void turn(int *at)
{
	extern __shared__ int held[];

	held[threadIdx.x] = at[threadIdx.x];
	__syncthreads();
	at[threadIdx.x] = held[blockDim.x - 1 - threadIdx.x];
}

int main(void)
{
	int host[N], *from, *to;

	for (int i = 0; i < N; i++)
		host[i] = i;
	OK(cudaMalloc(&from, sizeof host));
	OK(cudaMalloc(&to, sizeof host));
	OK(cudaMemcpy(from, host, sizeof host, cudaMemcpyHostToDevice));
	sum<<<N / THREADS, THREADS>>>(from, to);
	turn<<<1, 1000, 1000 * sizeof(int)>>>(from);
	LAUNCHED();
	OK(cudaMemcpy(host, to, N / THREADS * sizeof(int),
		      cudaMemcpyDeviceToHost));
	for (int i = 0; i < N / THREADS; i++)
		EQUAL(host[i],
		      THREADS * (i * THREADS) + THREADS * (THREADS - 1) / 2);
	OK(cudaMemcpy(host, from, sizeof host, cudaMemcpyDeviceToHost));
	for (int i = 0; i < N; i++)
		EQUAL(host[i], i < 1000 ? 999 - i : i);
	OK(cudaFree(from));
	OK(cudaFree(to));
	return 0;
}
