/* SPDX-License-Identifier: Apache-2.0 */
/* occupancy.cu - checks how many blocks of a kernel fit on a multiprocessor. */
#include "runtime.h"

__global__ void small(int *at)
{
	at[threadIdx.x] = 1;
}

__global__ void big(int *at)
{
	__shared__ int room[10240];

	room[threadIdx.x] = at[threadIdx.x];
	__syncthreads();
	at[threadIdx.x] = room[blockDim.x - 1 - threadIdx.x];
}

int main(void)
{
	int blocks = -1, threads, size, least;
	cudaDeviceProp props;
	cudaFuncAttributes attributes;

	OK(cudaGetDeviceProperties(&props, 0));
	threads = props.maxThreadsPerMultiProcessor;
	OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, small, 1024,
							 0));
	EQUAL(blocks, threads / 1024);
	OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, small, 256,
							 0));
	EQUAL(blocks, threads / 256);
	OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, small, 32,
							 0));
	EQUAL(blocks, props.maxBlocksPerMultiProcessor);
	/* 40 KiB a block, plus what the system reserves. */
	OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, big, 32, 0));
	EQUAL(blocks, props.sharedMemPerMultiprocessor /
			  (40960 + props.reservedSharedMemPerBlock));
	OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, small, 32,
							 32768));
	EQUAL(blocks, props.sharedMemPerMultiprocessor /
			  (32768 + props.reservedSharedMemPerBlock));

	OK(cudaOccupancyMaxPotentialBlockSize(&least, &size, small, 0, 0));
	REQUIRE(size > 0 && size <= props.maxThreadsPerBlock &&
		size % props.warpSize == 0);
	EQUAL(least, threads / size * props.multiProcessorCount);

	OK(cudaFuncGetAttributes(&attributes, big));
	EQUAL(attributes.sharedSizeBytes, 40960);
	REQUIRE(attributes.numRegs > 0);
	REQUIRE(attributes.maxThreadsPerBlock > 0);
	EQUAL(attributes.localSizeBytes, 0);
	return 0;
}
