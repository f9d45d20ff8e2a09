/* SPDX-License-Identifier: Apache-2.0 */
/*
 * entries.h - helps kernels' bodies to iterate over the entries of a sparse
 * matrix of any format, and to access the elements of a dense one.
 */
#ifndef GKF_CUSPARSE_ENTRIES_H
#define GKF_CUSPARSE_ENTRIES_H

#include "fronts/cusparse/sparse.h"

struct entries {
	struct gpukit_run *run;
	const struct cusparseSpMatDescr *matrix;
	const char *offsets, *indices;
	char *values;
	bool structure_only;
	/*
	 * The position: k is the index of the entry or, in BSR, of the block;
	 * `within` is the index of the value in the block.
	 */
	int64_t line, k, end, within;
	CUresult error; /* why the iteration ended early */
};

/* An entry: its row and column, counted from 0, and the index of its value. */
struct entry {
	int64_t row, col, at;
};

/*
 * Starts at the first entry of one matrix of a batch. If structure_only is set,
 * the matrix need not have values. Returns false if its memory is not
 * accessible.
 */
bool entries_open(struct entries *e, struct gpukit_run *run,
		  enum gpukit_access access,
		  const struct cusparseSpMatDescr *matrix, int batch,
		  bool structure_only);
/* Returns the next entry, in memory order; false at the end or on error. */
bool entries_next(struct entries *e, struct entry *ret_entry);
/* Moves to the first entry of a line, such as a row of CSR; false on error. */
bool entries_seek(struct entries *e, int64_t line);

/* Returns the value of an entry. */
static inline struct value entry_value(const struct entries *e,
				       const struct entry *at)
{
	return value_load(e->matrix->type, e->values, at->at);
}

/* The matrix op(M), where M is dense. */
struct dense {
	cudaDataType type;
	char *values;
	int64_t row_step, col_step;
	bool conjugate;
};

bool dense_open(struct dense *d, struct gpukit_run *run,
		enum gpukit_access access,
		const struct cusparseDnMatDescr *matrix, cusparseOperation_t op,
		int batch);

static inline struct value dense_load(const struct dense *d, int64_t row,
				      int64_t col)
{
	struct value v = value_load(d->type, d->values,
				    row * d->row_step + col * d->col_step);

	return d->conjugate ? value_conjugate(v) : v;
}

/* Stores to M itself; call it only if dense_open() was given no operation. */
static inline void dense_store(const struct dense *d, int64_t row, int64_t col,
			       struct value v)
{
	value_store(d->type, d->values, row * d->row_step + col * d->col_step,
		    v);
}

/* Return the rows and columns of a matrix, in elements even for BSR. */
int64_t sparse_rows(const struct cusparseSpMatDescr *m);
int64_t sparse_cols(const struct cusparseSpMatDescr *m);
/* Returns the length of a matrix's offsets array. */
int64_t sparse_offset_count(const struct cusparseSpMatDescr *m);

/* Returns a vector as a matrix of one column. */
struct cusparseDnMatDescr dense_column(const struct cusparseDnVecDescr *v);

#endif
