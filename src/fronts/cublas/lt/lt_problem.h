/*
 * lt_problem.h - one product as cuBLASLt is asked for it, checked against what
 * is documented and what the GPU can do. Heuristics and the product itself ask
 * the same.
 */
#ifndef GKF_CUBLAS_LT_PROBLEM_H
#define GKF_CUBLAS_LT_PROBLEM_H

#include "fronts/cublas/lt_layout.h"

#define LT_NO_TYPE (-1)

/* Bits of an epilogue. */
#define LT_RELU   2u
#define LT_BIAS   4u
#define LT_DRELU  8u
#define LT_BGRAD  16u
#define LT_GELU   32u
#define LT_DGELU  64u
#define LT_AUX    128u
#define LT_BGRADA 256u
#define LT_BGRADB 512u

/* A GPU, as far as products depend on it. */
struct lt_device {
	int capability; /* 90 is 9.0 */
	int sm_count;
};

struct lt_problem {
	struct lt_matmul op;
	struct lt_layout a, b, c, d;
	int64_t m, n, k;
	int32_t batches;
	enum element sums;           /* what products are summed in */
	int32_t bias_type, aux_type; /* LT_NO_TYPE: the epilogue has none */
	bool narrow;                 /* A and B are of 8 or 4 bits, floats */
};

/* What the program passed; c NULL is as d. */
struct lt_request {
	const struct lt_matmul *op;
	const struct lt_layout *a, *b, *c, *d;
};

/* The current GPU. */
cublasStatus_t lt_find_device(struct lt_device *ret);

/*
 * INVALID_VALUE: nobody could do it. NOT_SUPPORTED: cuBLASLt's documentation
 * has no such product, or this GPU has not, or we have not. ret_why says what
 * is wrong. `pointers`: the epilogue's buffers must be there, too.
 */
cublasStatus_t lt_problem_of(const struct lt_request *request,
			     const struct lt_device *device, bool pointers,
			     struct lt_problem *ret, const char **ret_why);

/* A combination of types that is documented. ret_bias: LT_NO_TYPE or a type. */
bool lt_types_are_known(const struct lt_types *types, int32_t *ret_bias);

/* What products of these types are summed in. */
enum element lt_sums_of(const struct lt_types *types);

/* A matrix of floats of 8 or 4 bits. */
bool lt_is_narrow(uint32_t type);

/* Bytes to which operands of this type must be aligned. */
unsigned lt_alignment(uint32_t type_a, uint32_t type);

#endif
