/* SPDX-License-Identifier: Apache-2.0 */
/*
 * priorities.cu - checks priorities of streams; one outside the range is
 * clamped.
 */
#include "runtime.h"

int main(void)
{
	int least, greatest, priority;
	cudaStream_t stream;
	unsigned flags;

	OK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
	REQUIRE(greatest <= least);
	OK(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking,
					greatest));
	OK(cudaStreamGetPriority(stream, &priority));
	EQUAL(priority, greatest);
	OK(cudaStreamGetFlags(stream, &flags));
	EQUAL(flags, cudaStreamNonBlocking);
	OK(cudaStreamDestroy(stream));
	OK(cudaStreamCreateWithPriority(&stream, cudaStreamDefault, -1000));
	OK(cudaStreamGetPriority(stream, &priority));
	EQUAL(priority, greatest);
	OK(cudaStreamDestroy(stream));
	OK(cudaStreamCreate(&stream));
	OK(cudaStreamGetPriority(stream, &priority));
	EQUAL(priority, 0);
	OK(cudaStreamGetFlags(stream, &flags));
	EQUAL(flags, cudaStreamDefault);
	OK(cudaStreamDestroy(stream));
	return 0;
}
