/* SPDX-License-Identifier: Apache-2.0 */
/* vector.c - owns the descriptors of vectors and dense matrices. */
#include "fronts/cusparse/sparse.h"

#include <stdlib.h>

#define SUCCESS CUSPARSE_STATUS_SUCCESS
#define INVALID CUSPARSE_STATUS_INVALID_VALUE

/* Returns a copy of a descriptor on the heap, or NULL when out of memory. */
#define NEW(descriptor) copy_new(&(descriptor), sizeof(descriptor))

static void *copy_new(const void *from, size_t size)
{
	void *to = malloc(size);

	return to ? __builtin_memcpy(to, from, size) : NULL;
}

static cusparseStatus_t give_descriptor(void *made, void **ret)
{
	if (!made)
		return CUSPARSE_STATUS_ALLOC_FAILED;
	*ret = made;
	return SUCCESS;
}

static cusparseStatus_t create_spvec(void **ret, struct cusparseSpVecDescr v)
{
	if (!ret || v.size < 0 || v.nnz < 0 || v.nnz > v.size ||
	    (v.nnz && (!v.indices || !v.values)) || !index_size(v.index_type) ||
	    (unsigned)v.base > CUSPARSE_INDEX_BASE_ONE || !value_size(v.type))
		return INVALID;
	return give_descriptor(NEW(v), ret);
}

static cusparseStatus_t create_dnvec(void **ret, struct cusparseDnVecDescr v)
{
	if (!ret || v.size < 0 || (v.size && !v.values) || !value_size(v.type))
		return INVALID;
	return give_descriptor(NEW(v), ret);
}

static cusparseStatus_t create_dnmat(void **ret, struct cusparseDnMatDescr m)
{
	if (!ret || m.rows < 0 || m.cols < 0 || !value_size(m.type) ||
	    (m.order != CUSPARSE_ORDER_COL && m.order != CUSPARSE_ORDER_ROW) ||
	    m.ld < (m.order == CUSPARSE_ORDER_COL ? m.rows : m.cols) ||
	    (m.rows && m.cols && !m.values))
		return INVALID;
	m.batch_count = 1;
	return give_descriptor(NEW(m), ret);
}

/*
 * Each function has a variant for writable descriptors, for which both
 * arguments of the macro are empty, and a variant for read-only descriptors,
 * for which they are Const and const.
 */
#define VECTORS(Const, constant)                                               \
	cusparseStatus_t cusparseCreate##Const##SpVec(                         \
	    cusparse##Const##SpVecDescr_t *spVecDescr, int64_t size,           \
	    int64_t nnz, constant void *indices, constant void *values,        \
	    cusparseIndexType_t idxType, cusparseIndexBase_t idxBase,          \
	    cudaDataType valueType)                                            \
	{                                                                      \
		return create_spvec((void **)(uintptr_t)spVecDescr,            \
				    (struct cusparseSpVecDescr){               \
					size, nnz, (void *)(uintptr_t)indices, \
					(void *)(uintptr_t)values, idxType,    \
					idxBase, valueType});                  \
	}                                                                      \
	cusparseStatus_t cusparseCreate##Const##DnVec(                         \
	    cusparse##Const##DnVecDescr_t *dnVecDescr, int64_t size,           \
	    constant void *values, cudaDataType valueType)                     \
	{                                                                      \
		return create_dnvec(                                           \
		    (void **)(uintptr_t)dnVecDescr,                            \
		    (struct cusparseDnVecDescr){                               \
			size, (void *)(uintptr_t)values, valueType});          \
	}                                                                      \
	cusparseStatus_t cusparseCreate##Const##DnMat(                         \
	    cusparse##Const##DnMatDescr_t *dnMatDescr, int64_t rows,           \
	    int64_t cols, int64_t ld, constant void *values,                   \
	    cudaDataType valueType, cusparseOrder_t order)                     \
	{                                                                      \
		return create_dnmat((void **)(uintptr_t)dnMatDescr,            \
				    (struct cusparseDnMatDescr){               \
					.rows = rows,                          \
					.cols = cols,                          \
					.ld = ld,                              \
					.values = (void *)(uintptr_t)values,   \
					.type = valueType,                     \
					.order = order});                      \
	}                                                                      \
	cusparseStatus_t cusparse##Const##SpVecGet(                            \
	    cusparse##Const##SpVecDescr_t spVecDescr, int64_t *size,           \
	    int64_t *nnz, constant void **indices, constant void **values,     \
	    cusparseIndexType_t *idxType, cusparseIndexBase_t *idxBase,        \
	    cudaDataType *valueType)                                           \
	{                                                                      \
		if (!spVecDescr || !size || !nnz || !indices || !values ||     \
		    !idxType || !idxBase || !valueType)                        \
			return INVALID;                                        \
		*size = spVecDescr->size, *nnz = spVecDescr->nnz;              \
		*indices = spVecDescr->indices, *values = spVecDescr->values;  \
		*idxType = spVecDescr->index_type;                             \
		*idxBase = spVecDescr->base, *valueType = spVecDescr->type;    \
		return SUCCESS;                                                \
	}                                                                      \
	cusparseStatus_t cusparse##Const##DnVecGet(                            \
	    cusparse##Const##DnVecDescr_t dnVecDescr, int64_t *size,           \
	    constant void **values, cudaDataType *valueType)                   \
	{                                                                      \
		if (!dnVecDescr || !size || !values || !valueType)             \
			return INVALID;                                        \
		*size = dnVecDescr->size, *values = dnVecDescr->values;        \
		*valueType = dnVecDescr->type;                                 \
		return SUCCESS;                                                \
	}                                                                      \
	cusparseStatus_t cusparse##Const##DnMatGet(                            \
	    cusparse##Const##DnMatDescr_t dnMatDescr, int64_t *rows,           \
	    int64_t *cols, int64_t *ld, constant void **values,                \
	    cudaDataType *type, cusparseOrder_t *order)                        \
	{                                                                      \
		if (!dnMatDescr || !rows || !cols || !ld || !values ||         \
		    !type || !order)                                           \
			return INVALID;                                        \
		*rows = dnMatDescr->rows, *cols = dnMatDescr->cols;            \
		*ld = dnMatDescr->ld, *values = dnMatDescr->values;            \
		*type = dnMatDescr->type, *order = dnMatDescr->order;          \
		return SUCCESS;                                                \
	}                                                                      \
	VALUES(Const, constant, SpVec, spVecDescr)                             \
	VALUES(Const, constant, DnVec, dnVecDescr)                             \
	VALUES(Const, constant, DnMat, dnMatDescr)

