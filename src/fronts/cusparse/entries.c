/* SPDX-License-Identifier: Apache-2.0 */
/* entries.c - iterates over sparse matrices, and opens dense ones. */
#include "fronts/cusparse/entries.h"
#include "base/assert.h"

/* run->stopped() is called when these bits of the entry's index are 0. */
#define PATIENCE 0xffff

static bool is_blocks(const struct cusparseSpMatDescr *m)
{
	return m->format == CUSPARSE_FORMAT_BSR;
}

static int64_t block_size(const struct cusparseSpMatDescr *m)
{
	return is_blocks(m) ? m->block_rows * m->block_cols : 1;
}

int64_t sparse_rows(const struct cusparseSpMatDescr *m)
{
	return is_blocks(m) ? m->rows * m->block_rows : m->rows;
}

int64_t sparse_cols(const struct cusparseSpMatDescr *m)
{
	return is_blocks(m) ? m->cols * m->block_cols : m->cols;
}

static int64_t count_lines(const struct cusparseSpMatDescr *m)
{
	return m->format == CUSPARSE_FORMAT_CSC ? m->cols : m->rows;
}

int64_t sparse_offset_count(const struct cusparseSpMatDescr *m)
{
	if (m->format == CUSPARSE_FORMAT_COO)
		return m->nnz;
	return count_lines(m) ? count_lines(m) + 1 : 0;
}

/* Returns the number of stored values, or -1 on overflow. */
static int64_t count_values(const struct cusparseSpMatDescr *m)
{
	int64_t n;

	return __builtin_mul_overflow(m->nnz, m->block_rows, &n) ||
		       __builtin_mul_overflow(n, m->block_cols, &n)
		   ? -1
		   : n;
}

static bool end_early(struct entries *e, CUresult why)
{
	e->error = why;
	return false;
}

/* Sets the range of the current line's entries from its offsets. */
static bool begin_line(struct entries *e)
{
	const struct cusparseSpMatDescr *m = e->matrix;

	e->k = index_load(m->offsets_type, e->offsets, e->line) - m->base;
	e->end = index_load(m->offsets_type, e->offsets, e->line + 1) - m->base;
	e->within = 0;
	if (e->k < 0 || e->end < e->k || e->end > m->nnz)
		return end_early(e, CUDA_ERROR_ILLEGAL_ADDRESS);
	return true;
}

static bool begin_walk(struct entries *e)
{
	e->line = 0;
	e->k = 0;
	e->end = e->matrix->nnz;
	e->within = 0;
	if (e->matrix->format == CUSPARSE_FORMAT_COO || !count_lines(e->matrix))
		return true;
	return begin_line(e);
}

bool entries_open(struct entries *e, struct gpukit_run *run,
		  enum gpukit_access access,
		  const struct cusparseSpMatDescr *matrix, int batch,
		  bool structure_only)
{
	size_t offset = index_size(matrix->offsets_type),
	       index = index_size(matrix->indices_type),
	       value = value_size(matrix->type);
	int64_t b = matrix->batch_count > 1 ? batch : 0;

	*e = (struct entries){.run = run,
			      .matrix = matrix,
			      .structure_only = structure_only,
			      .error = CUDA_ERROR_ILLEGAL_ADDRESS};
	e->offsets =
	    sparse_array(run, GPUKIT_READS,
			 (char *)matrix->offsets +
			     b * matrix->offsets_stride * (int64_t)offset,
			 sparse_offset_count(matrix), offset);
	e->indices =
	    sparse_array(run, GPUKIT_READS,
			 (char *)matrix->indices +
			     b * matrix->indices_stride * (int64_t)index,
			 matrix->nnz, index);
	if (!structure_only)
		e->values = sparse_array(
		    run, access,
		    (char *)matrix->values +
			b * matrix->values_stride * (int64_t)value,
		    is_blocks(matrix) ? count_values(matrix) : matrix->nnz,
		    value);
	if (!e->offsets || !e->indices || (!structure_only && !e->values))
		return false;
	e->error = CUDA_SUCCESS;
	return begin_walk(e);
}

