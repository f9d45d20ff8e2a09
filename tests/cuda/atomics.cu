/* SPDX-License-Identifier: Apache-2.0 */
/* atomics.cu - lets threads add to, compare and exchange the same words. */
#include "runtime.h"

__global__ void work(int *count, int *least, int *most, unsigned *turns,
		     float *real)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	atomicAdd(count, 1);
	atomicMin(least, i);
	atomicMax(most, i);
	atomicInc(turns, 99);
	atomicAdd(real, 0.5f);
}

int main(void)
{
	int start[3] = {0, 1 << 30, -1}, end[3], *at;
	unsigned turns = 0, *turns_at;
	float real = 0, *real_at;

	OK(cudaMalloc(&at, sizeof start));
	OK(cudaMalloc(&turns_at, sizeof turns));
	OK(cudaMalloc(&real_at, sizeof real));
	OK(cudaMemcpy(at, start, sizeof start, cudaMemcpyHostToDevice));
	OK(cudaMemset(turns_at, 0, sizeof turns));
	OK(cudaMemset(real_at, 0, sizeof real));
	work<<<33, 65>>>(at, at + 1, at + 2, turns_at, real_at);
	LAUNCHED();
	OK(cudaMemcpy(end, at, sizeof end, cudaMemcpyDeviceToHost));
	OK(cudaMemcpy(&turns, turns_at, sizeof turns, cudaMemcpyDeviceToHost));
	OK(cudaMemcpy(&real, real_at, sizeof real, cudaMemcpyDeviceToHost));
	EQUAL(end[0], 33 * 65);
	EQUAL(end[1], 0);
	EQUAL(end[2], 33 * 65 - 1);
	EQUAL(turns, 33 * 65 % 100);
	EQUAL_FLOAT(real, 33 * 65 / 2.0);
	OK(cudaFree(at));
	OK(cudaFree(turns_at));
	OK(cudaFree(real_at));
	return 0;
}
