/* SPDX-License-Identifier: Apache-2.0 */
/*
 * context_limit.c - owns the table of a context's limits, with defaults and
 * ranges. Source: CUDA driver API, cuCtxSetLimit; for defaults: CUDA C++
 * Programming Guide, "Dynamic Global Memory Allocation", "Formatted Output",
 * "CUDA Dynamic Parallelism".
 */
#include "base/units.h"
#include "fronts/cuda/context/context.h"
#include "machine/file/board.h"
#include "machine/file/profile.h"

#include <stdint.h>

static const struct limit {
	/* values are rounded up to a multiple of `step` */
	size_t start, least, most, step;
	/*
	 * The device attribute that gives the maximum. A device on which it is
	 * 0 does not have this limit.
	 */
	CUdevice_attribute bound;
	/* the first compute capability without this limit; 0: all have it */
	unsigned until;
} limits[CU_LIMIT_MAX] = {
    [CU_LIMIT_STACK_SIZE] = {1 * KIB, 0, 512 * KIB, 16, 0, 0},
    [CU_LIMIT_PRINTF_FIFO_SIZE] = {1 * MIB, 0, SIZE_MAX / 2, 1, 0, 0},
    [CU_LIMIT_MALLOC_HEAP_SIZE] = {8 * MIB, 0, SIZE_MAX / 2, 1, 0, 0},
    [CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH] = {2, 0, 24, 1, 0, 90},
    [CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT] = {2 * KIB, 0, UINT32_MAX, 1, 0,
						   0},
    [CU_LIMIT_MAX_L2_FETCH_GRANULARITY] = {64, 0, 128, 1, 0, 0},
    [CU_LIMIT_PERSISTING_L2_CACHE_SIZE] =
	{0, 0, SIZE_MAX / 2, 1,
	 CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE, 0},
};

static unsigned context_capability(CUcontext ctx)
{
	const struct gkf_profile *p = &ctx->device->board->profile;

	return (unsigned)(p->compute_major * 10 + p->compute_minor);
}

/*
 * Whether the device has this limit. If so, *ret_most is the limit's maximum.
 */
static bool has_limit(CUcontext ctx, CUlimit id, size_t *ret_most)
{
	const struct limit *l = &limits[id];
	int bound = 0;

	if (!l->most || (l->until && context_capability(ctx) >= l->until))
		return false;
	if (l->bound &&
	    (!device_attribute(ctx->device, l->bound, &bound) || bound <= 0))
		return false;
	*ret_most = l->bound ? (size_t)bound : l->most;
	return true;
}

void ctx_limits_init(CUcontext ctx)
{
	for (int i = 0; i < CU_LIMIT_MAX; i++)
		atomic_store(&ctx->limit[i], limits[i].start);
}

CUresult cuCtxGetLimit(size_t *pvalue, CUlimit limit)
{
	size_t most;

	ENTER_CONTEXT(cuCtxGetLimit, ctx);
	if (!pvalue || (unsigned)limit >= CU_LIMIT_MAX)
		return CUDA_ERROR_INVALID_VALUE;
	if (!has_limit(ctx, limit, &most))
		return CUDA_ERROR_UNSUPPORTED_LIMIT;
	*pvalue = atomic_load(&ctx->base->limit[limit]);
	return CUDA_SUCCESS;
}

CUresult cuCtxSetLimit(CUlimit limit, size_t value)
{
	size_t most, step;

	ENTER_CONTEXT(cuCtxSetLimit, ctx);
	if ((unsigned)limit >= CU_LIMIT_MAX)
		return CUDA_ERROR_INVALID_VALUE;
	if (!has_limit(ctx, limit, &most))
		return CUDA_ERROR_UNSUPPORTED_LIMIT;
	step = limits[limit].step;
	if (value > most || value < limits[limit].least)
		return CUDA_ERROR_INVALID_VALUE;
	atomic_store(&ctx->base->limit[limit],
		     (value + step - 1) / step * step);
	return CUDA_SUCCESS;
}

/* The level 2 cache is not simulated, so there is nothing to reset. */
CUresult cuCtxResetPersistingL2Cache(void)
{
	size_t most;

	ENTER_CONTEXT(cuCtxResetPersistingL2Cache, ctx);
	return has_limit(ctx, CU_LIMIT_PERSISTING_L2_CACHE_SIZE, &most)
		   ? CUDA_SUCCESS
		   : CUDA_ERROR_NOT_SUPPORTED;
}