bool entries_seek(struct entries *e, int64_t line)
{
	GK_ASSERT(e->matrix->format != CUSPARSE_FORMAT_COO);
	GK_ASSERT(line >= 0 && line < count_lines(e->matrix));
	e->line = line;
	return begin_line(e);
}

/*
 * Advances past finished and empty lines to the next entry; false at the end.
 */
static bool find_line(struct entries *e)
{
	while (e->k == e->end) {
		if (e->line + 1 >= count_lines(e->matrix))
			return false;
		e->line++;
		if (!begin_line(e))
			return false;
	}
	return true;
}

static bool next_block_entry(struct entries *e, int64_t block_col,
			     struct entry *ret)
{
	const struct cusparseSpMatDescr *m = e->matrix;
	bool by_row = m->block_order == CUSPARSE_ORDER_ROW;
	int64_t line = by_row ? m->block_cols : m->block_rows;
	int64_t outer = e->within / line, inner = e->within % line;

	ret->row = e->line * m->block_rows + (by_row ? outer : inner);
	ret->col = block_col * m->block_cols + (by_row ? inner : outer);
	ret->at = e->k * block_size(m) + e->within;
	if (++e->within == block_size(m)) {
		e->within = 0;
		e->k++;
	}
	return true;
}

bool entries_next(struct entries *e, struct entry *ret_entry)
{
	const struct cusparseSpMatDescr *m = e->matrix;
	bool by_col = m->format == CUSPARSE_FORMAT_CSC;
	int64_t line, index;

	if (m->format == CUSPARSE_FORMAT_COO ? e->k == e->end : !find_line(e))
		return false;
	if (!(e->k & PATIENCE) && e->run->stopped())
		return end_early(e, CUDA_ERROR_LAUNCH_FAILED);
	line = m->format == CUSPARSE_FORMAT_COO
		   ? index_load(m->offsets_type, e->offsets, e->k) - m->base
		   : e->line;
	index = index_load(m->indices_type, e->indices, e->k) - m->base;
	if (line < 0 || line >= count_lines(m) || index < 0 ||
	    index >= (by_col ? m->rows : m->cols))
		return end_early(e, CUDA_ERROR_ILLEGAL_ADDRESS);
	if (is_blocks(m))
		return next_block_entry(e, index, ret_entry);
	ret_entry->row = by_col ? index : line;
	ret_entry->col = by_col ? line : index;
	ret_entry->at = e->k++;
	return true;
}

/*
 * Returns the number of elements from the first to the last, including gaps, or
 * -1 on overflow.
 */
static int64_t count_dense(int64_t lines, int64_t length, int64_t ld)
{
	int64_t count;

	if (!lines || !length)
		return 0;
	return __builtin_mul_overflow(lines - 1, ld, &count) ||
		       __builtin_add_overflow(count, length, &count)
		   ? -1
		   : count;
}

bool dense_open(struct dense *d, struct gpukit_run *run,
		enum gpukit_access access,
		const struct cusparseDnMatDescr *matrix, cusparseOperation_t op,
		int batch)
{
	bool by_col = matrix->order == CUSPARSE_ORDER_COL;
	bool transposed = op != CUSPARSE_OPERATION_NON_TRANSPOSE;
	int64_t lines = by_col ? matrix->cols : matrix->rows,
		length = by_col ? matrix->rows : matrix->cols,
		count = count_dense(lines, length, matrix->ld),
		skip =
		    matrix->batch_count > 1 ? batch * matrix->batch_stride : 0;
	size_t size = value_size(matrix->type);

	d->type = matrix->type;
	d->conjugate = op == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE &&
		       value_is_complex(matrix->type);
	d->row_step = by_col != transposed ? 1 : matrix->ld;
	d->col_step = by_col != transposed ? matrix->ld : 1;
	d->values = sparse_array(run, access,
				 (char *)matrix->values + skip * (int64_t)size,
				 count, size);
	return d->values != NULL;
}

struct cusparseDnMatDescr dense_column(const struct cusparseDnVecDescr *v)
{
	return (struct cusparseDnMatDescr){.rows = v->size,
					   .cols = 1,
					   .ld = v->size,
					   .values = v->values,
					   .type = v->type,
					   .order = CUSPARSE_ORDER_COL,
					   .batch_count = 1};
}
