/* SPDX-License-Identifier: Apache-2.0 */
/*
 * occupancy.c - how many blocks or clusters of a kernel a device can hold.
 */
#include "fronts/cudart/kernel/function.h"

#include <stddef.h>

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int *numBlocks, const void *func, int blockSize, size_t dynamicSMemSize,
    unsigned int flags)
{
	CUfunction function;

	TRY(function_here(func, &function));
	return runtime_result(
	    legacy->cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
		numBlocks, function, blockSize, dynamicSMemSize, flags));
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(
    int *numBlocks, const void *func, int blockSize, size_t dynamicSMemSize)
{
	CUfunction function;

	TRY(function_here(func, &function));
	return runtime_result(
	    legacy->cuOccupancyMaxActiveBlocksPerMultiprocessor(
		numBlocks, function, blockSize, dynamicSMemSize));
}

cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *dynamicSmemSize,
						      const void *func,
						      int numBlocks,
						      int blockSize)
{
	CUfunction function;

	TRY(function_here(func, &function));
	return runtime_result(legacy->cuOccupancyAvailableDynamicSMemPerBlock(
	    dynamicSmemSize, function, numBlocks, blockSize));
}

cudaError_t
cudaOccupancyMaxPotentialClusterSize(int *clusterSize, const void *func,
				     const cudaLaunchConfig_t *launchConfig)
{
	CUfunction function;
	CUlaunchConfig c;

	ENTER();
	REQUIRE(launchConfig, cudaErrorInvalidValue);
	TRY(function_here(func, &function));
	c = function_config(launchConfig);
	return runtime_result(legacy->cuOccupancyMaxPotentialClusterSize(
	    clusterSize, function, &c));
}

cudaError_t
cudaOccupancyMaxActiveClusters(int *numClusters, const void *func,
			       const cudaLaunchConfig_t *launchConfig)
{
	CUfunction function;
	CUlaunchConfig c;

	ENTER();
	REQUIRE(launchConfig, cudaErrorInvalidValue);
	TRY(function_here(func, &function));
	c = function_config(launchConfig);
	return runtime_result(
	    legacy->cuOccupancyMaxActiveClusters(numClusters, function, &c));
}
