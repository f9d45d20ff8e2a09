/* SPDX-License-Identifier: Apache-2.0 */
/*
 * occupancy.c - cuOccupancy*: computes how many blocks fit on an SM, limited by
 * threads, registers and shared memory, which the hardware allocates in fixed
 * units.
 *
 * Source: CUDA's occupancy calculator, "GPU Data".
 */
#include "fronts/cuda/context/green.h"
#include "fronts/cuda/module/launch.h"
#include "fronts/cuda/stream/stream.h"
#include "machine/file/board.h"

#define WARP 32
/* registers are allocated to a warp in multiples of this */
#define REGISTER_UNIT 256
#define WARP_UNIT     4 /* registers are allocated to this many warps at once */

static int round_up(int value, int unit)
{
	return (value + unit - 1) / unit * unit;
}

static int shared_unit(const struct cuda_device *d)
{
	return d->board->profile.compute_major >= 8 ? 128 : 256;
}

static int by_registers(const struct cuda_device *d,
			const struct gkf_ptx_kernel *k, int warps)
{
	int all = function_limit(
	    d, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR);
	int a_warp =
	    round_up((int)gkf_ptx_kernel_registers(k) * WARP, REGISTER_UNIT);
	int fitting = all / a_warp / WARP_UNIT * WARP_UNIT;

	return fitting / warps;
}

