/* SPDX-License-Identifier: Apache-2.0 */
/*
 * occupancy_test.c - checks how many blocks of a kernel are on a device at
 * once, and who asks for it.
 */
#include "fronts/cuda/loaded.h"

#include <limits.h>

static void occupancy_follows_the_device(struct fixture *fx)
{
	int blocks, grid, block, value;
	size_t shared;
	CUfunction f;

	(void)fx;
	begin();
	f = function_in(module_of("vector_add_13.ptx"), "vector_add");
	assert_cuda(
	    CU(cuOccupancyMaxActiveBlocksPerMultiprocessor)(&blocks, f, 256, 0),
	    SUCCESS);
	assert_int_equal(blocks, 8); /* 2048 threads */
	assert_cuda(CU(cuOccupancyMaxActiveBlocksPerMultiprocessor)(
			&blocks, f, 32, 32 * 1024),
		    SUCCESS);
	assert_int_equal(blocks, 4); /* 164 KiB, 33 for each */
	assert_cuda(
	    CU(cuOccupancyMaxPotentialBlockSize)(&grid, &block, f, NULL, 0, 0),
	    SUCCESS);
	assert_int_equal(block, 1024);
	assert_int_equal(grid, 2 * 108);
	assert_cuda(
	    CU(cuOccupancyAvailableDynamicSMemPerBlock)(&shared, f, 2, 1024),
	    SUCCESS);
	assert_int_equal(shared, 48 * 1024); /* unless it requests more */
	assert_cuda(
	    CU(cuFuncSetAttribute)(
		f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 163 * 1024),
	    SUCCESS);
	assert_cuda(
	    CU(cuOccupancyAvailableDynamicSMemPerBlock)(&shared, f, 2, 1024),
	    SUCCESS);
	assert_int_equal(shared, 81 * 1024);
	assert_cuda(
	    CU(cuOccupancyAvailableDynamicSMemPerBlock)(&shared, f, 1, INT_MAX),
	    ERROR_INVALID_VALUE);
	assert_cuda(CU(cuFuncGetAttribute)(
			&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, f),
		    SUCCESS);
	assert_int_equal(value, 1024);
}

/* With one block each: no others exist. */
static void clusters_have_one_block(struct fixture *fx)
{
	CUlaunchAttribute two = {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
				 .value.clusterDim = {2, 1, 1}};
	CUlaunchConfig config = {1, 1, 1, 256, 1, 1, 0, NULL, &two, 0};
	CUfunction f;
	int n;

	(void)fx;
	begin();
	f = function_in(module_of("vector_add_13.ptx"), "vector_add");
	assert_cuda(CU(cuOccupancyMaxPotentialClusterSize)(&n, f, &config),
		    SUCCESS);
	assert_int_equal(n, 1);
	assert_cuda(CU(cuOccupancyMaxActiveClusters)(&n, f, &config), SUCCESS);
	assert_int_equal(n, 8 * 108);
	config.numAttrs = 1;
	assert_cuda(CU(cuOccupancyMaxActiveClusters)(&n, f, &config),
		    ERROR_NOT_SUPPORTED);
	config.blockDimX = 0;
	assert_cuda(CU(cuOccupancyMaxActiveClusters)(&n, f, &config),
		    ERROR_INVALID_VALUE);
	config.blockDimX = 2048;
	assert_cuda(CU(cuOccupancyMaxPotentialClusterSize)(&n, f, &config),
		    SUCCESS);
	assert_int_equal(n, 0);
	assert_cuda(CU(cuOccupancyMaxPotentialClusterSize)(&n, f, NULL),
		    ERROR_INVALID_VALUE);
}

static CUresult launch_together(CUfunction f, unsigned blocks, unsigned shared)
{
	CUdeviceptr none = 0;
	int n = 0;
	void *params[] = {&none, &none, &none, &n};

	return CU(cuLaunchCooperativeKernel)(f, blocks, 1, 1, 256, 1, 1, shared,
					     NULL, params);
}

/* All of its blocks are on the device at once, or it does not start. */
static void who_works_together_fits_together(struct fixture *fx)
{
	static const unsigned shared[] = {0, 40 * 1024};
	int blocks, sms;
	CUfunction f;

	(void)fx;
	begin();
	f = function_in(module_of("vector_add_13.ptx"), "vector_add");
	assert_cuda(CU(cuDeviceGetAttribute)(
			&sms, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0),
		    SUCCESS);
	for (unsigned i = 0; i < 2; i++) {
		unsigned limit;

		assert_cuda(CU(cuOccupancyMaxActiveBlocksPerMultiprocessor)(
				&blocks, f, 256, shared[i]),
			    SUCCESS);
		assert_int_equal(blocks, i ? 4 : 8);
		limit = (unsigned)(blocks * sms);
		assert_cuda(launch_together(f, limit, shared[i]), SUCCESS);
		assert_cuda(launch_together(f, limit + 1, shared[i]),
			    ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
	}
	assert_cuda(CU(cuCtxSynchronize)(), SUCCESS);
}

static const struct alone tests[] = {
    ALONE(occupancy_follows_the_device),
    ALONE(clusters_have_one_block),
    ALONE(who_works_together_fits_together),
};

ALONE_MAIN(tests)
