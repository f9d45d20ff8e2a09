/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transform.h - describes a transform: its lengths and data layout. The
 * description is plain bytes without padding, so it can be a kernel's parameter
 * and a key that memcmp() compares.
 */
#ifndef GKF_CUFFT_TRANSFORM_H
#define GKF_CUFFT_TRANSFORM_H

#include "abi/libraries/cufft_abi.h"

#include <stdbool.h>

#define RANK_MAX 3

enum transform_kind { COMPLEX, FROM_REAL, TO_REAL };

/*
 * Counts elements: complex numbers or, on a transform's real side, real
 * numbers.
 */
struct layout {
	long long embed[RANK_MAX]; /* sizes of dimensions; [0] is unused */
	/* distance between elements, and between transforms */
	long long stride, dist;
};

struct transform {
	int kind, is_double, rank;
	int direction; /* CUFFT_FORWARD or CUFFT_INVERSE; set before running */
	/* whether the layouts are the default ones, which depend on in_place */
	int basic;
	int in_place, aligned, unused;
	long long n[RANK_MAX], batch;
	struct layout in, out;
};

/* The caller's parameters; inembed and onembed may be NULL. */
struct request {
	int type, rank;
	const long long *n, *inembed, *onembed;
	long long istride, idist, ostride, odist, batch;
};

cufftResult transform_make(const struct request *r, struct transform *ret);

/* Computes the layouts of a basic transform, which depend on in_place. */
void transform_lay_out(struct transform *t, bool in_place);

/*
 * Return the number of bytes from the first element to the last, or -1 on
 * overflow.
 */
long long transform_in_bytes(const struct transform *t);
long long transform_out_bytes(const struct transform *t);

/*
 * Returns the alignment that the pointers need: the bytes of a complex number.
 */
size_t transform_alignment(const struct transform *t);

/* Returns the distance between neighbours along dimension i, in elements. */
long long transform_step(const struct transform *t, const struct layout *l,
			 int i);

#endif
