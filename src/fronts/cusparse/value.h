/*
 * value.h - numbers of cuSPARSE's types. All arithmetic is done in double and
 * rounded once to the type of the result: at least as exact as a GPU's.
 */
#ifndef GKF_CUSPARSE_VALUE_H
#define GKF_CUSPARSE_VALUE_H

#include "abi/cusparse_abi.h"

#include <stdbool.h>

struct value {
	double re, im; /* im: 0 in real types */
};

/* 0: cuSPARSE has no such type. */
size_t value_size(cudaDataType type);
bool value_is_complex(cudaDataType type);
/* The type of alpha and beta where all operands are of a type. */
cudaDataType value_compute_type(cudaDataType type);

struct value value_load_any(cudaDataType type, const void *array,
			    int64_t index);
void value_store(cudaDataType type, void *array, int64_t index, struct value v);

/* The types that are used most are read without a call. */
static inline struct value value_load(cudaDataType type, const void *array,
				      int64_t index)
{
	if (type == CUDA_R_32F)
		return (struct value){(double)((const float *)array)[index], 0};
	if (type == CUDA_R_64F)
		return (struct value){((const double *)array)[index], 0};
	return value_load_any(type, array, index);
}

/* An index of an array of 16, 32 or 64 bits. */
static inline int64_t index_load(cusparseIndexType_t type, const void *array,
				 int64_t at)
{
	if (type == CUSPARSE_INDEX_32I)
		return ((const int32_t *)array)[at];
	return type == CUSPARSE_INDEX_64I ? ((const int64_t *)array)[at]
					  : ((const uint16_t *)array)[at];
}
void index_store(cusparseIndexType_t type, void *array, int64_t at, int64_t v);
/* 0: no such type. */
size_t index_size(cusparseIndexType_t type);

static inline struct value value_add(struct value a, struct value b)
{
	return (struct value){a.re + b.re, a.im + b.im};
}

/* Real numbers stay real: an infinity makes no NaN out of a zero part. */
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

/* alpha * a + beta * (what is there); with beta 0 that is not looked at. */
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
