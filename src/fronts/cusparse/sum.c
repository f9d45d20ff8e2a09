/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sum.c - csrgeam2: computes the sum of two sparse matrices with sorted rows.
 */
#include "fronts/cusparse/entries.h"
#include "fronts/cusparse/legacy.h"
#include "fronts/cusparse/params.h"
#include "fronts/cusparse/types.h"

/* A row of A and the same row of B, iterated over side by side. */
struct pair {
	struct entries e[2];
	struct entry at[2];
	bool there[2];
};

static bool pair_step(struct pair *p, int side)
{
	struct entries *e = &p->e[side];

	p->there[side] = e->k < e->end;
	return !p->there[side] || entries_next(e, &p->at[side]);
}

static bool pair_seek(struct pair *p, int64_t row)
{
	return entries_seek(&p->e[0], row) && entries_seek(&p->e[1], row) &&
	       pair_step(p, 0) && pair_step(p, 1);
}

/*
 * Returns the next column, or -1 at the end of the row, and sets ret_has[] to
 * whether A and B have an entry there. Then call pair_pass() to advance those
 * that do.
 */
static int64_t pair_column(const struct pair *p, bool ret_has[2])
{
	int64_t col = -1;

	for (int i = 0; i < 2; i++)
		if (p->there[i] && (col < 0 || p->at[i].col < col))
			col = p->at[i].col;
	for (int i = 0; i < 2; i++)
		ret_has[i] = p->there[i] && p->at[i].col == col;
	return col;
}

static bool pair_pass(struct pair *p, const bool has[2])
{
	return (!has[0] || pair_step(p, 0)) && (!has[1] || pair_step(p, 1));
}

static CUresult pair_error(const struct pair *p)
{
	return p->e[0].error ? p->e[0].error : p->e[1].error;
}

static CUresult count_row(struct pair *p, int64_t row, int64_t *nnz)
{
	bool has[2];

	if (!pair_seek(p, row))
		return pair_error(p);
	while (pair_column(p, has) >= 0) {
		++*nnz;
		if (!pair_pass(p, has))
			return pair_error(p);
	}
	return CUDA_SUCCESS;
}

/* Writes C's offsets and counts its entries. */
CUresult run_sum_count(struct gpukit_run *run)
{
	const struct sum *p = run->params;
	const struct cusparseSpMatDescr *c = &p->c;
	int64_t nnz = 0;
	int *total = p->nnz_on_host ? p->ret_nnz
				    : sparse_array(run, GPUKIT_WRITES,
						   p->ret_nnz, 1, sizeof(int));
	void *offsets =
	    sparse_array(run, GPUKIT_WRITES, c->offsets, sparse_offset_count(c),
			 index_size(c->offsets_type));
	struct pair pair;
	CUresult r = CUDA_SUCCESS;

	if (!total || !offsets ||
	    !entries_open(&pair.e[0], run, GPUKIT_READS, &p->a, 0, true) ||
	    !entries_open(&pair.e[1], run, GPUKIT_READS, &p->b, 0, true))
		return CUDA_ERROR_ILLEGAL_ADDRESS;
	for (int64_t i = 0; !r && i < c->rows; i++) {
		index_store(c->offsets_type, offsets, i, nnz + c->base);
		r = count_row(&pair, i, &nnz);
	}
	if (!r && c->rows)
		index_store(c->offsets_type, offsets, c->rows, nnz + c->base);
	if (!r)
		*total = (int)nnz;
	return r;
}

struct target {
	int64_t at, end;
	void *columns;
	char *values;
};

static CUresult add_row(struct pair *p, int64_t row, const struct value by[2],
			const struct cusparseSpMatDescr *c, struct target *t)
{
	int64_t col;
	bool has[2];

	if (!pair_seek(p, row))
		return pair_error(p);
	while ((col = pair_column(p, has)) >= 0) {
		struct value sum = {0, 0};

		for (int i = 0; i < 2; i++)
			if (has[i])
				sum = value_add(
				    sum, value_multiply(
					     by[i],
					     entry_value(&p->e[i], &p->at[i])));
		if (t->at == t->end)
			return CUDA_ERROR_ILLEGAL_ADDRESS;
		index_store(c->indices_type, t->columns, t->at, col + c->base);
		value_store(c->type, t->values, t->at++, sum);
		if (!pair_pass(p, has))
			return pair_error(p);
	}
	return CUDA_SUCCESS;
}

/* Computes C, whose offsets were written by run_sum_count(). */
CUresult run_sum(struct gpukit_run *run)
{
	const struct sum *p = run->params;
	struct cusparseSpMatDescr c = p->c;
	const void *offsets =
	    sparse_array(run, GPUKIT_READS, c.offsets, sparse_offset_count(&c),
			 index_size(c.offsets_type));
	struct value by[2];
	struct target t = {0};
	struct pair pair;
	CUresult r = CUDA_SUCCESS;

	if (!offsets || !sparse_read_scalar(run, &p->alpha, &by[0]) ||
	    !sparse_read_scalar(run, &p->beta, &by[1]) ||
	    !entries_open(&pair.e[0], run, GPUKIT_READS, &p->a, 0, false) ||
	    !entries_open(&pair.e[1], run, GPUKIT_READS, &p->b, 0, false))
		return CUDA_ERROR_ILLEGAL_ADDRESS;
	if (c.rows)
		t.end = index_load(c.offsets_type, offsets, c.rows) - c.base;
	t.columns =
	    sparse_array(run, GPUKIT_WRITES, c.indices, t.end, sizeof(int));
	t.values = sparse_array(run, GPUKIT_WRITES, c.values, t.end,
				value_size(c.type));
	if (!t.columns || !t.values)
		return CUDA_ERROR_ILLEGAL_ADDRESS;
	for (int64_t i = 0; !r && i < c.rows; i++)
		r = add_row(&pair, i, by, &c, &t);
	run->operations += 2 * (uint64_t)t.at;
	return r;
}

