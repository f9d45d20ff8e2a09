/* SPDX-License-Identifier: Apache-2.0 */
/*
 * peer.cu - checks two GPUs: copies between them, access of one to the other's
 * memory.
 */
#include "runtime.h"

#define N 1000

__global__ void increment(int *at)
{
	at[threadIdx.x]++;
}

int main(void)
{
	int host[N], *a, *b, can;

	if (devices() < 2)
		skip("one GPU has no peer");
	for (int i = 0; i < N; i++)
		host[i] = i;
	OK(cudaSetDevice(0));
	OK(cudaMalloc(&a, sizeof host));
	OK(cudaSetDevice(1));
	OK(cudaMalloc(&b, sizeof host));
	OK(cudaMemset(b, 0, sizeof host));

	OK(cudaMemcpy(a, host, sizeof host, cudaMemcpyHostToDevice));
	OK(cudaMemcpyPeer(b, 1, a, 0, sizeof host));
	memset(host, 0, sizeof host);
	OK(cudaMemcpy(host, b, sizeof host, cudaMemcpyDeviceToHost));
	for (int i = 0; i < N; i++)
		EQUAL(host[i], i);

	EXPECT(cudaDeviceEnablePeerAccess(1, 0), cudaErrorInvalidDevice);
	OK(cudaDeviceCanAccessPeer(&can, 1, 1));
	EQUAL(can, 0);
	OK(cudaDeviceCanAccessPeer(&can, 1, 0));
	cudaGetLastError();
	if (!can)
		return 0;
	EXPECT(cudaDeviceDisablePeerAccess(0), cudaErrorPeerAccessNotEnabled);
	OK(cudaDeviceEnablePeerAccess(0, 0));
	EXPECT(cudaDeviceEnablePeerAccess(0, 0),
	       cudaErrorPeerAccessAlreadyEnabled);
	cudaGetLastError();
	increment<<<1, N>>>(a);
	LAUNCHED();
	OK(cudaDeviceSynchronize());
	OK(cudaMemcpy(host, a, sizeof host, cudaMemcpyDeviceToHost));
	for (int i = 0; i < N; i++)
		EQUAL(host[i], i + 1);
	OK(cudaDeviceDisablePeerAccess(0));
	OK(cudaFree(a));
	OK(cudaFree(b));
	return 0;
}
