/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lt_problem.h - a requested product, checked against the documentation and the
 * GPU's capabilities. Used both to find algorithms and to run products.
 */
#ifndef GKF_CUBLAS_LT_PROBLEM_H
#define GKF_CUBLAS_LT_PROBLEM_H

#include "fronts/cublas/lt/lt_layout.h"

#define LT_NO_TYPE (-1)

/* The bits of a cublasLtEpilogue_t. */
#define LT_RELU   2u
#define LT_BIAS   4u
#define LT_DRELU  8u
#define LT_BGRAD  16u
#define LT_GELU   32u
#define LT_DGELU  64u
#define LT_AUX    128u
#define LT_BGRADA 256u
#define LT_BGRADB 512u

/* The properties of a GPU on which the support of products depends. */
struct lt_device {
	int capability; /* 90 is 9.0 */
	int sm_count;
};

struct lt_problem {
	struct lt_matmul op;
	struct lt_layout a, b, c, d;
	int64_t m, n, k;
	int32_t batches;
	enum element sums;           /* the type of sums */
	int32_t bias_type, aux_type; /* LT_NO_TYPE if there is no bias */
	bool narrow;                 /* A and B are 8-bit or 4-bit floats */
};

/* The program's arguments. c may be NULL; it then means d. */
struct lt_request {
	const struct lt_matmul *op;
	const struct lt_layout *a, *b, *c, *d;
};

/* Finds the properties of the current GPU. */
cublasStatus_t lt_find_device(struct lt_device *ret);

/*
 * Checks a request. Returns INVALID_VALUE if it is contradictory, NOT_SUPPORTED
 * if cuBLASLt's documentation, this GPU or we do not support it; ret_why says
 * what is wrong. If `pointers` is set, the epilogue's buffers are required,
 * too.
 */
cublasStatus_t lt_problem_of(const struct lt_request *request,
			     const struct lt_device *device, bool pointers,
			     struct lt_problem *ret, const char **ret_why);

/*
 * Whether a combination of types is documented. Sets *ret_bias to the bias
 * type, or to LT_NO_TYPE.
 */
bool lt_types_are_known(const struct lt_types *types, int32_t *ret_bias);

/* Returns the type of the sums in products of these types. */
enum element lt_sums_of(const struct lt_types *types);

/* Whether a type is an 8-bit or 4-bit float. */
bool lt_is_narrow(uint32_t type);

/* Returns the alignment in bytes that operands of this type need. */
unsigned lt_alignment(uint32_t type_a, uint32_t type);

#endif
