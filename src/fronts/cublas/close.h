/*
 * close.h - vectors of the program whose elements lie apart, close together
 * for a body.
 */
#ifndef GKF_CUBLAS_CLOSE_H
#define GKF_CUBLAS_CLOSE_H

#include "fronts/cublas/blas.h"

struct close {
	char *at;    /* element 0, the others behind it */
	char *own;   /* `at` if it is a copy: to be freed; else NULL */
	char *place; /* where the program has it, at its lowest address */
	int64_t n, inc;
	size_t size;
};

/* copied: it will be changed. On failure there is nothing to free. */
CUresult close_take(struct gpukit_run *run, enum gpukit_access access,
		    uint64_t at, enum element type, int64_t n, int64_t inc,
		    bool copied, struct close *ret);

/* A copy's elements go to where the program has them. */
void close_put(const struct close *v);

#endif
