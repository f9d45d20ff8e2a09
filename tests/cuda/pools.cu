/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pools.cu - checks stream-ordered memory: the default pool and one of our own.
 */
#include "runtime.h"

#define N 4096

__global__ void fill(int *at, int value)
{
	at[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

static void from_default(cudaStream_t stream)
{
	int *at, *host = (int *)malloc(N * sizeof(int));

	OK(cudaMallocAsync(&at, N * sizeof(int), stream));
	fill<<<N / 256, 256, 0, stream>>>(at, 42);
	LAUNCHED();
	OK(cudaMemcpyAsync(host, at, N * sizeof(int), cudaMemcpyDeviceToHost,
			   stream));
	OK(cudaFreeAsync(at, stream));
	OK(cudaStreamSynchronize(stream));
	for (int i = 0; i < N; i++)
		EQUAL(host[i], 42);
	free(host);
}

static void from_ours(cudaStream_t stream)
{
	unsigned long long keep = ~0ull, used, reserved;
	cudaMemPoolProps props = {};
	cudaMemPool_t pool;
	void *at;

	props.allocType = cudaMemAllocationTypePinned;
	props.location.type = cudaMemLocationTypeDevice;
	OK(cudaMemPoolCreate(&pool, &props));
	OK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold,
				   &keep));
	OK(cudaMallocFromPoolAsync(&at, 1 << 20, pool, stream));
	OK(cudaStreamSynchronize(stream));
	OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
	REQUIRE(used >= 1 << 20);
	OK(cudaFreeAsync(at, stream));
	OK(cudaStreamSynchronize(stream));
	OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
	EQUAL(used, 0);
	OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemCurrent,
				   &reserved));
	REQUIRE(reserved >= 1 << 20);
	OK(cudaMemPoolTrimTo(pool, 0));
	OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemCurrent,
				   &reserved));
	EQUAL(reserved, 0);
	OK(cudaMemPoolDestroy(pool));
}

int main(void)
{
	cudaMemPool_t by_default, now;
	cudaStream_t stream;
	int supported;

	OK(cudaDeviceGetAttribute(&supported, cudaDevAttrMemoryPoolsSupported,
				  0));
	if (!supported)
		skip("no memory pools");
	OK(cudaStreamCreate(&stream));
	OK(cudaDeviceGetDefaultMemPool(&by_default, 0));
	OK(cudaDeviceGetMemPool(&now, 0));
	EQUAL(now, by_default);
	from_default(stream);
	from_ours(stream);
	OK(cudaStreamDestroy(stream));
	return 0;
}
