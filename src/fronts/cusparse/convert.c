/* SPDX-License-Identifier: Apache-2.0 */
/* convert.c - converts CSR to CSC; compresses, expands and sorts indices. */
#include "fronts/cusparse/params.h"
#include "fronts/cusparse/types.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Whether CSR offsets are ascending and within [0, nnz]. */
static bool check_offsets(const int *offsets, int rows, int base, int nnz)
{
	if (!rows)
		return true;
	for (int i = 0; i < rows; i++)
		if (offsets[i] > offsets[i + 1])
			return false;
	return offsets[0] >= base && offsets[rows] - base <= nnz;
}

struct transposing {
	const int *offsets, *indices;
	const char *values;
	int *to_offsets, *to_indices;
	char *to_values;
};

static bool open_arrays(struct transposing *t, struct gpukit_run *run,
			const struct transpose *p)
{
	size_t size = p->to_values ? value_size(p->type) : 0;
	int offsets = p->rows ? p->rows + 1 : 0;

	t->offsets =
	    sparse_array(run, GPUKIT_READS, p->offsets, offsets, sizeof(int));
	t->indices =
	    sparse_array(run, GPUKIT_READS, p->indices, p->nnz, sizeof(int));
	t->values = sparse_array(run, GPUKIT_READS, p->values, p->nnz, size);
	t->to_offsets = sparse_array(run, GPUKIT_WRITES, p->to_offsets,
				     (int64_t)p->cols + 1, sizeof(int));
	t->to_indices = sparse_array(run, GPUKIT_WRITES, p->to_indices, p->nnz,
				     sizeof(int));
	t->to_values =
	    sparse_array(run, GPUKIT_WRITES, p->to_values, p->nnz, size);
	return t->offsets && t->indices && t->values && t->to_offsets &&
	       t->to_indices && t->to_values &&
	       check_offsets(t->offsets, p->rows, p->base, p->nnz);
}

/*
 * Stores the number of entries of each column in to_offsets[col + 1]. A running
 * sum then turns these numbers into offsets.
 */
static bool count_columns(struct transposing *t, const struct transpose *p)
{
	memset(t->to_offsets, 0, ((size_t)p->cols + 1) * sizeof(int));
	for (int k = 0; k < p->nnz; k++) {
		int col = t->indices[k] - (int)p->base;

		if (col < 0 || col >= p->cols)
			return false;
		t->to_offsets[col + 1]++;
	}
	for (int i = 0; i < p->cols; i++)
		t->to_offsets[i + 1] += t->to_offsets[i];
	return true;
}

CUresult run_transpose(struct gpukit_run *run)
{
	const struct transpose *p = run->params;
	size_t size = p->to_values ? value_size(p->type) : 0;
	struct transposing t;
	int *next;

	if (!open_arrays(&t, run, p) || !count_columns(&t, p))
		return CUDA_ERROR_ILLEGAL_ADDRESS;
	next = malloc(((size_t)p->cols + 1) * sizeof *next);
	if (!next)
		return CUDA_ERROR_OUT_OF_MEMORY;
	memcpy(next, t.to_offsets, (size_t)p->cols * sizeof *next);
	for (int i = 0; i < p->rows; i++)
		for (int k = t.offsets[i] - (int)p->base;
		     k < t.offsets[i + 1] - (int)p->base; k++) {
			int to = next[t.indices[k] - p->base]++;

			t.to_indices[to] = i + p->base;
			memcpy(t.to_values + (size_t)to * size,
			       t.values + (size_t)k * size, size);
		}
	for (int i = 0; i <= p->cols; i++)
		t.to_offsets[i] += p->base;
	free(next);
	return CUDA_SUCCESS;
}

/* Turns the sorted row indices of the entries into offsets of rows. */
CUresult run_compress(struct gpukit_run *run)
{
	const struct indices *p = run->params;
	const int *from =
	    sparse_array(run, GPUKIT_READS, p->from, p->count, sizeof *from);
	int *to = sparse_array(run, GPUKIT_WRITES, p->to, (int64_t)p->rows + 1,
			       sizeof *to);
	int k = 0;

	if (!from || !to)
		return CUDA_ERROR_ILLEGAL_ADDRESS;
	for (int i = 0; i <= p->rows; i++) {
		while (k < p->count && from[k] - (int)p->base < i)
			k++;
		to[i] = k + p->base;
	}
	return CUDA_SUCCESS;
}

