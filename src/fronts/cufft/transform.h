/*
 * transform.h - what a transform is: its lengths and how its data lie. Plain
 * bytes without padding, so that one can be a kernel's parameter and a key.
 */
#ifndef GKF_CUFFT_TRANSFORM_H
#define GKF_CUFFT_TRANSFORM_H

#include "abi/cufft_abi.h"

#include <stdbool.h>

#define RANK_MAX 3

enum transform_kind { COMPLEX, FROM_REAL, TO_REAL };

/* Counts of elements: complex numbers, or reals on the real side. */
struct layout {
	long long
	    embed[RANK_MAX];    /* room in each dimension; [0] not looked at */
	long long stride, dist; /* between elements, between transforms */
};

struct transform {
	int kind, is_double, rank;
	int direction; /* CUFFT_FORWARD, CUFFT_INVERSE: set when it is run */
	int basic;     /* `in` and `out` follow from `in_place` */
	int in_place, aligned, unused;
	long long n[RANK_MAX], batch;
	struct layout in, out;
};

/* The parameters as a caller gives them; embeds may be NULL. */
struct request {
	int type, rank;
	const long long *n, *inembed, *onembed;
	long long istride, idist, ostride, odist, batch;
};

cufftResult transform_make(const struct request *r, struct transform *ret);

/* Fills in the layouts of a basic transform for how it is run. */
void transform_lay_out(struct transform *t, bool in_place);

/* The bytes from the first element to the last; -1: no 64 bits hold that. */
long long transform_in_bytes(const struct transform *t);
long long transform_out_bytes(const struct transform *t);

/* The bytes of a complex number of it: what pointers are multiples of. */
size_t transform_alignment(const struct transform *t);

/* In elements, from a row of dimension i to the next. */
long long transform_step(const struct transform *t, const struct layout *l,
			 int i);

#endif
