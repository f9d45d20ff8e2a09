/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host_memory_driver.c - checks host memory that is pinned, mapped or
 * registered, and managed memory.
 */
#include "driver.h"

#define N 20000

static unsigned of(const void *at, CUpointer_attribute what)
{
	unsigned value = 0;

	OK(cuPointerGetAttribute(&value, what, (CUdeviceptr)at));
	return value;
}

static void run(CUfunction increment, CUdeviceptr at, int *host)
{
	int n = N;
	void *params[] = {&at, &n};

	for (int i = 0; i < N; i++)
		host[i] = i;
	OK(cuLaunchKernel(increment, (N + 255) / 256, 1, 1, 256, 1, 1, 0, NULL,
			  params, NULL));
	OK(cuCtxSynchronize());
	for (int i = 0; i < N; i++)
		EQUAL(host[i], i + 1);
}

int main(void)
{
	int *host, *own = aligned_alloc(4096, 20 * 4096);
	CUdeviceptr seen, managed;
	CUfunction increment;
	unsigned flags;

	start();
	increment = kernel(kernels(), "increment");

	OK(cuMemHostAlloc((void **)&host, N * sizeof(int),
			  CU_MEMHOSTALLOC_DEVICEMAP));
	OK(cuMemHostGetDevicePointer(&seen, host, 0));
	EQUAL(of(host, CU_POINTER_ATTRIBUTE_MEMORY_TYPE), CU_MEMORYTYPE_HOST);
	OK(cuMemHostGetFlags(&flags, host));
	REQUIRE(flags & CU_MEMHOSTALLOC_DEVICEMAP);
	run(increment, seen, host);
	OK(cuMemFreeHost(host));

	OK(cuMemHostRegister(own, N * sizeof(int),
			     CU_MEMHOSTREGISTER_DEVICEMAP));
	EXPECT(cuMemHostRegister(own, 4096, 0),
	       CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
	OK(cuMemHostGetDevicePointer(&seen, own, 0));
	run(increment, seen, own);
	OK(cuMemHostUnregister(own));
	EXPECT(cuMemHostUnregister(own), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
	free(own);

	OK(cuMemAllocManaged(&managed, N * sizeof(int), CU_MEM_ATTACH_GLOBAL));
	EQUAL(of((void *)managed, CU_POINTER_ATTRIBUTE_IS_MANAGED), 1);
	run(increment, managed, (int *)managed);
	OK(cuMemFree(managed));
	return 0;
}
