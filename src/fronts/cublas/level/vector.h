/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vector.h - the loops of level 1, one function per type. Element i is at x[i *
 * incx]; if the increment is negative, the caller passes the address of the
 * last element in memory.
 */
#ifndef GKF_CUBLAS_VECTOR_H
#define GKF_CUBLAS_VECTOR_H

#include "fronts/common/element.h"

enum vector_op {
	VECTOR_COPY,
	VECTOR_SWAP,
	VECTOR_AXPY,
	VECTOR_SCAL,
	VECTOR_DOTU,
	VECTOR_DOTC,
	VECTOR_NRM2,
	VECTOR_ASUM,
	VECTOR_IAMAX,
	VECTOR_IAMIN,
	VECTOR_ROT,
	VECTOR_ROTM,
};

struct vectors {
	enum vector_op op;
	int64_t n, incx, incy;
	void *x, *y;
	/* `a` is alpha, or a[0] is the cosine; `s` is the sine */
	double a[2], s[2];
	double param[5];  /* rotm's parameters */
	double result[2]; /* result of operations that compute a sum */
	int64_t index;    /* iamax, iamin: 1 + index of the element; 0: none */
};

/* `type` must be R_32F, R_64F, C_32F or C_64F. */
void vector_run(struct vectors *v, enum element type);

/*
 * Compute plane rotations. rotg changes a to r and, for real types, b to z.
 * rotmg changes d1, d2 and x1.
 */
void vector_rotg(enum element type, double a[2], double b[2], double ret_c[2],
		 double ret_s[2]);
void vector_rotmg(enum element type, double *d1, double *d2, double *x1,
		  double y1, double ret_param[5]);

#endif
