/* SPDX-License-Identifier: Apache-2.0 */
/*
 * callbacks.cu - checks host functions in a stream: in order, in another
 * thread, once.
 */
#include "spin.h"

#include <pthread.h>

static int order[8], count;
static pthread_t main_thread;
static bool elsewhere = true;

static void note(void *what)
{
	elsewhere = elsewhere && !pthread_equal(pthread_self(), main_thread);
	order[count++] = (int)(size_t)what;
}

static void CUDART_CB old_note(cudaStream_t, cudaError_t status, void *what)
{
	if (status == cudaSuccess)
		note(what);
}

int main(void)
{
	cudaStream_t stream;
	unsigned *word, *host, rounds;

	main_thread = pthread_self();
	OK(cudaMalloc(&word, sizeof *word));
	/* Page-locked, because a copy into other memory is synchronous. */
	OK(cudaMallocHost(&host, sizeof *host));
	*host = 0;
	rounds = spin_rounds(word);
	OK(cudaStreamCreate(&stream));
	spin<<<1, 1, 0, stream>>>(word, rounds);
	OK(cudaLaunchHostFunc(stream, note, (void *)1));
	OK(cudaMemcpyAsync(host, word, sizeof *host, cudaMemcpyDeviceToHost,
			   stream));
	OK(cudaStreamAddCallback(stream, old_note, (void *)2, 0));
	OK(cudaLaunchHostFunc(stream, note, (void *)3));
	EQUAL(count, 0);
	OK(cudaStreamSynchronize(stream));
	EQUAL(count, 3);
	for (int i = 0; i < 3; i++)
		EQUAL(order[i], i + 1);
	REQUIRE(elsewhere);
	REQUIRE(*host);
	EXPECT(cudaLaunchHostFunc(stream, NULL, NULL), cudaErrorInvalidValue);
	OK(cudaFreeHost(host));
	OK(cudaStreamDestroy(stream));
	OK(cudaFree(word));
	return 0;
}
