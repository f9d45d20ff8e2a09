/*
 * multiply.c - SpMV, SpMM: a sparse matrix times a dense vector or matrix. A
 * vector is a matrix of one column.
 */
#include "fronts/cusparse/entries.h"
#include "fronts/cusparse/params.h"
#include "fronts/cusparse/types.h"

#include <stdlib.h>

/* Columns of C that one walk through A serves: what fits into a cache. */
#define PANEL 32

/* What the columns [first, first + width) of C sum up to, row by row. */
static CUresult sum_panel(struct entries *e, const struct multiply *p,
			  const struct dense *b, int64_t first, int64_t width,
			  struct value *sums)
{
	bool transposed = p->op_a != CUSPARSE_OPERATION_NON_TRANSPOSE;
	bool conjugate = p->op_a == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE;
	struct entry at;

	while (entries_next(e, &at)) {
		int64_t row = transposed ? at.col : at.row;
		int64_t col = transposed ? at.row : at.col;
		struct value v = entry_value(e, &at);

		if (conjugate)
			v = value_conjugate(v);
		for (int64_t j = 0; j < width; j++) {
			struct value *s = &sums[row * width + j];

			*s = value_add(
			    *s,
			    value_multiply(v, dense_load(b, col, first + j)));
		}
	}
	e->run->operations += 2 * (uint64_t)p->a.nnz * (uint64_t)width;
	return e->error;
}

static CUresult multiply_panel(struct gpukit_run *run, const struct multiply *p,
			       int batch, int64_t first, int64_t width,
			       const struct value scale[2])
{
	struct dense b, c;
	struct entries e;
	CUresult r = CUDA_ERROR_ILLEGAL_ADDRESS;
	struct value *sums =
	    calloc((size_t)(p->c.rows * width + 1), sizeof *sums);

	if (!sums)
		return CUDA_ERROR_OUT_OF_MEMORY;
	if (entries_open(&e, run, &p->a, batch, false) &&
	    dense_open(&b, run, &p->b, p->op_b, batch) &&
	    dense_open(&c, run, &p->c, CUSPARSE_OPERATION_NON_TRANSPOSE, batch))
		r = sum_panel(&e, p, &b, first, width, sums);
	for (int64_t i = 0; !r && i < p->c.rows; i++)
		for (int64_t j = 0; j < width; j++) {
			int64_t at = i * c.row_step + (first + j) * c.col_step;

			value_store(c.type, c.values, at,
				    value_blend(scale[0], sums[i * width + j],
						scale[1], c.type, c.values,
						at));
		}
	free(sums);
	return r;
}

CUresult run_multiply(struct gpukit_run *run)
{
	const struct multiply *p = run->params;
	struct value scale[2];
	CUresult r = CUDA_SUCCESS;

	if (!scalar_read(run, &p->alpha, &scale[0]) ||
	    !scalar_read(run, &p->beta, &scale[1]))
		return CUDA_ERROR_ILLEGAL_ADDRESS;
	for (int b = 0; b < p->c.batch_count; b++)
		for (int64_t j = 0; !r && j < p->c.cols; j += PANEL)
			r = multiply_panel(run, p, b, j,
					   p->c.cols - j < PANEL ? p->c.cols - j
								 : PANEL,
					   scale);
	return r;
}

/* Is every operand there once, or once a batch of C? */
static bool match_batches(const struct multiply *p)
{
	int n = p->c.batch_count;

	return (p->a.batch_count == 1 || p->a.batch_count == n) &&
	       (p->b.batch_count == 1 || p->b.batch_count == n);
}

static bool match_shapes(const struct multiply *p)
{
	bool a = p->op_a != CUSPARSE_OPERATION_NON_TRANSPOSE;
	bool b = p->op_b != CUSPARSE_OPERATION_NON_TRANSPOSE;
	int64_t rows = matrix_rows(&p->a), cols = matrix_cols(&p->a);

	return (a ? cols : rows) == p->c.rows &&
	       (a ? rows : cols) == (b ? p->b.cols : p->b.rows) &&
	       (b ? p->b.rows : p->b.cols) == p->c.cols;
}

static cusparseStatus_t check_multiply(const struct multiply *p,
				       cudaDataType compute, const char *symbol)
{
	if (!is_operation(p->op_a) || !is_operation(p->op_b) ||
	    !match_shapes(p) || !match_batches(p))
		return CUSPARSE_STATUS_INVALID_VALUE;
	if (!types_multiply(p->a.type, p->b.type, p->c.type, compute))
		return sparse_refuse(symbol);
	return CUSPARSE_STATUS_SUCCESS;
}

/* kernel SPARSE_KERNELS: checks alone. */
static cusparseStatus_t multiply(cusparseHandle_t handle, struct multiply *p,
				 const void *alpha, const void *beta,
				 cudaDataType compute,
				 enum sparse_kernel kernel, const char *symbol)
{
	cusparseStatus_t status = check_multiply(p, compute, symbol);

	if (status || kernel == SPARSE_KERNELS)
		return status;
	p->alpha = scalar_of(handle, alpha, compute);
	p->beta = scalar_of(handle, beta, compute);
	return sparse_launch(handle, kernel, p);
}

