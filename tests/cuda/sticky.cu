/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sticky.cu - checks that the error of a kernel that writes to a wrong address
 * stays.
 */
#include "runtime.h"

__global__ void store(int *at)
{
	*at = 1;
}

int main(void)
{
	void *at;

	OK(cudaMalloc(&at, 100));
	store<<<1, 1>>>((int *)64);
	LAUNCHED();
	EXPECT(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
	EXPECT(cudaGetLastError(), cudaErrorIllegalAddress);
	EXPECT(cudaMalloc(&at, 100), cudaErrorIllegalAddress);
	EXPECT(cudaMemset(at, 0, 100), cudaErrorIllegalAddress);
	store<<<1, 1>>>((int *)at);
	EXPECT(cudaGetLastError(), cudaErrorIllegalAddress);
	EXPECT(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
	EXPECT(cudaFree(at), cudaErrorIllegalAddress);
	/* Calls that ask nothing of the device return it too. */
	EXPECT(cudaFree(NULL), cudaErrorIllegalAddress);
	EXPECT(cudaMemset(at, 0, 0), cudaErrorIllegalAddress);
	EXPECT(cudaMalloc(&at, 0), cudaErrorIllegalAddress);
	OK(cudaDeviceReset());
	EXPECT(cudaMalloc(&at, 100), cudaErrorIllegalAddress);
	return 0;
}
