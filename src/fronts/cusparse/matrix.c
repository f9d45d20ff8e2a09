/* SPDX-License-Identifier: Apache-2.0 */
/* matrix.c - owns the descriptors of sparse matrices. */
#include "fronts/cusparse/sparse.h"

#include <stdlib.h>
#include <string.h>

#define SUCCESS CUSPARSE_STATUS_SUCCESS
#define INVALID CUSPARSE_STATUS_INVALID_VALUE

/*
 * Pointers may be NULL at first: a matrix whose entries are not counted yet
 * gets its arrays later.
 */
static cusparseStatus_t create_matrix(void **ret, struct cusparseSpMatDescr m)
{
	struct cusparseSpMatDescr *made;

	if (!ret || m.rows < 0 || m.cols < 0 || m.nnz < 0 ||
	    !index_size(m.offsets_type) || !index_size(m.indices_type) ||
	    (unsigned)m.base > CUSPARSE_INDEX_BASE_ONE || !value_size(m.type))
		return INVALID;
	if (m.format == CUSPARSE_FORMAT_BSR &&
	    (m.block_rows < 1 || m.block_cols < 1 ||
	     (m.block_order != CUSPARSE_ORDER_COL &&
	      m.block_order != CUSPARSE_ORDER_ROW)))
		return INVALID;
	made = malloc(sizeof *made);
	if (!made)
		return CUSPARSE_STATUS_ALLOC_FAILED;
	*made = m;
	made->batch_count = 1;
	*ret = made;
	return SUCCESS;
}

/*
 * Each function has a variant for writable matrices, for which the first two
 * arguments of the macro are empty, and a variant for read-only matrices, for
 * which they are Const and const.
 */
#define COMPRESSED(Const, constant, Format, FORMAT)                            \
	cusparseStatus_t cusparseCreate##Const##Format(                        \
	    cusparse##Const##SpMatDescr_t *spMatDescr, int64_t rows,           \
	    int64_t cols, int64_t nnz, constant void *offsets,                 \
	    constant void *indices, constant void *values,                     \
	    cusparseIndexType_t offsetsType, cusparseIndexType_t indicesType,  \
	    cusparseIndexBase_t idxBase, cudaDataType valueType)               \
	{                                                                      \
		return create_matrix(                                          \
		    (void **)(uintptr_t)spMatDescr,                            \
		    (struct cusparseSpMatDescr){                               \
			.format = CUSPARSE_FORMAT_##FORMAT,                    \
			.rows = rows,                                          \
			.cols = cols,                                          \
			.nnz = nnz,                                            \
			.offsets = (void *)(uintptr_t)offsets,                 \
			.indices = (void *)(uintptr_t)indices,                 \
			.values = (void *)(uintptr_t)values,                   \
			.offsets_type = offsetsType,                           \
			.indices_type = indicesType,                           \
			.base = idxBase,                                       \
			.type = valueType});                                   \
	}                                                                      \
	cusparseStatus_t cusparse##Const##Format##Get(                         \
	    cusparse##Const##SpMatDescr_t m, int64_t *rows, int64_t *cols,     \
	    int64_t *nnz, constant void **offsets, constant void **indices,    \
	    constant void **values, cusparseIndexType_t *offsetsType,          \
	    cusparseIndexType_t *indicesType, cusparseIndexBase_t *idxBase,    \
	    cudaDataType *valueType)                                           \
	{                                                                      \
		if (!m || m->format != CUSPARSE_FORMAT_##FORMAT || !rows ||    \
		    !cols || !nnz || !offsets || !indices || !values ||        \
		    !offsetsType || !indicesType || !idxBase || !valueType)    \
			return INVALID;                                        \
		*rows = m->rows, *cols = m->cols, *nnz = m->nnz;               \
		*offsets = m->offsets, *indices = m->indices;                  \
		*values = m->values, *offsetsType = m->offsets_type;           \
		*indicesType = m->indices_type, *idxBase = m->base;            \
		*valueType = m->type;                                          \
		return SUCCESS;                                                \
	}