/* Turns offsets of rows into the entries' row indices. */
CUresult run_expand(struct gpukit_run *run)
{
	const struct indices *p = run->params;
	const int *from =
	    sparse_array(run, GPUKIT_READS, p->from,
			 p->rows ? (int64_t)p->rows + 1 : 0, sizeof *from);
	int *to = sparse_array(run, GPUKIT_WRITES, p->to, p->count, sizeof *to);

	if (!from || !to || !check_offsets(from, p->rows, p->base, p->count))
		return CUDA_ERROR_ILLEGAL_ADDRESS;
	for (int i = 0; i < p->rows; i++)
		for (int k = from[i]; k < from[i + 1]; k++)
			to[k - p->base] = i + p->base;
	return CUDA_SUCCESS;
}

CUresult run_identity(struct gpukit_run *run)
{
	const struct indices *p = run->params;
	int *to = sparse_array(run, GPUKIT_WRITES, p->to, p->count, sizeof *to);

	if (!to)
		return CUDA_ERROR_ILLEGAL_ADDRESS;
	for (int i = 0; i < p->count; i++)
		to[i] = i;
	return CUDA_SUCCESS;
}

/* An entry to sort. `place` is its old index, which makes the sort stable. */
struct key {
	int major, minor, place;
};

static int compare_keys(const void *left, const void *right)
{
	const struct key *a = left, *b = right;

	if (a->major != b->major)
		return a->major < b->major ? -1 : 1;
	if (a->minor != b->minor)
		return a->minor < b->minor ? -1 : 1;
	return (a->place > b->place) - (a->place < b->place);
}

/*
 * Sorts n entries by `major`, then by `minor`, and reorders `permutation`
 * accordingly. If `major` is NULL, sorts by `minor` alone. `permutation` may be
 * NULL.
 */
static CUresult sort_entries(int *major, int *minor, int *permutation, int n)
{
	struct key *keys = malloc(((size_t)n + 1) * sizeof *keys);
	int *old = malloc(((size_t)n + 1) * sizeof *old);
	CUresult r = keys && old ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;

	for (int i = 0; !r && i < n; i++) {
		keys[i] = (struct key){major ? major[i] : 0, minor[i], i};
		old[i] = permutation ? permutation[i] : 0;
	}
	if (!r)
		qsort(keys, (size_t)n, sizeof *keys, compare_keys);
	for (int i = 0; !r && i < n; i++) {
		if (major)
			major[i] = keys[i].major;
		minor[i] = keys[i].minor;
		if (permutation)
			permutation[i] = old[keys[i].place];
	}
	free(keys);
	free(old);
	return r;
}

static bool open_permutation(struct gpukit_run *run, const struct indices *p,
			     int **ret)
{
	*ret = NULL;
	if (p->permutation)
		*ret = sparse_array(run, GPUKIT_WRITES, p->permutation,
				    p->count, sizeof **ret);
	return *ret || !p->permutation;
}

CUresult run_coosort(struct gpukit_run *run)
{
	const struct indices *p = run->params;
	int *rows =
	    sparse_array(run, GPUKIT_WRITES, p->to, p->count, sizeof *rows);
	int *cols =
	    sparse_array(run, GPUKIT_WRITES, p->second, p->count, sizeof *cols);
	int *permutation;

	if (!rows || !cols || !open_permutation(run, p, &permutation))
		return CUDA_ERROR_ILLEGAL_ADDRESS;
	return p->by_column ? sort_entries(cols, rows, permutation, p->count)
			    : sort_entries(rows, cols, permutation, p->count);
}

