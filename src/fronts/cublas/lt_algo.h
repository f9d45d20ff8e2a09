/*
 * lt_algo.h - cuBLASLt's algorithms. We have one, which does all and needs no
 * workspace; so what programs choose of it is nothing.
 */
#ifndef GKF_CUBLAS_LT_ALGO_H
#define GKF_CUBLAS_LT_ALGO_H

#include "fronts/cublas/lt_problem.h"

/*
 * INVALID_VALUE: nobody made it, or not for these types. NOT_SUPPORTED: it is
 * configured as none of ours can be.
 */
cublasStatus_t lt_check_algo(const cublasLtMatmulAlgo_t *algo,
			     const struct lt_problem *p);

#endif
