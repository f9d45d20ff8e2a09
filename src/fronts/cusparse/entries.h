/*
 * entries.h - in a kernel: walks through the entries of a sparse matrix of any
 * format, and reaches the elements of a dense one.
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
	/* Where the walk is; in BSR within = the place in the block k. */
	int64_t line, k, end, within;
	CUresult error; /* why the walk ended early */
};

/* An entry: its row and column from 0, and where its value is. */
struct entry {
	int64_t row, col, at;
};

/*
 * The matrix of a batch; with `structure_only` its values may be missing.
 * false: its memory cannot be reached.
 */
bool entries_open(struct entries *e, struct gpukit_run *run,
		  enum gpukit_access access,
		  const struct cusparseSpMatDescr *matrix, int batch,
		  bool structure_only);
/* The next entry, in the order of the memory. false: the end, or an error. */
bool entries_next(struct entries *e, struct entry *ret_entry);
/* Walks again, through one line (a row of CSR) alone. false: an error. */
bool entries_seek(struct entries *e, int64_t line);

/* The value of an entry. */
static inline struct value entry_value(const struct entries *e,
				       const struct entry *at)
{
	return value_load(e->matrix->type, e->values, at->at);
}

/* op(M) of a dense matrix. */
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

/* To M itself: after dense_open() with no operation. */
static inline void dense_store(const struct dense *d, int64_t row, int64_t col,
			       struct value v)
{
	value_store(d->type, d->values, row * d->row_step + col * d->col_step,
		    v);
}

/* Rows and columns of a matrix in elements, also in BSR. */
int64_t matrix_rows(const struct cusparseSpMatDescr *m);
int64_t matrix_cols(const struct cusparseSpMatDescr *m);
/* How many offsets it has. */
int64_t matrix_offsets(const struct cusparseSpMatDescr *m);

/* A vector as a matrix of one column. */
struct cusparseDnMatDescr column_of(const struct cusparseDnVecDescr *v);

#endif
