/* SPDX-License-Identifier: Apache-2.0 */
// nvcc: --default-stream per-thread
/*
 * per_thread_stream.cu - checks that each thread has a default stream of its
 * own, and that one does not wait for another's.
 */
#include "spin.h"

#include <pthread.h>

static unsigned *word, rounds;

static void *other(void *)
{
	cudaStream_t mine = cudaStreamPerThread;

	/* The stream of the main thread is busy. */
	OK(cudaStreamQuery(0));
	spin<<<1, 1>>>(word + 1, 10);
	LAUNCHED();
	OK(cudaStreamSynchronize(mine));
	OK(cudaStreamQuery(mine));
	return NULL;
}

int main(void)
{
	pthread_t thread;

	OK(cudaMalloc(&word, 2 * sizeof *word));
	rounds = spin_rounds(word);
	OK(cudaDeviceSynchronize());
	spin<<<1, 1>>>(word, rounds * 4);
	LAUNCHED();
	pthread_create(&thread, NULL, other, NULL);
	pthread_join(thread, NULL);
	EXPECT(cudaStreamQuery(cudaStreamPerThread), cudaErrorNotReady);
	EXPECT(cudaStreamQuery(0), cudaErrorNotReady);
	OK(cudaStreamSynchronize(0));
	OK(cudaStreamQuery(cudaStreamPerThread));
	OK(cudaFree(word));
	return 0;
}
