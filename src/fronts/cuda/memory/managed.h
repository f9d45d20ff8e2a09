/* managed.h - what is said of stretches of managed memory. */
#ifndef GKF_CUDA_MANAGED_H
#define GKF_CUDA_MANAGED_H

#include "fronts/cuda/memory.h"

/* Whole pages of one piece, as bytes from its base. */
struct managed_range {
	struct gkf_extent piece;
	uint64_t from, to;
};

/*
 * The pages that [at, at + count) touches; CUDA_ERROR_INVALID_VALUE unless all
 * of it lies in one managed piece.
 */
CUresult managed_range(CUdeviceptr at, size_t count,
		       struct managed_range *ret_range);

/*
 * Calls `change` for each stretch in the range, after stretches were cut at its
 * ends. CUDA_ERROR_OUT_OF_MEMORY: nothing was changed.
 */
CUresult managed_change(const struct managed_range *range,
			void (*change)(struct memory_advice *advice,
				       const void *data),
			const void *data);

/* Calls `visit` for each stretch that has a byte of the range. */
void managed_visit(const struct managed_range *range,
		   void (*visit)(const struct memory_advice *advice,
				 void *data),
		   void *data);

#endif
