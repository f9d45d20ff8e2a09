/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lt_memory.h - resolves the memory of matrices for cuBLASLt's kernels.
 */
#ifndef GKF_CUBLAS_LT_MEMORY_H
#define GKF_CUBLAS_LT_MEMORY_H

#include "fronts/common/native.h"
#include "fronts/cublas/lt/lt_layout.h"

/* alpha or beta. */
struct lt_factor {
	uint64_t address; /* device address; 0: use `value` */
	bool vector;      /* address points to one factor per row of D */
	double value[2];  /* real, imaginary */
};

/*
 * Returns matrix `index` of a batch. `address` is that of the first matrix or,
 * in pointer array mode, of an array of addresses. Returns NULL if the memory
 * is not accessible; the kernel must end then.
 */
void *lt_matrix_at(struct gpukit_run *run, enum gpukit_access access,
		   const struct lt_layout *l, uint64_t address, int32_t index);

#endif
