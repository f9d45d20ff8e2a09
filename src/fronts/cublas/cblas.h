/* cblas.h - CBLAS, and what of LAPACK is batched, as OpenBLAS has them. */
#ifndef GKF_CUBLAS_CBLAS_H
#define GKF_CUBLAS_CBLAS_H

#include "fronts/common/openblas.h"

/* CBLAS' constants. */
#define BLAS_COLUMNS  102
#define BLAS_NO_TRANS 111 /* and its transposed 112, conjugated 113 */
#define BLAS_UPPER    121
#define BLAS_LOWER    122
#define BLAS_NON_UNIT 131
#define BLAS_UNIT     132
#define BLAS_LEFT     141
#define BLAS_RIGHT    142

/* Rows of cblas.def; dimensions are ints. */
struct cblas {
#define CBLAS(name, parameters)  void(*name) parameters;
#define LAPACK(name, parameters) void(*name) parameters;
#include "fronts/cublas/cblas.def"
#undef LAPACK
#undef CBLAS
};

/* Any thread. NULL: there is no OpenBLAS, which is logged once. */
const struct cblas *cblas(void);

#endif
