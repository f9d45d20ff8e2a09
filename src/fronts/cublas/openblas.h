/*
 * openblas.h - OpenBLAS, opened at the first need and never linked: programs
 * without cuBLAS do not load it, and those with it keep their own BLAS.
 */
#ifndef GKF_CUBLAS_OPENBLAS_H
#define GKF_CUBLAS_OPENBLAS_H

#include <stddef.h>

/* CBLAS' constants. */
#define BLAS_COLUMNS  102
#define BLAS_NO_TRANS 111 /* and its transposed 112, conjugated 113 */
#define BLAS_UPPER    121
#define BLAS_LOWER    122
#define BLAS_NON_UNIT 131
#define BLAS_UNIT     132
#define BLAS_LEFT     141
#define BLAS_RIGHT    142

/* Rows of openblas.def; dimensions are ints. */
struct openblas {
#define CBLAS(name, parameters)  void(*name) parameters;
#define LAPACK(name, parameters) void(*name) parameters;
#include "fronts/cublas/openblas.def"
#undef LAPACK
#undef CBLAS
};

/* Any thread. NULL: it is not installed, which is logged once. */
const struct openblas *openblas(void);

/*
 * Around each call. A fork waits for calls that run, and they for a fork:
 * OpenBLAS ends its threads then, and would wait for ever for those at work.
 */
void openblas_begin(void);
void openblas_end(void);

#endif
