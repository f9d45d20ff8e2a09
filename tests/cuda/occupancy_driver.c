/* SPDX-License-Identifier: Apache-2.0 */
/*
 * occupancy_driver.c - checks how many blocks of a kernel fit on a
 * multiprocessor.
 */
#include "driver.h"

static int attribute(CUdevice_attribute which)
{
	int value = -1;

	OK(cuDeviceGetAttribute(&value, which, 0));
	return value;
}

int main(void)
{
	CUfunction add;
	int blocks = -1, least, size, threads;

	start();
	add = kernel(kernels(), "add");
	threads = attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
	OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add, 512, 0));
	EQUAL(blocks, threads / 512);
	OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add, 1, 0));
	EQUAL(blocks,
	      attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR));
	OK(cuOccupancyMaxPotentialBlockSize(&least, &size, add, NULL, 0, 0));
	EQUAL(least, threads / size *
			 attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT));
	EXPECT(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add, 0, 0),
	       CUDA_ERROR_INVALID_VALUE);
	return 0;
}
