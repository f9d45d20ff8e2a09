/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool_pipeline.cu - uses stream-ordered memory as a pipeline does: rounds
 * without waits that need the memory once, pieces that pass from stream to
 * stream by events, thresholds, and a pool that another GPU may use.
 */
#include "runtime.h"

#include <vector>

#define N      (1 << 18)
#define BYTES  (N * sizeof(int))
#define ROUNDS 64

__global__ void start(int *at, int value)
{
	at[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

__global__ void add(int *to, const int *from)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	to[i] += from[i];
}

static unsigned long long told(cudaMemPool_t pool, cudaMemPoolAttr attribute)
{
	unsigned long long value = 0;

	OK(cudaMemPoolGetAttribute(pool, attribute, &value));
	return value;
}

static cudaMemPool_t pool_of(int device, unsigned long long threshold)
{
	cudaMemPoolProps props = {};
	cudaMemPool_t pool;

	props.allocType = cudaMemAllocationTypePinned;
	props.location.type = cudaMemLocationTypeDevice;
	props.location.id = device;
	OK(cudaMemPoolCreate(&pool, &props));
	OK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold,
				   &threshold));
	return pool;
}

static void holds(const int *at, cudaStream_t stream, int value)
{
	std::vector<int> host(N);

	OK(cudaMemcpyAsync(host.data(), at, BYTES, cudaMemcpyDeviceToHost,
			   stream));
	OK(cudaStreamSynchronize(stream));
	for (int i = 0; i < N; i++)
		EQUAL(host[i], value);
}

/* A stream reuses what it frees, so this takes no more than three pieces. */
static void rounds_in_one_stream(void)
{
	cudaMemPool_t pool = pool_of(0, ~0ull);
	cudaStream_t stream;
	int *sum, *at;

	OK(cudaStreamCreate(&stream));
	OK(cudaMallocFromPoolAsync((void **)&sum, BYTES, pool, stream));
	OK(cudaMemsetAsync(sum, 0, BYTES, stream));
	for (int i = 1; i <= ROUNDS; i++) {
		OK(cudaMallocFromPoolAsync((void **)&at, BYTES, pool, stream));
		start<<<N / 256, 256, 0, stream>>>(at, i);
		LAUNCHED();
		add<<<N / 256, 256, 0, stream>>>(sum, at);
		LAUNCHED();
		OK(cudaFreeAsync(at, stream));
	}
	holds(sum, stream, ROUNDS * (ROUNDS + 1) / 2);
	REQUIRE(told(pool, cudaMemPoolAttrUsedMemHigh) <= 3 * BYTES);
	OK(cudaFreeAsync(sum, stream));
	OK(cudaStreamSynchronize(stream));
	EQUAL(told(pool, cudaMemPoolAttrUsedMemCurrent), 0);
	REQUIRE(told(pool, cudaMemPoolAttrReservedMemCurrent) >= 2 * BYTES);
	OK(cudaMemPoolTrimTo(pool, 0));
	EQUAL(told(pool, cudaMemPoolAttrReservedMemCurrent), 0);
	OK(cudaStreamDestroy(stream));
	OK(cudaMemPoolDestroy(pool));
}

/* More than the GPU has in all, but never at once. */
static void rounds_of_most_of_the_memory(void)
{
	cudaStream_t streams[2];
	cudaEvent_t done;
	size_t left, total;
	char *at;

	OK(cudaMemGetInfo(&left, &total));
	OK(cudaEventCreate(&done));
	OK(cudaStreamCreate(&streams[0]));
	OK(cudaStreamCreate(&streams[1]));
	for (int i = 0; i < 8; i++) {
		cudaStream_t stream = streams[i & 1];

		OK(cudaMallocAsync((void **)&at, left / 5 * 3, stream));
		OK(cudaMemsetAsync(at, i, 1 << 20, stream));
		OK(cudaFreeAsync(at, stream));
		OK(cudaEventRecord(done, stream));
		OK(cudaStreamWaitEvent(streams[!(i & 1)], done, 0));
	}
	OK(cudaDeviceSynchronize());
	for (int i = 0; i < 2; i++)
		OK(cudaStreamDestroy(streams[i]));
	OK(cudaEventDestroy(done));
}

