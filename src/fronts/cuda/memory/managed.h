/* SPDX-License-Identifier: Apache-2.0 */
/*
 * managed.h - ranges of managed memory, and the advice that programs give about
 * them. A stretch is a part of an allocation; all pages of a stretch have the
 * same advice.
 */
#ifndef GKF_CUDA_MANAGED_H
#define GKF_CUDA_MANAGED_H

#include "fronts/cuda/memory/memory.h"

/* Whole pages of one managed allocation, as offsets from its base. */
struct managed_range {
	struct gkf_extent piece;
	uint64_t from, to;
};

/*
 * Finds the pages touched by [at, at + count). Fails with
 * CUDA_ERROR_INVALID_VALUE unless the range is within one managed allocation.
 */
CUresult managed_range(CUdeviceptr at, size_t count,
		       struct managed_range *ret_range);

/*
 * Calls change() for each stretch of the range, after splitting the stretches
 * at the range's ends. CUDA_ERROR_OUT_OF_MEMORY: nothing was changed.
 */
CUresult managed_change(const struct managed_range *range,
			void (*change)(struct memory_advice *advice,
				       const void *data),
			const void *data);

/* Calls visit() for each stretch that overlaps the range. */
void managed_visit(const struct managed_range *range,
		   void (*visit)(const struct memory_advice *advice,
				 void *data),
		   void *data);

#endif
