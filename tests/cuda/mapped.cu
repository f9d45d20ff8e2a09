/* SPDX-License-Identifier: Apache-2.0 */
/* mapped.cu - checks host memory that a kernel writes to directly. */
#include "runtime.h"

#define N 3000

__global__ void square(int *at)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < N)
		at[i] = i * i;
}

static void check(int *host, int *seen)
{
	memset(host, 0, N * sizeof(int));
	square<<<(N + 63) / 64, 64>>>(seen);
	LAUNCHED();
	OK(cudaDeviceSynchronize());
	for (int i = 0; i < N; i++)
		EQUAL(host[i], i * i);
}

int main(void)
{
	int *host, *seen, *own = (int *)aligned_alloc(4096, 3 * 4096);

	OK(cudaHostAlloc(&host, N * sizeof(int), cudaHostAllocMapped));
	OK(cudaHostGetDevicePointer(&seen, host, 0));
	check(host, seen);
	OK(cudaFreeHost(host));

	OK(cudaHostRegister(own, N * sizeof(int), cudaHostRegisterMapped));
	OK(cudaHostGetDevicePointer(&seen, own, 0));
	check(own, seen);
	OK(cudaHostUnregister(own));
	free(own);
	return 0;
}