#define VALUES(Const, constant, Kind, descriptor)                              \
	cusparseStatus_t cusparse##Const##Kind##GetValues(                     \
	    cusparse##Const##Kind##Descr_t descriptor, constant void **values) \
	{                                                                      \
		if (!descriptor || !values)                                    \
			return INVALID;                                        \
		*values = descriptor->values;                                  \
		return SUCCESS;                                                \
	}

VECTORS(, )
VECTORS(Const, const)

/*
 * Defines the functions that every kind of descriptor has. Programs destroy
 * descriptors through const pointers.
 */
#define KIND(Kind, descriptor)                                                 \
	cusparseStatus_t cusparseDestroy##Kind(                                \
	    cusparseConst##Kind##Descr_t descriptor)                           \
	{                                                                      \
		free((void *)(uintptr_t)descriptor);                           \
		return SUCCESS;                                                \
	}                                                                      \
	cusparseStatus_t cusparse##Kind##SetValues(                            \
	    cusparse##Kind##Descr_t descriptor, void *values)                  \
	{                                                                      \
		if (!descriptor || !values)                                    \
			return INVALID;                                        \
		descriptor->values = values;                                   \
		return SUCCESS;                                                \
	}
KIND(SpVec, spVecDescr)
KIND(DnVec, dnVecDescr)
KIND(DnMat, dnMatDescr)

cusparseStatus_t cusparseSpVecGetIndexBase(cusparseConstSpVecDescr_t spVecDescr,
					   cusparseIndexBase_t *idxBase)
{
	if (!spVecDescr || !idxBase)
		return INVALID;
	*idxBase = spVecDescr->base;
	return SUCCESS;
}

cusparseStatus_t cusparseDnMatSetStridedBatch(cusparseDnMatDescr_t dnMatDescr,
					      int batchCount,
					      int64_t batchStride)
{
	if (!dnMatDescr || batchCount < 1 || batchStride < 0)
		return INVALID;
	dnMatDescr->batch_count = batchCount;
	dnMatDescr->batch_stride = batchStride;
	return SUCCESS;
}

cusparseStatus_t
cusparseDnMatGetStridedBatch(cusparseConstDnMatDescr_t dnMatDescr,
			     int *batchCount, int64_t *batchStride)
{
	if (!dnMatDescr || !batchCount || !batchStride)
		return INVALID;
	*batchCount = dnMatDescr->batch_count;
	*batchStride = dnMatDescr->batch_stride;
	return SUCCESS;
}
