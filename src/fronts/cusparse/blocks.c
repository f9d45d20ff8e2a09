/* SPDX-License-Identifier: Apache-2.0 */
/* blocks.c - bsrmv and bsrmm: the legacy SpMV and SpMM of BSR matrices. */
#include "fronts/cusparse/legacy.h"
#include "fronts/cusparse/params.h"

struct blocks {
	cusparseDirection_t direction;
	cusparseOperation_t op;
	int rows, cols, nnz, size; /* in blocks, except `size` */
	const void *values;
	const int *offsets, *columns;
	cudaDataType type;
};

static struct cusparseSpMatDescr matrix_of(const struct blocks *b,
					   const struct cusparseMatDescr *descr)
{
	struct cusparseSpMatDescr m =
	    csr_of(descr, b->rows, b->cols, b->nnz, b->values, b->offsets,
		   b->columns, b->type);

	m.format = CUSPARSE_FORMAT_BSR;
	m.block_rows = m.block_cols = b->size;
	m.block_order = b->direction == CUSPARSE_DIRECTION_ROW
			    ? CUSPARSE_ORDER_ROW
			    : CUSPARSE_ORDER_COL;
	return m;
}

static cusparseStatus_t check_blocks(cusparseHandle_t handle,
				     const struct blocks *b,
				     const struct cusparseMatDescr *descr,
				     const char *symbol)
{
	cusparseStatus_t status = check_general(handle, descr);

	if (status)
		return status;
	if (b->rows < 0 || b->cols < 0 || b->nnz < 0 || b->size < 1 ||
	    (unsigned)b->direction > CUSPARSE_DIRECTION_COLUMN ||
	    !sparse_is_operation(b->op))
		return CUSPARSE_STATUS_INVALID_VALUE;
	return b->op == CUSPARSE_OPERATION_NON_TRANSPOSE
		   ? CUSPARSE_STATUS_SUCCESS
		   : sparse_refuse(symbol);
}

static struct cusparseDnMatDescr columns_of(const void *values, int64_t rows,
					    int64_t cols, int64_t ld,
					    cudaDataType type)
{
	return (struct cusparseDnMatDescr){.rows = rows,
					   .cols = cols,
					   .ld = ld,
					   .values = (void *)(uintptr_t)values,
					   .type = type,
					   .order = CUSPARSE_ORDER_COL,
					   .batch_count = 1};
}

static cusparseStatus_t
multiply_blocks(cusparseHandle_t handle, const struct blocks *b,
		const struct cusparseMatDescr *descr, const void *alpha,
		struct cusparseDnMatDescr x, cusparseOperation_t op,
		const void *beta, struct cusparseDnMatDescr y)
{
	struct multiply p = {.a = matrix_of(b, descr),
			     .b = x,
			     .c = y,
			     .op_a = b->op,
			     .op_b = op};

	if (!alpha || !beta)
		return CUSPARSE_STATUS_INVALID_VALUE;
	p.alpha = sparse_take_scalar(handle, alpha, b->type);
	p.beta = sparse_take_scalar(handle, beta, b->type);
	return sparse_launch(handle, KERNEL_spmm, &p);
}

#define BLOCKS(X, T, number)                                                   \
	cusparseStatus_t cusparse##X##bsrmv(                                   \
	    cusparseHandle_t handle, cusparseDirection_t dirA,                 \
	    cusparseOperation_t transA, int mb, int nb, int nnzb,              \
	    const T *alpha, const cusparseMatDescr_t descrA,                   \
	    const T *bsrSortedValA, const int *bsrSortedRowPtrA,               \
	    const int *bsrSortedColIndA, int blockDim, const T *x,             \
	    const T *beta, T *y)                                               \
	{                                                                      \
		struct blocks b = {dirA,                                       \
				   transA,                                     \
				   mb,                                         \
				   nb,                                         \
				   nnzb,                                       \
				   blockDim,                                   \
				   bsrSortedValA,                              \
				   bsrSortedRowPtrA,                           \
				   bsrSortedColIndA,                           \
				   number};                                    \
		cusparseStatus_t status =                                      \
		    check_blocks(handle, &b, descrA, __func__);                \
		int64_t rows = (int64_t)mb * blockDim,                         \
			cols = (int64_t)nb * blockDim;                         \
                                                                               \
		return status ? status                                         \
			      : multiply_blocks(                               \
				    handle, &b, descrA, alpha,                 \
				    columns_of(x, cols, 1, cols, number),      \
				    CUSPARSE_OPERATION_NON_TRANSPOSE, beta,    \
				    columns_of(y, rows, 1, rows, number));     \
	}                                                                      \
	cusparseStatus_t cusparse##X##bsrmm(                                   \
	    cusparseHandle_t handle, cusparseDirection_t dirA,                 \
	    cusparseOperation_t transA, cusparseOperation_t transB, int mb,    \
	    int n, int kb, int nnzb, const T *alpha,                           \
	    const cusparseMatDescr_t descrA, const T *bsrSortedValA,           \
	    const int *bsrSortedRowPtrA, const int *bsrSortedColIndA,          \
	    const int blockSize, const T *B, const int ldb, const T *beta,     \
	    T *C, int ldc)                                                     \
	{                                                                      \
		struct blocks b = {dirA,                                       \
				   transA,                                     \
				   mb,                                         \
				   kb,                                         \
				   nnzb,                                       \
				   blockSize,                                  \
				   bsrSortedValA,                              \
				   bsrSortedRowPtrA,                           \
				   bsrSortedColIndA,                           \
				   number};                                    \
		cusparseStatus_t status =                                      \
		    check_blocks(handle, &b, descrA, __func__);                \
		int64_t rows = (int64_t)mb * blockSize,                        \
			inner = (int64_t)kb * blockSize;                       \
		bool turned = transB != CUSPARSE_OPERATION_NON_TRANSPOSE;      \
                                                                               \
		if (status)                                                    \
			return status;                                         \
		if (n < 0 || !sparse_is_operation(transB) ||                   \
		    ldb < (turned ? n : inner) || ldc < rows)                  \
			return CUSPARSE_STATUS_INVALID_VALUE;                  \
		return multiply_blocks(                                        \
		    handle, &b, descrA, alpha,                                 \
		    columns_of(B, turned ? n : inner, turned ? inner : n, ldb, \
			       number),                                        \
		    transB, beta, columns_of(C, rows, n, ldc, number));        \
	}
FOUR_TYPES(BLOCKS)
