/* SPDX-License-Identifier: Apache-2.0 */
/*
 * threads.cu - runs many host threads at once: memory, copies, launches,
 * separate errors.
 */
#include "runtime.h"

#include <pthread.h>

#define THREADS 8
#define ROUNDS	30
#define N	2000

__global__ void scale(int *at, int factor)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < N)
		at[i] *= factor;
}

static void *work(void *mine)
{
	int factor = (int)(size_t)mine, host[N], *at;
	cudaStream_t stream;

	OK(cudaSetDevice(factor % devices()));
	OK(cudaStreamCreate(&stream));
	for (int round = 0; round < ROUNDS; round++) {
		for (int i = 0; i < N; i++)
			host[i] = i + round;
		OK(cudaMalloc(&at, sizeof host));
		OK(cudaMemcpyAsync(at, host, sizeof host,
				   cudaMemcpyHostToDevice, stream));
		scale<<<(N + 127) / 128, 128, 0, stream>>>(at, factor);
		OK(cudaMemcpyAsync(host, at, sizeof host,
				   cudaMemcpyDeviceToHost, stream));
		OK(cudaStreamSynchronize(stream));
		for (int i = 0; i < N; i++)
			EQUAL(host[i], (i + round) * factor);
		OK(cudaFree(at));
		/* Errors of other threads are not seen here. */
		OK(cudaGetLastError());
		EXPECT(cudaSetDevice(-1), cudaErrorInvalidDevice);
		EXPECT(cudaGetLastError(), cudaErrorInvalidDevice);
	}
	OK(cudaStreamDestroy(stream));
	return NULL;
}

int main(void)
{
	pthread_t thread[THREADS];

	for (int i = 0; i < THREADS; i++)
		REQUIRE(!pthread_create(&thread[i], NULL, work,
					(void *)(size_t)(i + 1)));
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	return 0;
}