static int by_shared(const struct cuda_device *d,
		     const struct gkf_ptx_kernel *k, size_t dynamic)
{
	int all = function_limit(
	    d, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
	int most = function_limit(
	    d, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
	int own = function_limit(
	    d, CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK);
	uint64_t asked = gkf_ptx_kernel_shared(k) + (uint64_t)dynamic;
	int each;

	if (asked > (uint64_t)most)
		return 0;
	each = round_up((int)asked + own, shared_unit(d));
	return each ? all / each : INT32_MAX;
}

static int least_int(int a, int b)
{
	return a < b ? a : b;
}

int occupancy_blocks(const struct cuda_device *d,
		     const struct gkf_ptx_kernel *k, int threads,
		     size_t dynamic_shared)
{
	int warps = (threads + WARP - 1) / WARP;
	int all = function_limit(
	    d, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
	int blocks = function_limit(
	    d, CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR);

	blocks = least_int(blocks, all / WARP / warps);
	blocks = least_int(blocks, by_registers(d, k, warps));
	return least_int(blocks, by_shared(d, k, dynamic_shared));
}

static CUresult enter_function(enum cuda_row row, CUfunction given,
			       CUcontext *ret_ctx, CUfunction *ret_function,
			       const struct gkf_ptx_kernel **ret_kernel)
{
	CUresult r = front_enter_context(row, ret_ctx);

	if (!r)
		r = function_of(*ret_ctx, given, ret_function);
	return r ? r
		 : module_kernel((*ret_function)->image, (*ret_function)->ptx,
				 ret_kernel);
}

/*
 * Returns the dynamic shared memory that a launch may have with the present
 * settings.
 */
static int most_dynamic(CUcontext ctx, CUfunction f,
			const struct gkf_ptx_kernel *k)
{
	int most = 0;

	function_attribute(
	    ctx->device, f->image->source->ptx, f->ptx, k, &f->set,
	    CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, &most);
	return most;
}

/*
 * Returns 0 if a block is too large for the device, or has more dynamic shared
 * memory than the kernel's settings allow. Ignores launch bounds.
 */
static int blocks_of(CUcontext ctx, CUfunction f,
		     const struct gkf_ptx_kernel *k, int threads,
		     size_t dynamic)
{
	if (dynamic > (size_t)most_dynamic(ctx, f, k) ||
	    threads > function_limit(ctx->device,
				     CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK))
		return 0;
	return occupancy_blocks(ctx->device, k, threads, dynamic);
}

static CUresult active_blocks(enum cuda_row row, int *numBlocks,
			      CUfunction func, int blockSize, size_t dynamic,
			      unsigned flags)
{
	READS_CODE;
	const struct gkf_ptx_kernel *k;
	CUcontext ctx;
	CUfunction f;
	CUresult r = enter_function(row, func, &ctx, &f, &k);

	if (r)
		return r;
	if (!numBlocks || blockSize <= 0 ||
	    flags > CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE)
		return CUDA_ERROR_INVALID_VALUE;
	*numBlocks = blocks_of(ctx, f, k, blockSize, dynamic);
	return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *numBlocks,
						     CUfunction func,
						     int blockSize,
						     size_t dynamicSMemSize)
{
	return active_blocks(ROW_cuOccupancyMaxActiveBlocksPerMultiprocessor,
			     numBlocks, func, blockSize, dynamicSMemSize, 0);
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int *numBlocks, CUfunction func, int blockSize, size_t dynamicSMemSize,
    unsigned int flags)
{
	return active_blocks(
	    ROW_cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, numBlocks,
	    func, blockSize, dynamicSMemSize, flags);
}

/*
 * Finds the block size with which the most threads fit on an SM; of several
 * such sizes, the largest.
 */
static CUresult find_block_size(enum cuda_row row, int *minGridSize,
				int *blockSize, CUfunction func,
				CUoccupancyB2DSize shared_of, size_t dynamic,
				int limit, unsigned flags)
{
	READS_CODE;
	const struct gkf_ptx_kernel *k;
	CUcontext ctx;
	CUfunction f;
	int most, best = 0, best_blocks = 0;
	CUresult r = enter_function(row, func, &ctx, &f, &k);

	if (r)
		return r;
	if (!minGridSize || !blockSize || limit < 0 ||
	    flags > CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE)
		return CUDA_ERROR_INVALID_VALUE;
	most = function_threads(ctx->device, f->ptx, k);
	if (limit && limit < most)
		most = limit;
	for (int size = round_up(most, WARP); size > 0; size -= WARP) {
		int threads = least_int(size, most), blocks;

		if (shared_of)
			dynamic = shared_of(threads);
		blocks = blocks_of(ctx, f, k, threads, dynamic);
		if (blocks * threads > best * best_blocks) {
			best = threads;
			best_blocks = blocks;
		}
	}
	*blockSize = best;
	*minGridSize = best_blocks *
		       function_limit(ctx->device,
				      CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
	return CUDA_SUCCESS;
}

CUresult
cuOccupancyMaxPotentialBlockSize(int *minGridSize, int *blockSize,
				 CUfunction func,
				 CUoccupancyB2DSize blockSizeToDynamicSMemSize,
				 size_t dynamicSMemSize, int blockSizeLimit)
{
	return find_block_size(
	    ROW_cuOccupancyMaxPotentialBlockSize, minGridSize, blockSize, func,
	    blockSizeToDynamicSMemSize, dynamicSMemSize, blockSizeLimit, 0);
}

CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(
    int *minGridSize, int *blockSize, CUfunction func,
    CUoccupancyB2DSize blockSizeToDynamicSMemSize, size_t dynamicSMemSize,
    int blockSizeLimit, unsigned int flags)
{
	return find_block_size(ROW_cuOccupancyMaxPotentialBlockSizeWithFlags,
			       minGridSize, blockSize, func,
			       blockSizeToDynamicSMemSize, dynamicSMemSize,
			       blockSizeLimit, flags);
}

CUresult cuOccupancyAvailableDynamicSMemPerBlock(size_t *dynamicSmemSize,
						 CUfunction func, int numBlocks,
						 int blockSize)
{
	READS_CODE;
	const struct gkf_ptx_kernel *k;
	CUcontext ctx;
	CUfunction f;
	int all, own, each;
	CUresult r = enter_function(ROW_cuOccupancyAvailableDynamicSMemPerBlock,
				    func, &ctx, &f, &k);

	if (r)
		return r;
	if (!dynamicSmemSize || numBlocks <= 0 || blockSize <= 0 ||
	    blockSize > function_threads(ctx->device, f->ptx, k) ||
	    occupancy_blocks(ctx->device, k, blockSize, 0) < numBlocks)
		return CUDA_ERROR_INVALID_VALUE;
	all = function_limit(
	    ctx->device,
	    CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
	own = function_limit(
	    ctx->device, CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK);
	each = all / numBlocks / shared_unit(ctx->device) *
		   shared_unit(ctx->device) -
	       own;
	each = least_int(each - (int)gkf_ptx_kernel_shared(k),
			 most_dynamic(ctx, f, k));
	*dynamicSmemSize = (size_t)each;
	return CUDA_SUCCESS;
}

/*
 * Returns the number of blocks in the cluster that a launch requests; 0: none
 * requested.
 */
static unsigned cluster_of(const CUlaunchConfig *config)
{
	unsigned size = 0;

	for (unsigned i = 0; i < config->numAttrs; i++) {
		const CUlaunchAttributeValue *v = &config->attrs[i].value;

		if (config->attrs[i].id ==
		    CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
			size =
			    v->clusterDim.x * v->clusterDim.y * v->clusterDim.z;
	}
	return size;
}

/* Finds how many blocks of a launch fit on an SM. */
static CUresult blocks_of_config(enum cuda_row row, CUfunction func,
				 const CUlaunchConfig *config,
				 CUcontext *ret_ctx, int *ret_blocks)
{
	const struct gkf_ptx_kernel *k;
	uint64_t threads;
	CUfunction f;
	CUresult r = enter_function(row, func, ret_ctx, &f, &k);

	if (r)
		return r;
	if (!config || (config->numAttrs && !config->attrs))
		return CUDA_ERROR_INVALID_VALUE;
	threads =
	    (uint64_t)config->blockDimX * config->blockDimY * config->blockDimZ;
	if (!threads || threads > INT32_MAX)
		return CUDA_ERROR_INVALID_VALUE;
	*ret_blocks =
	    blocks_of(*ret_ctx, f, k, (int)threads, config->sharedMemBytes);
	return CUDA_SUCCESS;
}

/*
 * The largest cluster is one block, as launches with larger clusters are
 * refused.
 */
CUresult cuOccupancyMaxPotentialClusterSize(int *clusterSize, CUfunction func,
					    const CUlaunchConfig *config)
{
	CUcontext ctx;
	int blocks;
	CUresult r = blocks_of_config(ROW_cuOccupancyMaxPotentialClusterSize,
				      func, config, &ctx, &blocks);

	if (r)
		return r;
	if (!clusterSize)
		return CUDA_ERROR_INVALID_VALUE;
	*clusterSize = blocks ? 1 : 0;
	return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxActiveClusters(int *numClusters, CUfunction func,
				      const CUlaunchConfig *config)
{
	CUcontext ctx;
	int blocks;
	CUresult r = blocks_of_config(ROW_cuOccupancyMaxActiveClusters, func,
				      config, &ctx, &blocks);

	if (r)
		return r;
	if (!numClusters)
		return CUDA_ERROR_INVALID_VALUE;
	if (cluster_of(config) > 1) {
		front_count_refusal(ROW_cuOccupancyMaxActiveClusters);
		return CUDA_ERROR_NOT_SUPPORTED;
	}
	*numClusters = blocks * green_sms(stream_context(ctx, config->hStream));
	return CUDA_SUCCESS;
}
