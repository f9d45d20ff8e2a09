/* SPDX-License-Identifier: Apache-2.0 */
/* densify.c - implements SparseToDense and DenseToSparse. */
#include "fronts/cusparse/entries.h"
#include "fronts/cusparse/params.h"
#include "fronts/cusparse/types.h"

#include <stdlib.h>

CUresult run_densify(struct gpukit_run *run)
{
	const struct densify *p = run->params;
	const struct value zero = {0, 0};
	struct entries e;
	struct entry at;
	struct dense d;

	if (!entries_open(&e, run, GPUKIT_READS, &p->sparse, 0, false) ||
	    !dense_open(&d, run, GPUKIT_WRITES, &p->dense,
			CUSPARSE_OPERATION_NON_TRANSPOSE, 0))
		return CUDA_ERROR_ILLEGAL_ADDRESS;
	for (int64_t i = 0; i < p->dense.rows; i++)
		for (int64_t j = 0; j < p->dense.cols; j++)
			dense_store(&d, i, j, zero);
	while (entries_next(&e, &at))
		dense_store(&d, at.row, at.col, entry_value(&e, &at));
	return e.error;
}

/*
 * A dense matrix divided into lines like a sparse one: into columns for CSC,
 * else into rows.
 */
struct lines {
	struct dense dense;
	int64_t count, length;
	bool by_col;
};

static bool lines_open(struct lines *l, struct gpukit_run *run,
		       const struct densify *p)
{
	l->by_col = p->sparse.format == CUSPARSE_FORMAT_CSC;
	l->count = l->by_col ? p->dense.cols : p->dense.rows;
	l->length = l->by_col ? p->dense.rows : p->dense.cols;
	return dense_open(&l->dense, run, GPUKIT_READS, &p->dense,
			  CUSPARSE_OPERATION_NON_TRANSPOSE, 0);
}

static struct value element_at(const struct lines *l, int64_t line, int64_t at)
{
	return l->by_col ? dense_load(&l->dense, at, line)
			 : dense_load(&l->dense, line, at);
}

static int64_t count_line(const struct lines *l, int64_t line)
{
	int64_t n = 0;

	for (int64_t i = 0; i < l->length; i++)
		n += !value_is_zero(element_at(l, line, i));
	return n;
}

/* Counts the entries and writes the offsets of the lines. */
CUresult run_sparsify_count(struct gpukit_run *run)
{
	const struct densify *p = run->params;
	const struct cusparseSpMatDescr *m = &p->sparse;
	bool has_offsets = m->format != CUSPARSE_FORMAT_COO;
	void *offsets = NULL;
	int64_t nnz = 0;
	struct lines l;

	if (has_offsets)
		offsets = sparse_array(run, GPUKIT_WRITES, m->offsets,
				       sparse_offset_count(m),
				       index_size(m->offsets_type));
	if ((has_offsets && !offsets) || !lines_open(&l, run, p))
		return CUDA_ERROR_ILLEGAL_ADDRESS;
	for (int64_t i = 0; i < l.count; i++) {
		if (has_offsets)
			index_store(m->offsets_type, offsets, i, nnz + m->base);
		nnz += count_line(&l, i);
	}
	if (has_offsets && l.count)
		index_store(m->offsets_type, offsets, l.count, nnz + m->base);
	*p->ret_nnz = nnz;
	return CUDA_SUCCESS;
}

/* The arrays of the sparse matrix that is written. */
struct arrays {
	void *offsets, *indices, *values;
	int64_t used;
};

static bool arrays_open(struct arrays *a, struct gpukit_run *run,
			const struct cusparseSpMatDescr *m)
{
	a->offsets =
	    sparse_array(run, GPUKIT_WRITES, m->offsets, sparse_offset_count(m),
			 index_size(m->offsets_type));
	a->indices = sparse_array(run, GPUKIT_WRITES, m->indices, m->nnz,
				  index_size(m->indices_type));
	a->values = sparse_array(run, GPUKIT_WRITES, m->values, m->nnz,
				 value_size(m->type));
	a->used = 0;
	return a->offsets && a->indices && a->values;
}

static CUresult write_line(struct arrays *a, const struct lines *l,
			   const struct cusparseSpMatDescr *m, int64_t line)
{
	bool is_coo = m->format == CUSPARSE_FORMAT_COO;

	for (int64_t i = 0; i < l->length; i++) {
		struct value v = element_at(l, line, i);

		if (value_is_zero(v))
			continue;
		/*
		 * If the dense matrix has changed since the analysis, there may
		 * be more entries.
		 */
		if (a->used == m->nnz)
			return CUDA_ERROR_ILLEGAL_ADDRESS;
		if (is_coo)
			index_store(m->offsets_type, a->offsets, a->used,
				    line + m->base);
		index_store(m->indices_type, a->indices, a->used, i + m->base);
		value_store(m->type, a->values, a->used++, v);
	}
	if (!is_coo)
		index_store(m->offsets_type, a->offsets, line + 1,
			    a->used + m->base);
	return CUDA_SUCCESS;
}

