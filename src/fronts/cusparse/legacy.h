/* SPDX-License-Identifier: Apache-2.0 */
/* legacy.h - helpers for the legacy functions, whose parameters are arrays. */
#ifndef GKF_CUSPARSE_LEGACY_H
#define GKF_CUSPARSE_LEGACY_H

#include "fronts/cusparse/sparse.h"

/* X(letter, type of elements, cudaDataType). */
#define FOUR_TYPES(X)                                                          \
	X(S, float, CUDA_R_32F)                                                \
	X(D, double, CUDA_R_64F)                                               \
	X(C, cuComplex, CUDA_C_32F)                                            \
	X(Z, cuDoubleComplex, CUDA_C_64F)

/*
 * Describes a rows x cols CSR matrix with 32-bit indices, which start at
 * descr's base.
 */
static inline struct cusparseSpMatDescr
csr_of(const struct cusparseMatDescr *descr, int rows, int cols, int nnz,
       const void *values, const int *offsets, const int *columns,
       cudaDataType type)
{
	return (struct cusparseSpMatDescr){
	    .format = CUSPARSE_FORMAT_CSR,
	    .rows = rows,
	    .cols = cols,
	    .nnz = nnz,
	    .offsets = (void *)(uintptr_t)offsets,
	    .indices = (void *)(uintptr_t)columns,
	    .values = (void *)(uintptr_t)values,
	    .offsets_type = CUSPARSE_INDEX_32I,
	    .indices_type = CUSPARSE_INDEX_32I,
	    .base = descr->base,
	    .type = type,
	    .batch_count = 1};
}

/* The legacy functions support general matrices only. */
static inline cusparseStatus_t
check_general(cusparseHandle_t handle, const struct cusparseMatDescr *descr)
{
	if (!is_handle(handle))
		return CUSPARSE_STATUS_NOT_INITIALIZED;
	if (!descr)
		return CUSPARSE_STATUS_INVALID_VALUE;
	return descr->type == CUSPARSE_MATRIX_TYPE_GENERAL
		   ? CUSPARSE_STATUS_SUCCESS
		   : CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED;
}

#endif
