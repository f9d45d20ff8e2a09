/* SPDX-License-Identifier: Apache-2.0 */
/*
 * managed_moves.cu - checks managed memory that is moved before its use:
 * prefetching, advice, attributes of ranges, and more of it than the GPU has.
 */
#include "runtime.h"

#define N     (1 << 20)
#define BYTES (N * sizeof(int))

__global__ void add(int *at, int value)
{
	at[blockIdx.x * blockDim.x + threadIdx.x] += value;
}

static cudaMemLocation place(cudaMemLocationType type, int id)
{
	cudaMemLocation location = {};

	location.type = type;
	location.id = id;
	return location;
}

static const cudaMemLocation gpu = place(cudaMemLocationTypeDevice, 0);
static const cudaMemLocation cpu = place(cudaMemLocationTypeHost, 0);

static int told(cudaMemRangeAttribute attribute, const void *at, size_t size)
{
	int value = -99;

	OK(cudaMemRangeGetAttribute(&value, sizeof value, attribute, at, size));
	return value;
}

static size_t left(void)
{
	size_t free, total;

	OK(cudaDeviceSynchronize());
	OK(cudaMemGetInfo(&free, &total));
	return free;
}

static void there_and_back(cudaStream_t stream)
{
	int *at;

	OK(cudaMallocManaged(&at, BYTES));
	for (int i = 0; i < N; i++)
		at[i] = i;
	for (int round = 1; round <= 3; round++) {
		OK(cudaMemPrefetchAsync(at, BYTES, gpu, 0, stream));
		add<<<N / 256, 256, 0, stream>>>(at, 5);
		LAUNCHED();
		OK(cudaMemPrefetchAsync(at, BYTES, cpu, 0, stream));
		OK(cudaStreamSynchronize(stream));
		for (int i = 0; i < N; i++)
			EQUAL(at[i], i + 5 * round);
	}
	EQUAL(told(cudaMemRangeAttributeLastPrefetchLocation, at, BYTES),
	      cudaCpuDeviceId);
	OK(cudaMemPrefetchAsync(at, BYTES / 2, gpu, 0, stream));
	EQUAL(told(cudaMemRangeAttributeLastPrefetchLocation, at, BYTES),
	      cudaInvalidDeviceId);
	EQUAL(told(cudaMemRangeAttributeLastPrefetchLocation, at, BYTES / 2),
	      0);
	OK(cudaStreamSynchronize(stream));
	OK(cudaFree(at));
}

static void advice(void)
{
	int *at, by[2];

	OK(cudaMallocManaged(&at, BYTES));
	OK(cudaMemAdvise(at, BYTES, cudaMemAdviseSetReadMostly, gpu));
	EQUAL(told(cudaMemRangeAttributeReadMostly, at, BYTES), 1);
	OK(cudaMemAdvise(at, BYTES, cudaMemAdviseUnsetReadMostly, gpu));
	EQUAL(told(cudaMemRangeAttributeReadMostly, at, BYTES), 0);
	OK(cudaMemAdvise(at, BYTES, cudaMemAdviseSetPreferredLocation, cpu));
	OK(cudaMemAdvise(at, BYTES, cudaMemAdviseSetAccessedBy, gpu));
	EQUAL(told(cudaMemRangeAttributePreferredLocation, at, BYTES),
	      cudaCpuDeviceId);
	OK(cudaMemRangeGetAttribute(
	    by, sizeof by, cudaMemRangeAttributeAccessedBy, at, BYTES));
	EQUAL(by[0], 0);
	EQUAL(by[1], cudaInvalidDeviceId);
	EXPECT(cudaMemAdvise(by, sizeof by, cudaMemAdviseSetReadMostly, gpu),
	       cudaErrorInvalidValue);
	EXPECT(cudaMemPrefetchAsync(at, BYTES + 1, gpu, 0, 0),
	       cudaErrorInvalidValue);
	cudaGetLastError();
	OK(cudaFree(at));
}

/* The GPU has less memory while they are there. */
static void moved_memory_is_the_gpus(void)
{
	size_t before = left(), size = 256u << 20;
	char *at;

	OK(cudaMallocManaged(&at, size));
	memset(at, 1, size);
	OK(cudaMemPrefetchAsync(at, size, gpu, 0, 0));
	REQUIRE(before - left() >= size / 2);
	OK(cudaMemPrefetchAsync(at, size, cpu, 0, 0));
	REQUIRE(left() + size / 2 >= before);
	EQUAL(at[size - 1], 1);
	OK(cudaFree(at));
}

/* Little is left on the GPU; what is evicted again is not lost. */
static void more_than_the_gpu_has(void)
{
	size_t size = 512u << 20, part = size / 16;
	char *at[4], *most;

	OK(cudaMalloc(&most, left() - (1u << 30)));
	for (int i = 0; i < 4; i++) {
		OK(cudaMallocManaged(&at[i], size));
		for (int j = 0; j < 16; j++)
			at[i][(j + 1) * part - 1] = (char)(i * 16 + j);
	}
	for (int i = 0; i < 4; i++)
		OK(cudaMemPrefetchAsync(at[i], size, gpu, 0, 0));
	OK(cudaDeviceSynchronize());
	OK(cudaFree(most));
	OK(cudaMalloc(&most, left() / 10 * 9));
	for (int i = 0; i < 4; i++) {
		for (int j = 0; j < 16; j++)
			EQUAL(at[i][(j + 1) * part - 1], i * 16 + j);
		OK(cudaFree(at[i]));
	}
	OK(cudaFree(most));
}

int main(void)
{
	cudaStream_t stream;
	int concurrent = 0;

	OK(cudaDeviceGetAttribute(&concurrent,
				  cudaDevAttrConcurrentManagedAccess, 0));
	if (!concurrent)
		skip("this GPU cannot move managed memory");
	OK(cudaStreamCreate(&stream));
	there_and_back(stream);
	advice();
	moved_memory_is_the_gpus();
	more_than_the_gpu_has();
	OK(cudaStreamDestroy(stream));
	return 0;
}