#define COORDINATES(Const, constant)                                           \
	cusparseStatus_t cusparseCreate##Const##Coo(                           \
	    cusparse##Const##SpMatDescr_t *spMatDescr, int64_t rows,           \
	    int64_t cols, int64_t nnz, constant void *cooRowInd,               \
	    constant void *cooColInd, constant void *cooValues,                \
	    cusparseIndexType_t cooIdxType, cusparseIndexBase_t idxBase,       \
	    cudaDataType valueType)                                            \
	{                                                                      \
		return create_matrix(                                          \
		    (void **)(uintptr_t)spMatDescr,                            \
		    (struct cusparseSpMatDescr){                               \
			.format = CUSPARSE_FORMAT_COO,                         \
			.rows = rows,                                          \
			.cols = cols,                                          \
			.nnz = nnz,                                            \
			.offsets = (void *)(uintptr_t)cooRowInd,               \
			.indices = (void *)(uintptr_t)cooColInd,               \
			.values = (void *)(uintptr_t)cooValues,                \
			.offsets_type = cooIdxType,                            \
			.indices_type = cooIdxType,                            \
			.base = idxBase,                                       \
			.type = valueType});                                   \
	}                                                                      \
	cusparseStatus_t cusparse##Const##CooGet(                              \
	    cusparse##Const##SpMatDescr_t m, int64_t *rows, int64_t *cols,     \
	    int64_t *nnz, constant void **cooRowInd,                           \
	    constant void **cooColInd, constant void **cooValues,              \
	    cusparseIndexType_t *idxType, cusparseIndexBase_t *idxBase,        \
	    cudaDataType *valueType)                                           \
	{                                                                      \
		if (!m || m->format != CUSPARSE_FORMAT_COO || !rows ||         \
		    !cols || !nnz || !cooRowInd || !cooColInd || !cooValues || \
		    !idxType || !idxBase || !valueType)                        \
			return INVALID;                                        \
		*rows = m->rows, *cols = m->cols, *nnz = m->nnz;               \
		*cooRowInd = m->offsets, *cooColInd = m->indices;              \
		*cooValues = m->values, *idxType = m->indices_type;            \
		*idxBase = m->base, *valueType = m->type;                      \
		return SUCCESS;                                                \
	}

#define BLOCKS(Const, constant)                                                \
	cusparseStatus_t cusparseCreate##Const##Bsr(                           \
	    cusparse##Const##SpMatDescr_t *spMatDescr, int64_t brows,          \
	    int64_t bcols, int64_t bnnz, int64_t rowBlockSize,                 \
	    int64_t colBlockSize, constant void *bsrRowOffsets,                \
	    constant void *bsrColInd, constant void *bsrValues,                \
	    cusparseIndexType_t bsrRowOffsetsType,                             \
	    cusparseIndexType_t bsrColIndType, cusparseIndexBase_t idxBase,    \
	    cudaDataType valueType, cusparseOrder_t order)                     \
	{                                                                      \
		return create_matrix(                                          \
		    (void **)(uintptr_t)spMatDescr,                            \
		    (struct cusparseSpMatDescr){                               \
			.format = CUSPARSE_FORMAT_BSR,                         \
			.rows = brows,                                         \
			.cols = bcols,                                         \
			.nnz = bnnz,                                           \
			.offsets = (void *)(uintptr_t)bsrRowOffsets,           \
			.indices = (void *)(uintptr_t)bsrColInd,               \
			.values = (void *)(uintptr_t)bsrValues,                \
			.offsets_type = bsrRowOffsetsType,                     \
			.indices_type = bsrColIndType,                         \
			.base = idxBase,                                       \
			.type = valueType,                                     \
			.block_rows = rowBlockSize,                            \
			.block_cols = colBlockSize,                            \
			.block_order = order});                                \
	}

#define READING(Const, constant)                                               \
	COMPRESSED(Const, constant, Csr, CSR)                                  \
	COMPRESSED(Const, constant, Csc, CSC)                                  \
	COORDINATES(Const, constant)                                           \
	BLOCKS(Const, constant)                                                \
	cusparseStatus_t cusparse##Const##SpMatGetValues(                      \
	    cusparse##Const##SpMatDescr_t spMatDescr, constant void **values)  \
	{                                                                      \
		if (!spMatDescr || !values)                                    \
			return INVALID;                                        \
		*values = spMatDescr->values;                                  \
		return SUCCESS;                                                \
	}
READING(, )
READING(Const, const)

#define SET_POINTERS(Format, FORMAT)                                           \
	cusparseStatus_t cusparse##Format##SetPointers(                        \
	    cusparseSpMatDescr_t m, void *offsets, void *indices,              \
	    void *values)                                                      \
	{                                                                      \
		if (!m || m->format != CUSPARSE_FORMAT_##FORMAT || !offsets || \
		    (m->nnz && (!indices || !values)))                         \
			return INVALID;                                        \
		m->offsets = offsets;                                          \
		m->indices = indices;                                          \
		m->values = values;                                            \
		return SUCCESS;                                                \
	}
SET_POINTERS(Csr, CSR)
SET_POINTERS(Csc, CSC)

cusparseStatus_t cusparseCooSetPointers(cusparseSpMatDescr_t spMatDescr,
					void *cooRows, void *cooColumns,
					void *cooValues)
{
	if (!spMatDescr || spMatDescr->format != CUSPARSE_FORMAT_COO ||
	    (spMatDescr->nnz && (!cooRows || !cooColumns || !cooValues)))
		return INVALID;
	spMatDescr->offsets = cooRows;
	spMatDescr->indices = cooColumns;
	spMatDescr->values = cooValues;
	return SUCCESS;
}

