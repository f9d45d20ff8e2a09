/*
 * vector.h - the loops of level 1, one function for each type. They read
 * element i at x[i * incx]: a negative increment begins at the far end, which
 * is up to the caller.
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
	double a[2], s[2]; /* alpha; cosine and sine, whose first is real */
	double param[5];   /* of rotm */
	double result[2];  /* of sums */
	int64_t index;     /* of iamax and iamin, from 1; 0: none */
};

/* type: R_32F, R_64F, C_32F, C_64F. */
void vector_run(struct vectors *v, enum element type);

/*
 * Plane rotations. ab, in and out: a and b, r and z; rotg's real types make z,
 * complex ones leave b. d1, d2, x1 of rotmg change.
 */
void vector_rotg(enum element type, double a[2], double b[2], double ret_c[2],
		 double ret_s[2]);
void vector_rotmg(enum element type, double *d1, double *d2, double *x1,
		  double y1, double ret_param[5]);

#endif
