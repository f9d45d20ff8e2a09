/* SPDX-License-Identifier: Apache-2.0 */
/*
 * streams.cu - checks that launches and copies return before they are done;
 * order within a stream, and between streams by an event.
 */
#include "spin.h"

__global__ void put(int *at, int value)
{
	*at = value;
}

__global__ void copy(int *to, const int *from)
{
	*to = *from;
}

static void query(unsigned *word, unsigned rounds, cudaStream_t stream)
{
	double began = now();

	spin<<<1, 1, 0, stream>>>(word, rounds);
	LAUNCHED();
	EXPECT(cudaStreamQuery(stream), cudaErrorNotReady);
	cudaGetLastError();
	OK(cudaStreamSynchronize(stream));
	REQUIRE(now() - began > 0.002);
	OK(cudaStreamQuery(stream));
}

static void order(unsigned *word, unsigned rounds, cudaStream_t a,
		  cudaStream_t b)
{
	int host = 0, *at, *seen;
	cudaEvent_t done;

	OK(cudaMalloc(&at, sizeof *at));
	OK(cudaMalloc(&seen, sizeof *seen));
	OK(cudaMemset(at, 0, sizeof *at));
	OK(cudaEventCreateWithFlags(&done, cudaEventDisableTiming));
	OK(cudaDeviceSynchronize());
	spin<<<1, 1, 0, a>>>(word, rounds);
	put<<<1, 1, 0, a>>>(at, 9);
	OK(cudaEventRecord(done, a));
	OK(cudaStreamWaitEvent(b, done, 0));
	copy<<<1, 1, 0, b>>>(seen, at);
	LAUNCHED();
	EXPECT(cudaEventQuery(done), cudaErrorNotReady);
	OK(cudaMemcpyAsync(&host, seen, sizeof host, cudaMemcpyDeviceToHost,
			   b));
	OK(cudaStreamSynchronize(b));
	EQUAL(host, 9);
	OK(cudaEventQuery(done));
	OK(cudaEventDestroy(done));
	OK(cudaFree(at));
	OK(cudaFree(seen));
}

int main(void)
{
	cudaStream_t a, b;
	unsigned *word, rounds;

	OK(cudaMalloc(&word, sizeof *word));
	rounds = spin_rounds(word);
	OK(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
	OK(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
	query(word, rounds, a);
	order(word, rounds, a, b);
	OK(cudaStreamDestroy(a));
	OK(cudaStreamDestroy(b));
	OK(cudaFree(word));
	return 0;
}
