/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread_storm_driver.c - starts and ends many threads at once:
 * thread_storm_driver [THREADS [ROUNDS]]. Each has a module and a stream of its
 * own; memory of one is freed by another, and they use the per-thread default
 * streams.
 */
#include "driver.h"

#include <pthread.h>

#define N 500

static CUdevice device;
static CUcontext shared;
static unsigned rounds;

/* Where a thread leaves a block for the next one. */
static CUdeviceptr left;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static CUdeviceptr swap(CUdeviceptr mine)
{
	CUdeviceptr theirs;

	pthread_mutex_lock(&lock);
	theirs = left;
	left = mine;
	pthread_mutex_unlock(&lock);
	return theirs;
}

static void one_round(CUfunction increment, CUstream stream, unsigned value)
{
	unsigned host[N];
	int n = N;
	CUevent done;
	CUdeviceptr at;
	void *params[] = {&at, &n};

	OK(cuMemAlloc(&at, sizeof host));
	OK(cuEventCreate(&done, 0));
	OK(cuMemsetD32Async(at, value, N, stream));
	OK(cuLaunchKernel(increment, (N + 63) / 64, 1, 1, 64, 1, 1, 0, stream,
			  params, NULL));
	OK(cuEventRecord(done, stream));
	OK(cuEventSynchronize(done));
	OK(cuMemcpyDtoH(host, at, sizeof host));
	for (int i = 0; i < N; i++)
		EQUAL(host[i], value + 1);
	OK(cuEventDestroy(done));
	at = swap(at);
	if (at)
		OK(cuMemFree(at));
}

static void *work(void *mine)
{
	unsigned nth = (unsigned)(size_t)mine;
	CUfunction increment;
	CUcontext again;
	CUmodule module;
	CUstream stream;

	OK(cuCtxSetCurrent(shared));
	module = kernels();
	increment = kernel(module, "increment");
	OK(cuStreamCreate(&stream, nth % 2 ? CU_STREAM_NON_BLOCKING : 0));
	for (unsigned i = 0; i < rounds; i++)
		one_round(increment, i % 3 ? stream : CU_STREAM_PER_THREAD,
			  nth * 1000 + i);
	OK(cuStreamDestroy(stream));
	OK(cuModuleUnload(module));
	OK(cuDevicePrimaryCtxRetain(&again, device));
	EQUAL(again, shared);
	OK(cuDevicePrimaryCtxRelease(device));
	return NULL;
}

int main(int argc, char **argv)
{
	unsigned threads = argc > 1 ? strtoul(argv[1], NULL, 10) : 16;
	pthread_t thread[256];
	size_t before, after, total;

	rounds = argc > 2 ? strtoul(argv[2], NULL, 10) : 20;
	REQUIRE(threads <= 256);
	device = start();
	OK(cuCtxGetCurrent(&shared));
	OK(cuMemGetInfo(&before, &total));
	for (size_t i = 0; i < threads; i++)
		REQUIRE(!pthread_create(&thread[i], NULL, work, (void *)i));
	for (size_t i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
	OK(cuMemFree(swap(0)));
	OK(cuMemGetInfo(&after, &total));
	REQUIRE(after + ((size_t)64 << 20) > before);
	return 0;
}