static cusparseStatus_t check_sum(cusparseHandle_t handle, int m, int n,
				  const struct cusparseMatDescr *a, int nnz_a,
				  const struct cusparseMatDescr *b, int nnz_b,
				  const struct cusparseMatDescr *c)
{
	cusparseStatus_t status = check_general(handle, a);

	if (!status)
		status = check_general(handle, b);
	if (!status)
		status = check_general(handle, c);
	if (!status && (m < 0 || n < 0 || nnz_a < 0 || nnz_b < 0))
		status = CUSPARSE_STATUS_INVALID_VALUE;
	return status;
}

/* If the count is in host memory, waits for it. */
cusparseStatus_t cusparseXcsrgeam2Nnz(
    cusparseHandle_t handle, int m, int n, const cusparseMatDescr_t descrA,
    int nnzA, const int *csrSortedRowPtrA, const int *csrSortedColIndA,
    const cusparseMatDescr_t descrB, int nnzB, const int *csrSortedRowPtrB,
    const int *csrSortedColIndB, const cusparseMatDescr_t descrC,
    int *csrSortedRowPtrC, int *nnzTotalDevHostPtr, void *workspace)
{
	cusparseStatus_t status =
	    check_sum(handle, m, n, descrA, nnzA, descrB, nnzB, descrC);
	struct sum p;

	(void)workspace;
	if (status)
		return status;
	if (!nnzTotalDevHostPtr || !csrSortedRowPtrC)
		return CUSPARSE_STATUS_INVALID_VALUE;
	p = (struct sum){.a = csr_of(descrA, m, n, nnzA, NULL, csrSortedRowPtrA,
				     csrSortedColIndA, CUDA_R_32F),
			 .b = csr_of(descrB, m, n, nnzB, NULL, csrSortedRowPtrB,
				     csrSortedColIndB, CUDA_R_32F),
			 .c = csr_of(descrC, m, n, 0, NULL, csrSortedRowPtrC,
				     NULL, CUDA_R_32F),
			 .ret_nnz = nnzTotalDevHostPtr,
			 .nnz_on_host =
			     handle->mode == CUSPARSE_POINTER_MODE_HOST};
	status = sparse_launch(handle, KERNEL_csrgeam_count, &p);
	return !status && p.nnz_on_host ? sparse_wait(handle) : status;
}

#define SUM(X, T, number)                                                      \
	cusparseStatus_t cusparse##X##csrgeam2_bufferSizeExt(                  \
	    cusparseHandle_t handle, int m, int n, const T *alpha,             \
	    const cusparseMatDescr_t descrA, int nnzA, const T *valuesA,       \
	    const int *offsetsA, const int *columnsA, const T *beta,           \
	    const cusparseMatDescr_t descrB, int nnzB, const T *valuesB,       \
	    const int *offsetsB, const int *columnsB,                          \
	    const cusparseMatDescr_t descrC, const T *valuesC,                 \
	    const int *offsetsC, const int *columnsC,                          \
	    size_t *pBufferSizeInBytes)                                        \
	{                                                                      \
		(void)alpha, (void)valuesA, (void)offsetsA, (void)columnsA;    \
		(void)beta, (void)valuesB, (void)offsetsB, (void)columnsB;     \
		(void)valuesC, (void)offsetsC, (void)columnsC;                 \
		return sparse_size_after(check_sum(handle, m, n, descrA, nnzA, \
						   descrB, nnzB, descrC),      \
					 WORKSPACE, pBufferSizeInBytes);       \
	}                                                                      \
	cusparseStatus_t cusparse##X##csrgeam2(                                \
	    cusparseHandle_t handle, int m, int n, const T *alpha,             \
	    const cusparseMatDescr_t descrA, int nnzA, const T *valuesA,       \
	    const int *offsetsA, const int *columnsA, const T *beta,           \
	    const cusparseMatDescr_t descrB, int nnzB, const T *valuesB,       \
	    const int *offsetsB, const int *columnsB,                          \
	    const cusparseMatDescr_t descrC, T *valuesC, int *offsetsC,        \
	    int *columnsC, void *pBuffer)                                      \
	{                                                                      \
		cusparseStatus_t status = check_sum(                           \
		    handle, m, n, descrA, nnzA, descrB, nnzB, descrC);         \
		struct sum p;                                                  \
                                                                               \
		(void)pBuffer;                                                 \
		if (status)                                                    \
			return status;                                         \
		if (!alpha || !beta)                                           \
			return CUSPARSE_STATUS_INVALID_VALUE;                  \
		p = (struct sum){                                              \
		    .a = csr_of(descrA, m, n, nnzA, valuesA, offsetsA,         \
				columnsA, number),                             \
		    .b = csr_of(descrB, m, n, nnzB, valuesB, offsetsB,         \
				columnsB, number),                             \
		    .c = csr_of(descrC, m, n, 0, valuesC, offsetsC, columnsC,  \
				number),                                       \
		    .alpha = sparse_take_scalar(handle, alpha, number),        \
		    .beta = sparse_take_scalar(handle, beta, number)};         \
		return sparse_launch(handle, KERNEL_csrgeam, &p);              \
	}
FOUR_TYPES(SUM)
