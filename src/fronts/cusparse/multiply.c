/* SPDX-License-Identifier: Apache-2.0 */
/*
 * multiply.c - SpMV and SpMM: multiplies a sparse matrix by a dense vector or
 * matrix. A vector is treated as a matrix of one column.
 */
#include "fronts/cusparse/entries.h"
#include "fronts/cusparse/params.h"
#include "fronts/cusparse/types.h"

#include <stdlib.h>

/*
 * The number of columns of C computed per pass over A, so that they fit a
 * cache.
 */
#define PANEL 32

/*
 * Some columns of op(B) and C, row-major, as doubles: one per element, or two
 * for complex types. This lets the innermost loop run over plain doubles.
 */
struct panel {
	int64_t first, width;
	bool is_complex;
	double *b, *sums;
};

static size_t panel_parts(const struct panel *w)
{
	return (size_t)w->width * (w->is_complex ? 2 : 1);
}

static void panel_close(struct panel *w)
{
	free(w->b);
	free(w->sums);
}

static bool panel_open(struct panel *w, const struct dense *b, int64_t inner,
		       int64_t rows)
{
	size_t parts = panel_parts(w), at = 0;

	w->b = malloc(((size_t)inner * parts + 1) * sizeof *w->b);
	w->sums = calloc((size_t)rows * parts + 1, sizeof *w->sums);
	for (int64_t i = 0; w->b && i < inner; i++)
		for (int64_t j = 0; j < w->width; j++) {
			struct value v = dense_load(b, i, w->first + j);

			w->b[at++] = v.re;
			if (w->is_complex)
				w->b[at++] = v.im;
		}
	return w->b && w->sums;
}

/* Adds v times row `from` of B to row `to` of the sums. */
static void add_row(const struct panel *w, int64_t to, int64_t from,
		    struct value v)
{
	size_t parts = panel_parts(w);
	double *sum = w->sums + (size_t)to * parts;
	const double *b = w->b + (size_t)from * parts;

	if (!w->is_complex) {
		for (size_t j = 0; j < parts; j++)
			sum[j] += v.re * b[j];
		return;
	}
	for (size_t j = 0; j < parts; j += 2) {
		sum[j] += v.re * b[j] - v.im * b[j + 1];
		sum[j + 1] += v.re * b[j + 1] + v.im * b[j];
	}
}

static CUresult sum_entries(struct entries *e, const struct multiply *p,
			    const struct panel *w)
{
	bool transposed = p->op_a != CUSPARSE_OPERATION_NON_TRANSPOSE;
	bool conjugate = p->op_a == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE;
	struct entry at;

	while (entries_next(e, &at)) {
		struct value v = entry_value(e, &at);

		if (conjugate)
			v = value_conjugate(v);
		add_row(w, transposed ? at.col : at.row,
			transposed ? at.row : at.col, v);
	}
	e->run->operations += 2 * (uint64_t)p->a.nnz * panel_parts(w);
	return e->error;
}

static void store_panel(const struct panel *w, const struct dense *c,
			int64_t rows, const struct value scale[2])
{
	const double *sum = w->sums;

	for (int64_t i = 0; i < rows; i++)
		for (int64_t j = 0; j < w->width; j++) {
			int64_t at =
			    i * c->row_step + (w->first + j) * c->col_step;
			struct value v = {*sum++, 0};

			if (w->is_complex)
				v.im = *sum++;
			value_store(c->type, c->values, at,
				    value_blend(scale[0], v, scale[1], c->type,
						c->values, at));
		}
}

static CUresult multiply_panel(struct gpukit_run *run, const struct multiply *p,
			       int batch, int64_t first, int64_t width,
			       const struct value scale[2])
{
	bool turned = p->op_b != CUSPARSE_OPERATION_NON_TRANSPOSE;
	struct panel w = {first, width, value_is_complex(p->c.type), NULL,
			  NULL};
	struct dense b, c;
	struct entries e;
	CUresult r = CUDA_ERROR_OUT_OF_MEMORY;

	if (!entries_open(&e, run, GPUKIT_READS, &p->a, batch, false) ||
	    !dense_open(&b, run, GPUKIT_READS, &p->b, p->op_b, batch) ||
	    !dense_open(&c, run, GPUKIT_WRITES, &p->c,
			CUSPARSE_OPERATION_NON_TRANSPOSE, batch))
		return CUDA_ERROR_ILLEGAL_ADDRESS;
	if (panel_open(&w, &b, turned ? p->b.cols : p->b.rows, p->c.rows))
		r = sum_entries(&e, p, &w);
	if (!r)
		store_panel(&w, &c, p->c.rows, scale);
	panel_close(&w);
	return r;
}