cusparseStatus_t cusparseDestroySpMat(cusparseConstSpMatDescr_t spMatDescr)
{
	free((void *)(uintptr_t)spMatDescr);
	return SUCCESS;
}

cusparseStatus_t cusparseSpMatGetFormat(cusparseConstSpMatDescr_t spMatDescr,
					cusparseFormat_t *format)
{
	if (!spMatDescr || !format)
		return INVALID;
	*format = spMatDescr->format;
	return SUCCESS;
}

cusparseStatus_t cusparseSpMatGetIndexBase(cusparseConstSpMatDescr_t spMatDescr,
					   cusparseIndexBase_t *idxBase)
{
	if (!spMatDescr || !idxBase)
		return INVALID;
	*idxBase = spMatDescr->base;
	return SUCCESS;
}

cusparseStatus_t cusparseSpMatSetValues(cusparseSpMatDescr_t spMatDescr,
					void *values)
{
	if (!spMatDescr || !values)
		return INVALID;
	spMatDescr->values = values;
	return SUCCESS;
}

cusparseStatus_t cusparseSpMatGetSize(cusparseConstSpMatDescr_t spMatDescr,
				      int64_t *rows, int64_t *cols,
				      int64_t *nnz)
{
	if (!spMatDescr || !rows || !cols || !nnz)
		return INVALID;
	*rows = spMatDescr->rows;
	*cols = spMatDescr->cols;
	*nnz = spMatDescr->nnz;
	return SUCCESS;
}

cusparseStatus_t
cusparseSpMatGetStridedBatch(cusparseConstSpMatDescr_t spMatDescr,
			     int *batchCount)
{
	if (!spMatDescr || !batchCount)
		return INVALID;
	*batchCount = spMatDescr->batch_count;
	return SUCCESS;
}

static cusparseStatus_t set_batch(cusparseSpMatDescr_t m,
				  cusparseFormat_t format, int count,
				  int64_t offsets, int64_t indices,
				  int64_t values)
{
	if (!m || m->format != format || count < 1 || offsets < 0 ||
	    indices < 0 || values < 0)
		return INVALID;
	m->batch_count = count;
	m->offsets_stride = offsets;
	m->indices_stride = indices;
	m->values_stride = values;
	return SUCCESS;
}

cusparseStatus_t cusparseCooSetStridedBatch(cusparseSpMatDescr_t spMatDescr,
					    int batchCount, int64_t batchStride)
{
	return set_batch(spMatDescr, CUSPARSE_FORMAT_COO, batchCount,
			 batchStride, batchStride, batchStride);
}

cusparseStatus_t cusparseCsrSetStridedBatch(cusparseSpMatDescr_t spMatDescr,
					    int batchCount,
					    int64_t offsetsBatchStride,
					    int64_t columnsValuesBatchStride)
{
	return set_batch(spMatDescr, CUSPARSE_FORMAT_CSR, batchCount,
			 offsetsBatchStride, columnsValuesBatchStride,
			 columnsValuesBatchStride);
}

cusparseStatus_t cusparseBsrSetStridedBatch(cusparseSpMatDescr_t spMatDescr,
					    int batchCount,
					    int64_t offsetsBatchStride,
					    int64_t columnsBatchStride,
					    int64_t ValuesBatchStride)
{
	return set_batch(spMatDescr, CUSPARSE_FORMAT_BSR, batchCount,
			 offsetsBatchStride, columnsBatchStride,
			 ValuesBatchStride);
}

cusparseStatus_t cusparseSpMatGetAttribute(cusparseConstSpMatDescr_t spMatDescr,
					   cusparseSpMatAttribute_t attribute,
					   void *data, size_t dataSize)
{
	const void *from;

	if (!spMatDescr || !data || dataSize != sizeof spMatDescr->fill ||
	    (unsigned)attribute > CUSPARSE_SPMAT_DIAG_TYPE)
		return INVALID;
	from = attribute == CUSPARSE_SPMAT_FILL_MODE
		   ? (const void *)&spMatDescr->fill
		   : (const void *)&spMatDescr->diag;
	memcpy(data, from, dataSize);
	return SUCCESS;
}

cusparseStatus_t cusparseSpMatSetAttribute(cusparseSpMatDescr_t spMatDescr,
					   cusparseSpMatAttribute_t attribute,
					   void *data, size_t dataSize)
{
	unsigned value;

	if (!spMatDescr || !data || dataSize != sizeof value ||
	    (unsigned)attribute > CUSPARSE_SPMAT_DIAG_TYPE)
		return INVALID;
	memcpy(&value, data, sizeof value);
	if (value > 1)
		return INVALID;
	if (attribute == CUSPARSE_SPMAT_FILL_MODE)
		spMatDescr->fill = value;
	else
		spMatDescr->diag = value;
	return SUCCESS;
}
