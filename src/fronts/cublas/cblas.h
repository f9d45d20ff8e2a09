/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cblas.h - the CBLAS functions of OpenBLAS, and its LAPACK functions for
 * batched operations.
 */
#ifndef GKF_CUBLAS_CBLAS_H
#define GKF_CUBLAS_CBLAS_H

#include "fronts/common/openblas.h"

/* CBLAS' constants. */
#define BLAS_COLUMNS  102
#define BLAS_NO_TRANS 111 /* 112: transposed; 113: conjugate transposed */
#define BLAS_UPPER    121
#define BLAS_LOWER    122
#define BLAS_NON_UNIT 131
#define BLAS_UNIT     132
#define BLAS_LEFT     141
#define BLAS_RIGHT    142

/* The rows of cblas.def; dimensions are ints. */
struct cblas {
#define CBLAS(name, parameters)  void(*name) parameters;
#define LAPACK(name, parameters) void(*name) parameters;
#include "fronts/cublas/cblas.def"
#undef LAPACK
#undef CBLAS
};

/*
 * Opens OpenBLAS; any thread may call it. If OpenBLAS is missing, returns NULL
 * and logs that once.
 */
const struct cblas *cblas(void);

#endif
