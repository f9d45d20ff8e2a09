/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lt_algo.h - cuBLASLt's algorithms. We have one for all products. It needs no
 * workspace and has no configuration.
 */
#ifndef GKF_CUBLAS_LT_ALGO_H
#define GKF_CUBLAS_LT_ALGO_H

#include "fronts/cublas/lt/lt_problem.h"

/*
 * Checks whether an algorithm can solve a problem. Returns INVALID_VALUE if the
 * algorithm is not initialised or is for other types, NOT_SUPPORTED if it has a
 * configuration that we do not have.
 */
cublasStatus_t lt_check_algo(const cublasLtMatmulAlgo_t *algo,
			     const struct lt_problem *p);

#endif
