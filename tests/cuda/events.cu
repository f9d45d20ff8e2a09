/* SPDX-License-Identifier: Apache-2.0 */
/* events.cu - checks that events measure the time that passed on the GPU. */
#include "spin.h"

int main(void)
{
	cudaEvent_t begin, end, untimed;
	unsigned *word, rounds;
	double began;
	float ms = -1;

	OK(cudaMalloc(&word, sizeof *word));
	rounds = spin_rounds(word);
	OK(cudaEventCreate(&begin));
	OK(cudaEventCreate(&end));
	OK(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));

	/* An event that was never recorded is done, and has no time. */
	OK(cudaEventQuery(begin));
	OK(cudaEventSynchronize(begin));
	EXPECT(cudaEventElapsedTime(&ms, begin, end),
	       cudaErrorInvalidResourceHandle);
	cudaGetLastError();

	began = now();
	OK(cudaEventRecord(begin));
	spin<<<1, 1>>>(word, rounds);
	OK(cudaEventRecord(end));
	EXPECT(cudaEventElapsedTime(&ms, begin, end), cudaErrorNotReady);
	OK(cudaEventSynchronize(end));
	OK(cudaEventElapsedTime(&ms, begin, end));
	REQUIRE(ms > 2);
	REQUIRE((double)ms <= (now() - began) * 1000 + 1);

	OK(cudaEventRecord(begin));
	OK(cudaEventSynchronize(begin));
	rest(0.05);
	OK(cudaEventRecord(end));
	OK(cudaEventSynchronize(end));
	OK(cudaEventElapsedTime(&ms, begin, end));
	REQUIRE(ms > 45);

	OK(cudaEventRecord(untimed));
	OK(cudaEventSynchronize(untimed));
	EXPECT(cudaEventElapsedTime(&ms, begin, untimed),
	       cudaErrorInvalidResourceHandle);
	EXPECT(cudaEventElapsedTime(NULL, begin, end), cudaErrorInvalidValue);
	OK(cudaEventDestroy(begin));
	OK(cudaEventDestroy(end));
	OK(cudaEventDestroy(untimed));
	OK(cudaFree(word));
	return 0;
}