static cusparseStatus_t multiply_vector(
    cusparseHandle_t handle, cusparseOperation_t opA, const void *alpha,
    cusparseConstSpMatDescr_t matA, cusparseConstDnVecDescr_t vecX,
    const void *beta, cusparseConstDnVecDescr_t vecY, cudaDataType computeType,
    cusparseSpMVAlg_t alg, enum sparse_kernel kernel, const char *symbol)
{
	struct multiply p;

	if (!handle)
		return CUSPARSE_STATUS_NOT_INITIALIZED;
	if (!alpha || !matA || !vecX || !beta || !vecY ||
	    (unsigned)alg > CUSPARSE_SPMV_BSR_ALG1)
		return CUSPARSE_STATUS_INVALID_VALUE;
	p = (struct multiply){.a = *matA,
			      .b = column_of(vecX),
			      .c = column_of(vecY),
			      .op_a = opA,
			      .op_b = CUSPARSE_OPERATION_NON_TRANSPOSE};
	return multiply(handle, &p, alpha, beta, computeType, kernel, symbol);
}

static cusparseStatus_t
multiply_matrix(cusparseHandle_t handle, cusparseOperation_t opA,
		cusparseOperation_t opB, const void *alpha,
		cusparseConstSpMatDescr_t matA, cusparseConstDnMatDescr_t matB,
		const void *beta, cusparseConstDnMatDescr_t matC,
		cudaDataType computeType, cusparseSpMMAlg_t alg,
		enum sparse_kernel kernel, const char *symbol)
{
	struct multiply p;

	if (!handle)
		return CUSPARSE_STATUS_NOT_INITIALIZED;
	if (!alpha || !matA || !matB || !beta || !matC ||
	    (unsigned)alg > CUSPARSE_SPMM_BSR_ALG1)
		return CUSPARSE_STATUS_INVALID_VALUE;
	p = (struct multiply){
	    .a = *matA, .b = *matB, .c = *matC, .op_a = opA, .op_b = opB};
	return multiply(handle, &p, alpha, beta, computeType, kernel, symbol);
}

cusparseStatus_t cusparseSpMV(cusparseHandle_t handle, cusparseOperation_t opA,
			      const void *alpha, cusparseConstSpMatDescr_t matA,
			      cusparseConstDnVecDescr_t vecX, const void *beta,
			      cusparseDnVecDescr_t vecY,
			      cudaDataType computeType, cusparseSpMVAlg_t alg,
			      void *externalBuffer)
{
	(void)externalBuffer;
	return multiply_vector(handle, opA, alpha, matA, vecX, beta, vecY,
			       computeType, alg, KERNEL_spmv, __func__);
}

cusparseStatus_t
cusparseSpMV_preprocess(cusparseHandle_t handle, cusparseOperation_t opA,
			const void *alpha, cusparseConstSpMatDescr_t matA,
			cusparseConstDnVecDescr_t vecX, const void *beta,
			cusparseDnVecDescr_t vecY, cudaDataType computeType,
			cusparseSpMVAlg_t alg, void *externalBuffer)
{
	(void)externalBuffer;
	return multiply_vector(handle, opA, alpha, matA, vecX, beta, vecY,
			       computeType, alg, SPARSE_KERNELS, __func__);
}

cusparseStatus_t
cusparseSpMV_bufferSize(cusparseHandle_t handle, cusparseOperation_t opA,
			const void *alpha, cusparseConstSpMatDescr_t matA,
			cusparseConstDnVecDescr_t vecX, const void *beta,
			cusparseDnVecDescr_t vecY, cudaDataType computeType,
			cusparseSpMVAlg_t alg, size_t *bufferSize)
{
	return size_after(multiply_vector(handle, opA, alpha, matA, vecX, beta,
					  vecY, computeType, alg,
					  SPARSE_KERNELS, __func__),
			  WORKSPACE, bufferSize);
}

cusparseStatus_t cusparseSpMM(cusparseHandle_t handle, cusparseOperation_t opA,
			      cusparseOperation_t opB, const void *alpha,
			      cusparseConstSpMatDescr_t matA,
			      cusparseConstDnMatDescr_t matB, const void *beta,
			      cusparseDnMatDescr_t matC,
			      cudaDataType computeType, cusparseSpMMAlg_t alg,
			      void *externalBuffer)
{
	(void)externalBuffer;
	return multiply_matrix(handle, opA, opB, alpha, matA, matB, beta, matC,
			       computeType, alg, KERNEL_spmm, __func__);
}

cusparseStatus_t cusparseSpMM_preprocess(
    cusparseHandle_t handle, cusparseOperation_t opA, cusparseOperation_t opB,
    const void *alpha, cusparseConstSpMatDescr_t matA,
    cusparseConstDnMatDescr_t matB, const void *beta, cusparseDnMatDescr_t matC,
    cudaDataType computeType, cusparseSpMMAlg_t alg, void *externalBuffer)
{
	(void)externalBuffer;
	return multiply_matrix(handle, opA, opB, alpha, matA, matB, beta, matC,
			       computeType, alg, SPARSE_KERNELS, __func__);
}

cusparseStatus_t cusparseSpMM_bufferSize(
    cusparseHandle_t handle, cusparseOperation_t opA, cusparseOperation_t opB,
    const void *alpha, cusparseConstSpMatDescr_t matA,
    cusparseConstDnMatDescr_t matB, const void *beta, cusparseDnMatDescr_t matC,
    cudaDataType computeType, cusparseSpMMAlg_t alg, size_t *bufferSize)
{
	return size_after(multiply_matrix(handle, opA, opB, alpha, matA, matB,
					  beta, matC, computeType, alg,
					  SPARSE_KERNELS, __func__),
			  WORKSPACE, bufferSize);
}
