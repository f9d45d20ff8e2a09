/* SPDX-License-Identifier: Apache-2.0 */
/*
 * default_stream.cu - checks that the legacy default stream waits for blocking
 * streams and they for it, and that non-blocking ones are independent.
 */
#include "spin.h"

int main(void)
{
	cudaStream_t blocking, apart;
	unsigned *word, rounds;

	OK(cudaMalloc(&word, sizeof *word));
	rounds = spin_rounds(word);
	OK(cudaStreamCreate(&blocking));
	OK(cudaStreamCreateWithFlags(&apart, cudaStreamNonBlocking));

	spin<<<1, 1, 0, blocking>>>(word, rounds);
	spin<<<1, 1>>>(word, 1);
	LAUNCHED();
	EXPECT(cudaStreamQuery(0), cudaErrorNotReady);
	OK(cudaStreamSynchronize(0));
	OK(cudaStreamQuery(blocking));

	spin<<<1, 1>>>(word, rounds);
	spin<<<1, 1, 0, blocking>>>(word, 1);
	EXPECT(cudaStreamQuery(blocking), cudaErrorNotReady);
	OK(cudaStreamSynchronize(blocking));
	OK(cudaStreamQuery(cudaStreamLegacy));

	spin<<<1, 1, 0, apart>>>(word, rounds);
	OK(cudaStreamSynchronize(0));
	EXPECT(cudaStreamQuery(apart), cudaErrorNotReady);
	OK(cudaDeviceSynchronize());
	OK(cudaStreamQuery(apart));
	OK(cudaStreamDestroy(blocking));
	OK(cudaStreamDestroy(apart));
	OK(cudaFree(word));
	return 0;
}