/* Allocated in one stream, used in a second, freed in a third. */
static void pieces_wander(void)
{
	cudaStream_t made, used, freed;
	cudaEvent_t filled, added;
	int *sum, *at;

	OK(cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking));
	OK(cudaStreamCreateWithFlags(&used, cudaStreamNonBlocking));
	OK(cudaStreamCreateWithFlags(&freed, cudaStreamNonBlocking));
	OK(cudaEventCreateWithFlags(&filled, cudaEventDisableTiming));
	OK(cudaEventCreateWithFlags(&added, cudaEventDisableTiming));
	OK(cudaMallocAsync((void **)&sum, BYTES, used));
	OK(cudaMemsetAsync(sum, 0, BYTES, used));
	for (int i = 1; i <= 10; i++) {
		OK(cudaMallocAsync((void **)&at, BYTES, made));
		start<<<N / 256, 256, 0, made>>>(at, i);
		LAUNCHED();
		OK(cudaEventRecord(filled, made));
		OK(cudaStreamWaitEvent(used, filled, 0));
		add<<<N / 256, 256, 0, used>>>(sum, at);
		LAUNCHED();
		OK(cudaEventRecord(added, used));
		OK(cudaStreamWaitEvent(freed, added, 0));
		OK(cudaFreeAsync(at, freed));
	}
	holds(sum, used, 55);
	OK(cudaFreeAsync(sum, used));
	OK(cudaDeviceSynchronize());
	OK(cudaStreamDestroy(made));
	OK(cudaStreamDestroy(used));
	OK(cudaStreamDestroy(freed));
	OK(cudaEventDestroy(filled));
	OK(cudaEventDestroy(added));
}

/* A pool belongs to its GPU alone until another gets access. */
static void another_gpu_may_use_a_pool(void)
{
	cudaMemPool_t pool = pool_of(0, 0);
	cudaMemAccessDesc access = {};
	cudaMemAccessFlags flags;
	cudaStream_t stream;
	int *at, can;

	access.location.type = cudaMemLocationTypeDevice;
	access.location.id = 1;
	access.flags = cudaMemAccessFlagsProtReadWrite;
	OK(cudaDeviceCanAccessPeer(&can, 1, 0));
	if (!can) {
		EXPECT(cudaMemPoolSetAccess(pool, &access, 1),
		       cudaErrorPeerAccessUnsupported);
		cudaGetLastError();
		OK(cudaMemPoolDestroy(pool));
		return;
	}
	OK(cudaMemPoolGetAccess(&flags, pool, &access.location));
	EQUAL(flags, cudaMemAccessFlagsProtNone);
	OK(cudaMemPoolSetAccess(pool, &access, 1));
	OK(cudaMemPoolGetAccess(&flags, pool, &access.location));
	EQUAL(flags, cudaMemAccessFlagsProtReadWrite);
	OK(cudaStreamCreate(&stream));
	OK(cudaMallocFromPoolAsync((void **)&at, BYTES, pool, stream));
	OK(cudaStreamSynchronize(stream));
	OK(cudaSetDevice(1));
	start<<<N / 256, 256>>>(at, 77);
	LAUNCHED();
	OK(cudaDeviceSynchronize());
	OK(cudaSetDevice(0));
	holds(at, stream, 77);
	OK(cudaFreeAsync(at, stream));
	OK(cudaStreamSynchronize(stream));
	OK(cudaStreamDestroy(stream));
	OK(cudaMemPoolDestroy(pool));
}

int main(void)
{
	int have = 0;

	OK(cudaDeviceGetAttribute(&have, cudaDevAttrMemoryPoolsSupported, 0));
	if (!have)
		skip("this GPU has no memory pools");
	rounds_in_one_stream();
	rounds_of_most_of_the_memory();
	pieces_wander();
	if (devices() > 1)
		another_gpu_may_use_a_pool();
	return 0;
}
