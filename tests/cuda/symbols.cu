/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symbols.cu - checks variables of a module: initial values, size, address,
 * copies both ways.
 */
#include "runtime.h"

__device__ int number = 11;
__device__ float floats[100] = {1, 2, 3};
__constant__ int table[4];

__global__ void use(int *to)
{
	to[threadIdx.x] = number + table[threadIdx.x];
	if (!threadIdx.x)
		number++;
}

int main(void)
{
	int host[4] = {10, 20, 30, 40}, *to, value;
	float three[3];
	void *at;
	size_t size;

	OK(cudaMemcpyFromSymbol(&value, number, sizeof value));
	EQUAL(value, 11);
	OK(cudaGetSymbolSize(&size, floats));
	EQUAL(size, 100 * sizeof(float));
	OK(cudaMemcpyFromSymbol(three, floats, sizeof three));
	EQUAL_FLOAT(three[2], 3);

	value = 100;
	OK(cudaMemcpyToSymbol(number, &value, sizeof value));
	OK(cudaMemcpyToSymbol(table, host, 2 * sizeof(int), 0));
	OK(cudaMemcpyToSymbol(table, host + 2, 2 * sizeof(int),
			      2 * sizeof(int)));
	OK(cudaMalloc(&to, sizeof host));
	use<<<1, 4>>>(to);
	LAUNCHED();
	OK(cudaMemcpy(host, to, sizeof host, cudaMemcpyDeviceToHost));
	for (int i = 0; i < 4; i++)
		EQUAL(host[i], 110 + 10 * i);
	OK(cudaGetSymbolAddress(&at, number));
	OK(cudaMemcpy(&value, at, sizeof value, cudaMemcpyDeviceToHost));
	EQUAL(value, 101);

	EXPECT(cudaGetSymbolAddress(&at, host), cudaErrorInvalidSymbol);
	EXPECT(cudaMemcpyToSymbol(number, &value, 1000), cudaErrorInvalidValue);
	OK(cudaFree(to));
	return 0;
}
