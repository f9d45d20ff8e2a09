/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lt_move.h - the kernel of cublasLtMatrixTransform(): C = alpha * op(A) +
 * beta * op(B), from one layout and type to another.
 */
#ifndef GKF_CUBLAS_LT_MOVE_H
#define GKF_CUBLAS_LT_MOVE_H

#include "fronts/cublas/lt/lt_memory.h"

struct lt_transform_job {
	struct lt_transform op;
	struct lt_layout a, b, c;
	/* from_a or from_b is 0 if there is no A or no B */
	uint64_t from_a, from_b, to;
	struct lt_factor alpha, beta;
};

CUresult lt_run_transform(struct gpukit_run *run);

#endif