CUresult run_csrsort(struct gpukit_run *run)
{
	const struct indices *p = run->params;
	const int *offsets =
	    sparse_array(run, GPUKIT_READS, p->from,
			 p->rows ? (int64_t)p->rows + 1 : 0, sizeof *offsets);
	int *cols =
	    sparse_array(run, GPUKIT_WRITES, p->to, p->count, sizeof *cols);
	int *permutation;
	CUresult r = CUDA_SUCCESS;

	if (!offsets || !cols || !open_permutation(run, p, &permutation) ||
	    !check_offsets(offsets, p->rows, p->base, p->count))
		return CUDA_ERROR_ILLEGAL_ADDRESS;
	for (int i = 0; !r && i < p->rows; i++) {
		int at = offsets[i] - (int)p->base;

		r = sort_entries(NULL, cols + at,
				 permutation ? permutation + at : NULL,
				 offsets[i + 1] - offsets[i]);
	}
	return r;
}

static bool is_base(cusparseIndexBase_t base)
{
	return (unsigned)base <= CUSPARSE_INDEX_BASE_ONE;
}

static cusparseStatus_t check_transpose(
    cusparseHandle_t handle, int m, int n, int nnz, const void *csrVal,
    const void *csrRowPtr, const void *csrColInd, void *cscVal, void *cscColPtr,
    void *cscRowInd, cudaDataType valType, cusparseAction_t copyValues,
    cusparseIndexBase_t idxBase, cusparseCsr2CscAlg_t alg)
{
	if (!is_handle(handle))
		return CUSPARSE_STATUS_NOT_INITIALIZED;
	if (m < 0 || n < 0 || n == INT_MAX || nnz < 0 ||
	    (unsigned)copyValues > CUSPARSE_ACTION_NUMERIC ||
	    !is_base(idxBase) || alg != CUSPARSE_CSR2CSC_ALG_DEFAULT ||
	    !value_size(valType))
		return CUSPARSE_STATUS_INVALID_VALUE;
	if ((m && !csrRowPtr) || !cscColPtr ||
	    (nnz && (!csrColInd || !cscRowInd)) ||
	    (nnz && copyValues && (!csrVal || !cscVal)))
		return CUSPARSE_STATUS_INVALID_VALUE;
	return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseCsr2cscEx2(
    cusparseHandle_t handle, int m, int n, int nnz, const void *csrVal,
    const int *csrRowPtr, const int *csrColInd, void *cscVal, int *cscColPtr,
    int *cscRowInd, cudaDataType valType, cusparseAction_t copyValues,
    cusparseIndexBase_t idxBase, cusparseCsr2CscAlg_t alg, void *buffer)
{
	bool numeric = copyValues == CUSPARSE_ACTION_NUMERIC;
	struct transpose p = {m,
			      n,
			      nnz,
			      numeric ? csrVal : NULL,
			      csrRowPtr,
			      csrColInd,
			      numeric ? cscVal : NULL,
			      cscColPtr,
			      cscRowInd,
			      valType,
			      idxBase};
	cusparseStatus_t status = check_transpose(
	    handle, m, n, nnz, csrVal, csrRowPtr, csrColInd, cscVal, cscColPtr,
	    cscRowInd, valType, copyValues, idxBase, alg);

	(void)buffer;
	return status ? status : sparse_launch(handle, KERNEL_csr2csc, &p);
}

cusparseStatus_t cusparseCsr2cscEx2_bufferSize(
    cusparseHandle_t handle, int m, int n, int nnz, const void *csrVal,
    const int *csrRowPtr, const int *csrColInd, void *cscVal, int *cscColPtr,
    int *cscRowInd, cudaDataType valType, cusparseAction_t copyValues,
    cusparseIndexBase_t idxBase, cusparseCsr2CscAlg_t alg, size_t *bufferSize)
{
	return sparse_size_after(check_transpose(handle, m, n, nnz, csrVal,
						 csrRowPtr, csrColInd, cscVal,
						 cscColPtr, cscRowInd, valType,
						 copyValues, idxBase, alg),
				 WORKSPACE, bufferSize);
}

static cusparseStatus_t launch_indices(cusparseHandle_t handle,
				       enum sparse_kernel kernel,
				       struct indices p)
{
	if (!is_handle(handle))
		return CUSPARSE_STATUS_NOT_INITIALIZED;
	if (p.rows < 0 || p.rows == INT_MAX || p.count < 0 || !is_base(p.base))
		return CUSPARSE_STATUS_INVALID_VALUE;
	return sparse_launch(handle, kernel, &p);
}

cusparseStatus_t cusparseXcoo2csr(cusparseHandle_t handle, const int *cooRowInd,
				  int nnz, int m, int *csrSortedRowPtr,
				  cusparseIndexBase_t idxBase)
{
	return launch_indices(handle, KERNEL_coo2csr,
			      (struct indices){.rows = m,
					       .count = nnz,
					       .from = cooRowInd,
					       .to = csrSortedRowPtr,
					       .base = idxBase});
}

cusparseStatus_t cusparseXcsr2coo(cusparseHandle_t handle,
				  const int *csrSortedRowPtr, int nnz, int m,
				  int *cooRowInd, cusparseIndexBase_t idxBase)
{
	return launch_indices(handle, KERNEL_csr2coo,
			      (struct indices){.rows = m,
					       .count = nnz,
					       .from = csrSortedRowPtr,
					       .to = cooRowInd,
					       .base = idxBase});
}

cusparseStatus_t cusparseCreateIdentityPermutation(cusparseHandle_t handle,
						   int n, int *p)
{
	return launch_indices(handle, KERNEL_identity,
			      (struct indices){.count = n, .to = p});
}

/* Column indices are only compared, so they need no check. */
#define COOSORT(Name, column)                                                  \
	cusparseStatus_t cusparseXcoosort##Name(                               \
	    cusparseHandle_t handle, int m, int n, int nnz, int *cooRowsA,     \
	    int *cooColsA, int *P, void *pBuffer)                              \
	{                                                                      \
		(void)pBuffer;                                                 \
		if (handle && (m < 0 || n < 0))                                \
			return CUSPARSE_STATUS_INVALID_VALUE;                  \
		return launch_indices(handle, KERNEL_coosort,                  \
				      (struct indices){.count = nnz,           \
						       .to = cooRowsA,         \
						       .second = cooColsA,     \
						       .permutation = P,       \
						       .by_column = column});  \
	}
