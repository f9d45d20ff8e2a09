/* SPDX-License-Identifier: Apache-2.0 */
/*
 * context_driver.c - checks contexts: primary and created, the stack of each
 * thread, what needs one.
 */
#include "driver.h"

#include <pthread.h>

static CUcontext shared;

static void *other_thread(void *device)
{
	CUcontext now;
	CUdevice which;

	(void)device;
	OK(cuCtxGetCurrent(&now));
	EQUAL(now, 0);
	EXPECT(cuCtxSynchronize(), CUDA_ERROR_INVALID_CONTEXT);
	OK(cuCtxSetCurrent(shared));
	OK(cuCtxGetDevice(&which));
	OK(cuCtxSynchronize());
	return NULL;
}

static void primary(CUdevice device)
{
	CUcontext one, two;
	unsigned flags;
	int active;

	OK(cuDevicePrimaryCtxGetState(device, &flags, &active));
	EQUAL(active, 0);
	OK(cuDevicePrimaryCtxRetain(&one, device));
	OK(cuDevicePrimaryCtxRetain(&two, device));
	EQUAL(one, two);
	OK(cuDevicePrimaryCtxGetState(device, &flags, &active));
	EQUAL(active, 1);
	OK(cuDevicePrimaryCtxRelease(device));
	OK(cuDevicePrimaryCtxRelease(device));
	OK(cuDevicePrimaryCtxGetState(device, &flags, &active));
	EQUAL(active, 0);
	EXPECT(cuDevicePrimaryCtxRelease(device), CUDA_ERROR_INVALID_CONTEXT);
}

static void stack(CUdevice device)
{
	CUcontext a, b, now;
	CUdevice which;
	unsigned flags, version;

	OK(cuCtxCreate(&a, NULL, CU_CTX_SCHED_YIELD, device));
	OK(cuCtxGetCurrent(&now));
	EQUAL(now, a);
	OK(cuCtxGetFlags(&flags));
	EQUAL(flags & CU_CTX_SCHED_MASK, CU_CTX_SCHED_YIELD);
	OK(cuCtxGetApiVersion(a, &version));
	REQUIRE(version >= 3010);
	OK(cuCtxCreate(&b, NULL, 0, device));
	REQUIRE(a != b);
	OK(cuCtxPopCurrent(&now));
	EQUAL(now, b);
	OK(cuCtxGetCurrent(&now));
	EQUAL(now, a);
	OK(cuCtxPushCurrent(b));
	OK(cuCtxGetDevice(&which));
	EQUAL(which, device);
	OK(cuCtxDestroy(b));
	OK(cuCtxGetCurrent(&now));
	EQUAL(now, a);
	OK(cuCtxSetCurrent(NULL));
	OK(cuCtxGetCurrent(&now));
	EQUAL(now, 0);
	EXPECT(cuCtxPopCurrent(&now), CUDA_ERROR_INVALID_CONTEXT);
	EXPECT(cuCtxGetDevice(&which), CUDA_ERROR_INVALID_CONTEXT);
	OK(cuCtxDestroy(a));
}

int main(void)
{
	CUdeviceptr at;
	CUdevice device;
	pthread_t thread;
	int count;

	EXPECT(cuDeviceGetCount(&count), CUDA_ERROR_NOT_INITIALIZED);
	EXPECT(cuMemAlloc(&at, 10), CUDA_ERROR_NOT_INITIALIZED);
	OK(cuInit(0));
	EXPECT(cuMemAlloc(&at, 10), CUDA_ERROR_INVALID_CONTEXT);
	EXPECT(cuInit(1), CUDA_ERROR_INVALID_VALUE);
	OK(cuDeviceGet(&device, 0));
	primary(device);
	stack(device);
	OK(cuDevicePrimaryCtxRetain(&shared, device));
	pthread_create(&thread, NULL, other_thread, NULL);
	pthread_join(thread, NULL);
	OK(cuDevicePrimaryCtxRelease(device));
	return 0;
}