CUresult run_sparsify(struct gpukit_run *run)
{
	const struct densify *p = run->params;
	const struct cusparseSpMatDescr *m = &p->sparse;
	struct arrays a;
	struct lines l;
	CUresult r = CUDA_SUCCESS;

	if (!arrays_open(&a, run, m) || !lines_open(&l, run, p))
		return CUDA_ERROR_ILLEGAL_ADDRESS;
	if (m->format != CUSPARSE_FORMAT_COO && l.count)
		index_store(m->offsets_type, a.offsets, 0, m->base);
	for (int64_t i = 0; !r && i < l.count; i++)
		r = run->stopped() ? CUDA_ERROR_LAUNCH_FAILED
				   : write_line(&a, &l, m, i);
	return r;
}

static cusparseStatus_t check_densify(cusparseHandle_t handle,
				      cusparseConstSpMatDescr_t sparse,
				      cusparseConstDnMatDescr_t dense,
				      unsigned alg, const char *symbol)
{
	if (!is_handle(handle))
		return CUSPARSE_STATUS_NOT_INITIALIZED;
	if (!sparse || !dense || alg)
		return CUSPARSE_STATUS_INVALID_VALUE;
	if (sparse->format == CUSPARSE_FORMAT_BSR || sparse->batch_count > 1 ||
	    dense->batch_count > 1)
		return sparse_refuse(symbol);
	if (sparse->rows != dense->rows || sparse->cols != dense->cols ||
	    sparse->type != dense->type)
		return CUSPARSE_STATUS_INVALID_VALUE;
	return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseSparseToDense_bufferSize(
    cusparseHandle_t handle, cusparseConstSpMatDescr_t matA,
    cusparseDnMatDescr_t matB, cusparseSparseToDenseAlg_t alg,
    size_t *bufferSize)
{
	return sparse_size_after(
	    check_densify(handle, matA, matB, alg, __func__), WORKSPACE,
	    bufferSize);
}

cusparseStatus_t cusparseSparseToDense(cusparseHandle_t handle,
				       cusparseConstSpMatDescr_t matA,
				       cusparseDnMatDescr_t matB,
				       cusparseSparseToDenseAlg_t alg,
				       void *externalBuffer)
{
	cusparseStatus_t status =
	    check_densify(handle, matA, matB, alg, __func__);
	struct densify p;

	(void)externalBuffer;
	if (status)
		return status;
	p = (struct densify){*matA, *matB, NULL};
	return sparse_launch(handle, KERNEL_sparse_to_dense, &p);
}

cusparseStatus_t cusparseDenseToSparse_bufferSize(
    cusparseHandle_t handle, cusparseConstDnMatDescr_t matA,
    cusparseSpMatDescr_t matB, cusparseDenseToSparseAlg_t alg,
    size_t *bufferSize)
{
	return sparse_size_after(
	    check_densify(handle, matB, matA, alg, __func__), WORKSPACE,
	    bufferSize);
}

/* Waits for the number of entries, which the caller reads next. */
cusparseStatus_t cusparseDenseToSparse_analysis(cusparseHandle_t handle,
						cusparseConstDnMatDescr_t matA,
						cusparseSpMatDescr_t matB,
						cusparseDenseToSparseAlg_t alg,
						void *externalBuffer)
{
	cusparseStatus_t status =
	    check_densify(handle, matB, matA, alg, __func__);
	struct densify p;

	(void)externalBuffer;
	if (status)
		return status;
	p = (struct densify){*matB, *matA, &matB->nnz};
	status = sparse_launch(handle, KERNEL_dense_to_sparse_count, &p);
	return status ? status : sparse_wait(handle);
}

cusparseStatus_t cusparseDenseToSparse_convert(cusparseHandle_t handle,
					       cusparseConstDnMatDescr_t matA,
					       cusparseSpMatDescr_t matB,
					       cusparseDenseToSparseAlg_t alg,
					       void *externalBuffer)
{
	cusparseStatus_t status =
	    check_densify(handle, matB, matA, alg, __func__);
	struct densify p;

	(void)externalBuffer;
	if (status)
		return status;
	p = (struct densify){*matB, *matA, NULL};
	return sparse_launch(handle, KERNEL_dense_to_sparse, &p);
}
