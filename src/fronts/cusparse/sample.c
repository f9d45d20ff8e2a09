/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample.c - SDDMM: computes a product of dense matrices at C's entries only.
 */
#include "fronts/cusparse/entries.h"
#include "fronts/cusparse/params.h"
#include "fronts/cusparse/types.h"

static int64_t inner_size(const struct sample *p)
{
	return p->op_a == CUSPARSE_OPERATION_NON_TRANSPOSE ? p->a.cols
							   : p->a.rows;
}

static struct value dot_row(const struct dense *a, int64_t row,
			    const struct dense *b, int64_t col, int64_t length)
{
	struct value sum = {0, 0};

	for (int64_t i = 0; i < length; i++)
		sum = value_add(sum, value_multiply(dense_load(a, row, i),
						    dense_load(b, i, col)));
	return sum;
}

static CUresult sample_batch(struct gpukit_run *run, const struct sample *p,
			     int batch, const struct value scale[2])
{
	int64_t length = inner_size(p);
	struct dense a, b;
	struct entries e;
	struct entry at;

	if (!dense_open(&a, run, GPUKIT_READS, &p->a, p->op_a, batch) ||
	    !dense_open(&b, run, GPUKIT_READS, &p->b, p->op_b, batch) ||
	    !entries_open(&e, run, GPUKIT_WRITES, &p->c, batch, false))
		return CUDA_ERROR_ILLEGAL_ADDRESS;
	while (entries_next(&e, &at)) {
		struct value sum = dot_row(&a, at.row, &b, at.col, length);

		value_store(p->c.type, e.values, at.at,
			    value_blend(scale[0], sum, scale[1], p->c.type,
					e.values, at.at));
		run->operations += 2 * (uint64_t)length;
	}
	return e.error;
}

CUresult run_sample(struct gpukit_run *run)
{
	const struct sample *p = run->params;
	struct value scale[2];
	CUresult r = CUDA_SUCCESS;

	if (!sparse_read_scalar(run, &p->alpha, &scale[0]) ||
	    !sparse_read_scalar(run, &p->beta, &scale[1]))
		return CUDA_ERROR_ILLEGAL_ADDRESS;
	for (int b = 0; !r && b < p->c.batch_count; b++)
		r = sample_batch(run, p, b, scale);
	return r;
}

static bool match_sample_shapes(const struct sample *p)
{
	bool a = p->op_a != CUSPARSE_OPERATION_NON_TRANSPOSE;
	bool b = p->op_b != CUSPARSE_OPERATION_NON_TRANSPOSE;
	int n = p->c.batch_count;

	return (a ? p->a.cols : p->a.rows) == sparse_rows(&p->c) &&
	       (b ? p->b.rows : p->b.cols) == sparse_cols(&p->c) &&
	       inner_size(p) == (b ? p->b.cols : p->b.rows) &&
	       (p->a.batch_count == 1 || p->a.batch_count == n) &&
	       (p->b.batch_count == 1 || p->b.batch_count == n);
}

/*
 * Checks a product and launches it; if `kernel` is SPARSE_KERNELS, only checks
 * it.
 */
static cusparseStatus_t
launch_sample(cusparseHandle_t handle, cusparseOperation_t opA,
	      cusparseOperation_t opB, const void *alpha,
	      cusparseConstDnMatDescr_t matA, cusparseConstDnMatDescr_t matB,
	      const void *beta, cusparseSpMatDescr_t matC, cudaDataType compute,
	      cusparseSDDMMAlg_t alg, enum sparse_kernel kernel,
	      const char *symbol)
{
	struct sample p;

	if (!is_handle(handle))
		return CUSPARSE_STATUS_NOT_INITIALIZED;
	if (!alpha || !matA || !matB || !beta || !matC ||
	    alg != CUSPARSE_SDDMM_ALG_DEFAULT || !sparse_is_operation(opA) ||
	    !sparse_is_operation(opB))
		return CUSPARSE_STATUS_INVALID_VALUE;
	p = (struct sample){
	    .a = *matA, .b = *matB, .c = *matC, .op_a = opA, .op_b = opB};
	if (!match_sample_shapes(&p))
		return CUSPARSE_STATUS_INVALID_VALUE;
	if ((matC->format != CUSPARSE_FORMAT_CSR &&
	     matC->format != CUSPARSE_FORMAT_BSR) ||
	    !types_multiply(matA->type, matB->type, matC->type, compute))
		return sparse_refuse(symbol);
	if (kernel == SPARSE_KERNELS)
		return CUSPARSE_STATUS_SUCCESS;
	p.alpha = sparse_take_scalar(handle, alpha, compute);
	p.beta = sparse_take_scalar(handle, beta, compute);
	return sparse_launch(handle, kernel, &p);
}

cusparseStatus_t cusparseSDDMM(cusparseHandle_t handle, cusparseOperation_t opA,
			       cusparseOperation_t opB, const void *alpha,
			       cusparseConstDnMatDescr_t matA,
			       cusparseConstDnMatDescr_t matB, const void *beta,
			       cusparseSpMatDescr_t matC,
			       cudaDataType computeType, cusparseSDDMMAlg_t alg,
			       void *externalBuffer)
{
	(void)externalBuffer;
	return launch_sample(handle, opA, opB, alpha, matA, matB, beta, matC,
			     computeType, alg, KERNEL_sddmm, __func__);
}

cusparseStatus_t cusparseSDDMM_preprocess(
    cusparseHandle_t handle, cusparseOperation_t opA, cusparseOperation_t opB,
    const void *alpha, cusparseConstDnMatDescr_t matA,
    cusparseConstDnMatDescr_t matB, const void *beta, cusparseSpMatDescr_t matC,
    cudaDataType computeType, cusparseSDDMMAlg_t alg, void *externalBuffer)
{
	(void)externalBuffer;
	return launch_sample(handle, opA, opB, alpha, matA, matB, beta, matC,
			     computeType, alg, SPARSE_KERNELS, __func__);
}

cusparseStatus_t cusparseSDDMM_bufferSize(
    cusparseHandle_t handle, cusparseOperation_t opA, cusparseOperation_t opB,
    const void *alpha, cusparseConstDnMatDescr_t matA,
    cusparseConstDnMatDescr_t matB, const void *beta, cusparseSpMatDescr_t matC,
    cudaDataType computeType, cusparseSDDMMAlg_t alg, size_t *bufferSize)
{
	return sparse_size_after(launch_sample(handle, opA, opB, alpha, matA,
					       matB, beta, matC, computeType,
					       alg, SPARSE_KERNELS, __func__),
				 WORKSPACE, bufferSize);
}
