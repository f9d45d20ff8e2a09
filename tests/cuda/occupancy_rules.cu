/* SPDX-License-Identifier: Apache-2.0 */
/*
 * occupancy_rules.cu - compares the driver's occupancy with the rules that
 * NVIDIA publishes as code: the toolkit's cuda_occupancy.h.
 */
#include "runtime.h"

#include <cuda_occupancy.h>

template <int words> __global__ void keeps(int *at)
{
	__shared__ int room[words];

	room[threadIdx.x] = at[threadIdx.x];
	__syncthreads();
	at[threadIdx.x] = room[threadIdx.x ^ 1];
}

__global__ void __launch_bounds__(96) bounded(int *at)
{
	at[threadIdx.x] = 1;
}

struct by_rules {
	cudaOccDeviceProp device;
	cudaOccFuncAttributes function;
	cudaOccDeviceState state;
};

static void same_blocks(const struct by_rules *rules, void (*kernel)(int *),
			int threads, size_t dynamic)
{
	cudaOccResult wanted;
	int blocks = -1;

	EQUAL(cudaOccMaxActiveBlocksPerMultiprocessor(
		  &wanted, &rules->device, &rules->function, &rules->state,
		  threads, dynamic),
	      CUDA_OCC_SUCCESS);
	OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel,
							 threads, dynamic));
	EQUAL(blocks, wanted.activeBlocksPerMultiprocessor);
}

static void same_size(const struct by_rules *rules, void (*kernel)(int *),
		      size_t dynamic)
{
	int least = -1, size = -1, wanted_least, wanted_size;

	EQUAL(cudaOccMaxPotentialOccupancyBlockSize(
		  &wanted_least, &wanted_size, &rules->device, &rules->function,
		  &rules->state, NULL, dynamic),
	      CUDA_OCC_SUCCESS);
	OK(cudaOccupancyMaxPotentialBlockSize(&least, &size, kernel, dynamic,
					      0));
	EQUAL(least, wanted_least);
	EQUAL(size, wanted_size);
}

/*
 * This many blocks fit when each requests what it may, and it may request that.
 */
static void check_room(void (*kernel)(int *), size_t most)
{
	for (int blocks = 1; blocks <= 32; blocks++) {
		size_t room = 0;
		int fit = 0;

		OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, kernel,
								 96, 0));
		if (fit < blocks)
			return;
		OK(cudaOccupancyAvailableDynamicSMemPerBlock(&room, kernel,
							     blocks, 96));
		REQUIRE(room <= most);
		OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, kernel,
								 96, room));
		REQUIRE(fit >= blocks);
	}
}

static void check(void (*kernel)(int *))
{
	static const size_t asked[] = {0,     1,     1000,  1024,   8192,
				       24000, 32768, 49152, 49153,  60000,
				       65536, 99328, 99329, 166912, 232449};
	struct by_rules rules;
	cudaFuncAttributes attributes;
	cudaDeviceProp props;

	OK(cudaGetDeviceProperties(&props, 0));
	OK(cudaFuncGetAttributes(&attributes, kernel));
	rules.device = cudaOccDeviceProp(props);
	rules.function = cudaOccFuncAttributes(attributes);
	for (int threads = 1; threads <= 1024;
	     threads += threads < 130 ? 3 : 31)
		for (size_t dynamic : asked)
			same_blocks(&rules, kernel, threads, dynamic);
	same_size(&rules, kernel, 0);
	same_size(&rules, kernel, 20000);
	check_room(kernel, attributes.maxDynamicSharedSizeBytes);
}

/* As it is, and with all the shared memory that it may request. */
static void check_both(void (*kernel)(int *))
{
	cudaFuncAttributes attributes;
	int most;

	check(kernel);
	OK(cudaFuncGetAttributes(&attributes, kernel));
	OK(cudaDeviceGetAttribute(&most,
				  cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
	OK(cudaFuncSetAttribute(kernel,
				cudaFuncAttributeMaxDynamicSharedMemorySize,
				most - (int)attributes.sharedSizeBytes));
	check(kernel);
}

int main(void)
{
	check_both(bounded);
	check_both(keeps<1024>);
	check_both(keeps<6000>);
	check_both(keeps<12288>);
	return 0;
}
