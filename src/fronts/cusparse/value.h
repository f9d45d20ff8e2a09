/* SPDX-License-Identifier: Apache-2.0 */
/*
 * value.h - numbers of cuSPARSE's types. Computes in double precision and
 * rounds once, to the type of the result. That is at least as accurate as a
 * GPU.
 */
#ifndef GKF_CUSPARSE_VALUE_H
#define GKF_CUSPARSE_VALUE_H

#include "abi/libraries/cusparse_abi.h"

#include <stdbool.h>

struct value {
	double re, im; /* im is 0 in real types */
};

/* Returns the size of a type in bytes, or 0 if cuSPARSE does not have it. */
size_t value_size(cudaDataType type);
bool value_is_complex(cudaDataType type);
/*
 * Returns the type that alpha and beta have when all operands have this type.
 */
cudaDataType value_compute_type(cudaDataType type);

struct value value_load_any(cudaDataType type, const void *array,
			    int64_t index);
void value_store(cudaDataType type, void *array, int64_t index, struct value v);

/* Loads an element; the most common types are read inline. */
static inline struct value value_load(cudaDataType type, const void *array,
				      int64_t index)
{
	if (type == CUDA_R_32F)
		return (struct value){(double)((const float *)array)[index], 0};
	if (type == CUDA_R_64F)
		return (struct value){((const double *)array)[index], 0};
	return value_load_any(type, array, index);
}

/* Returns an element of an array of 16, 32 or 64-bit indices. */
static inline int64_t index_load(cusparseIndexType_t type, const void *array,
				 int64_t at)
{
	if (type == CUSPARSE_INDEX_32I)
		return ((const int32_t *)array)[at];
	return type == CUSPARSE_INDEX_64I ? ((const int64_t *)array)[at]
					  : ((const uint16_t *)array)[at];
}
void index_store(cusparseIndexType_t type, void *array, int64_t at, int64_t v);
/* Returns 0 if there is no such type. */
size_t index_size(cusparseIndexType_t type);

static inline struct value value_add(struct value a, struct value b)
{
	return (struct value){a.re + b.re, a.im + b.im};
}

/*
 * Multiplies real numbers separately: infinity times an imaginary part of 0
 * would give NaN.
 */
static inline struct value value_multiply(struct value a, struct value b)
{
	if (a.im == 0 && b.im == 0)
		return (struct value){a.re * b.re, 0};
	return (struct value){a.re * b.re - a.im * b.im,
			      a.re * b.im + a.im * b.re};
}

static inline struct value value_negate(struct value a)
{
	return (struct value){-a.re, -a.im};
}

static inline struct value value_conjugate(struct value a)
{
	return (struct value){a.re, -a.im};
}

static inline bool value_is_zero(struct value a)
{
	return a.re == 0 && a.im == 0;
}

struct value value_divide(struct value a, struct value b);

/*
 * Returns alpha * a + beta * array[at]; the element is not read if beta is 0.
 */
static inline struct value value_blend(struct value alpha, struct value a,
				       struct value beta, cudaDataType type,
				       const void *array, int64_t at)
{
	struct value v = value_multiply(alpha, a);

	return value_is_zero(beta)
		   ? v
		   : value_add(
			 v, value_multiply(beta, value_load(type, array, at)));
}

#endif
