/* SPDX-License-Identifier: Apache-2.0 */
/*
 * peer_driver.c - checks two GPUs: copies between contexts, access of one to
 * the other's memory.
 */
#include "driver.h"

#define N 500

int main(void)
{
	CUcontext here, there;
	CUdeviceptr a, b;
	CUdevice one;
	CUfunction increment;
	int count, can, host[N], n = N;
	void *params[] = {&b, &n};

	start();
	OK(cuDeviceGetCount(&count));
	if (count < 2)
		skip("one GPU has no peer");
	OK(cuCtxGetCurrent(&here));
	OK(cuDeviceGet(&one, 1));
	OK(cuDevicePrimaryCtxRetain(&there, one));
	OK(cuMemAlloc(&a, sizeof host));
	OK(cuCtxPushCurrent(there));
	OK(cuMemAlloc(&b, sizeof host));
	OK(cuCtxPopCurrent(NULL));
	for (int i = 0; i < N; i++)
		host[i] = 3 * i;
	OK(cuMemcpyHtoD(a, host, sizeof host));
	OK(cuMemcpyPeer(b, there, a, here, sizeof host));
	memset(host, 0, sizeof host);
	OK(cuMemcpyDtoH(host, b, sizeof host));
	EQUAL(host[N - 1], 3 * (N - 1));

	OK(cuDeviceCanAccessPeer(&can, 0, 1));
	if (!can)
		return 0;
	EXPECT(cuCtxDisablePeerAccess(there),
	       CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
	OK(cuCtxEnablePeerAccess(there, 0));
	EXPECT(cuCtxEnablePeerAccess(there, 0),
	       CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
	increment = kernel(kernels(), "increment");
	OK(cuLaunchKernel(increment, 1, 1, 1, 512, 1, 1, 0, NULL, params,
			  NULL));
	OK(cuMemcpyDtoH(host, b, sizeof host));
	for (int i = 0; i < N; i++)
		EQUAL(host[i], 3 * i + 1);
	OK(cuCtxDisablePeerAccess(there));
	return 0;
}