CUresult run_multiply(struct gpukit_run *run)
{
	const struct multiply *p = run->params;
	struct value scale[2];
	CUresult r = CUDA_SUCCESS;

	if (!sparse_read_scalar(run, &p->alpha, &scale[0]) ||
	    !sparse_read_scalar(run, &p->beta, &scale[1]))
		return CUDA_ERROR_ILLEGAL_ADDRESS;
	for (int b = 0; b < p->c.batch_count; b++)
		for (int64_t j = 0; !r && j < p->c.cols; j += PANEL)
			r = multiply_panel(run, p, b, j,
					   p->c.cols - j < PANEL ? p->c.cols - j
								 : PANEL,
					   scale);
	return r;
}

/* Whether A and B each have one matrix, or as many matrices as C. */
static bool match_batches(const struct multiply *p)
{
	int n = p->c.batch_count;

	return (p->a.batch_count == 1 || p->a.batch_count == n) &&
	       (p->b.batch_count == 1 || p->b.batch_count == n);
}

static bool match_product_shapes(const struct multiply *p)
{
	bool a = p->op_a != CUSPARSE_OPERATION_NON_TRANSPOSE;
	bool b = p->op_b != CUSPARSE_OPERATION_NON_TRANSPOSE;
	int64_t rows = sparse_rows(&p->a), cols = sparse_cols(&p->a);

	return (a ? cols : rows) == p->c.rows &&
	       (a ? rows : cols) == (b ? p->b.cols : p->b.rows) &&
	       (b ? p->b.rows : p->b.cols) == p->c.cols;
}

static cusparseStatus_t check_multiply(const struct multiply *p,
				       cudaDataType compute, const char *symbol)
{
	if (!sparse_is_operation(p->op_a) || !sparse_is_operation(p->op_b) ||
	    !match_product_shapes(p) || !match_batches(p))
		return CUSPARSE_STATUS_INVALID_VALUE;
	if (!types_multiply(p->a.type, p->b.type, p->c.type, compute))
		return sparse_refuse(symbol);
	return CUSPARSE_STATUS_SUCCESS;
}

/*
 * Checks a product and launches it; if `kernel` is SPARSE_KERNELS, only checks
 * it.
 */
static cusparseStatus_t launch_multiply(cusparseHandle_t handle,
					struct multiply *p, const void *alpha,
					const void *beta, cudaDataType compute,
					enum sparse_kernel kernel,
					const char *symbol)
{
	cusparseStatus_t status = check_multiply(p, compute, symbol);

	if (status || kernel == SPARSE_KERNELS)
		return status;
	p->alpha = sparse_take_scalar(handle, alpha, compute);
	p->beta = sparse_take_scalar(handle, beta, compute);
	return sparse_launch(handle, kernel, p);
}

static cusparseStatus_t multiply_vector(
    cusparseHandle_t handle, cusparseOperation_t opA, const void *alpha,
    cusparseConstSpMatDescr_t matA, cusparseConstDnVecDescr_t vecX,
    const void *beta, cusparseConstDnVecDescr_t vecY, cudaDataType computeType,
    cusparseSpMVAlg_t alg, enum sparse_kernel kernel, const char *symbol)
{
	struct multiply p;

	if (!is_handle(handle))
		return CUSPARSE_STATUS_NOT_INITIALIZED;
	if (!alpha || !matA || !vecX || !beta || !vecY ||
	    (unsigned)alg > CUSPARSE_SPMV_BSR_ALG1)
		return CUSPARSE_STATUS_INVALID_VALUE;
	p = (struct multiply){.a = *matA,
			      .b = dense_column(vecX),
			      .c = dense_column(vecY),
			      .op_a = opA,
			      .op_b = CUSPARSE_OPERATION_NON_TRANSPOSE};
	return launch_multiply(handle, &p, alpha, beta, computeType, kernel,
			       symbol);
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

	if (!is_handle(handle))
		return CUSPARSE_STATUS_NOT_INITIALIZED;
	if (!alpha || !matA || !matB || !beta || !matC ||
	    (unsigned)alg > CUSPARSE_SPMM_BSR_ALG1)
		return CUSPARSE_STATUS_INVALID_VALUE;
	p = (struct multiply){
	    .a = *matA, .b = *matB, .c = *matC, .op_a = opA, .op_b = opB};
	return launch_multiply(handle, &p, alpha, beta, computeType, kernel,
			       symbol);
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
	return sparse_size_after(multiply_vector(handle, opA, alpha, matA, vecX,
						 beta, vecY, computeType, alg,
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
	return sparse_size_after(multiply_matrix(handle, opA, opB, alpha, matA,
						 matB, beta, matC, computeType,
						 alg, SPARSE_KERNELS, __func__),
				 WORKSPACE, bufferSize);
}