COOSORT(ByRow, false)
COOSORT(ByColumn, true)

/*
 * The same code sorts the rows of CSR matrices and the columns of CSC matrices.
 */
#define LINE_SORT(Name, lines)                                                 \
	cusparseStatus_t cusparseX##Name##sort(                                \
	    cusparseHandle_t handle, int m, int n, int nnz,                    \
	    const cusparseMatDescr_t descrA, const int *offsets, int *indices, \
	    int *P, void *pBuffer)                                             \
	{                                                                      \
		(void)pBuffer;                                                 \
		if (handle && (m < 0 || n < 0 || !descrA))                     \
			return CUSPARSE_STATUS_INVALID_VALUE;                  \
		return launch_indices(                                         \
		    handle, KERNEL_csrsort,                                    \
		    (struct indices){.rows = (lines),                          \
				     .count = nnz,                             \
				     .from = offsets,                          \
				     .to = indices,                            \
				     .permutation = P,                         \
				     .base = handle ? descrA->base : 0});      \
	}
LINE_SORT(csr, m)
LINE_SORT(csc, n)

#define SORT_SIZE(Name)                                                        \
	cusparseStatus_t cusparseX##Name##sort_bufferSizeExt(                  \
	    cusparseHandle_t handle, int m, int n, int nnz, const int *first,  \
	    const int *second, size_t *pBufferSizeInBytes)                     \
	{                                                                      \
		(void)first, (void)second;                                     \
		if (!is_handle(handle))                                        \
			return CUSPARSE_STATUS_NOT_INITIALIZED;                \
		return sparse_size_after(m < 0 || n < 0 || nnz < 0             \
					     ? CUSPARSE_STATUS_INVALID_VALUE   \
					     : CUSPARSE_STATUS_SUCCESS,        \
					 WORKSPACE, pBufferSizeInBytes);       \
	}
SORT_SIZE(coo)
SORT_SIZE(csr)
SORT_SIZE(csc)
