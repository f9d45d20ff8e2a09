/* SPDX-License-Identifier: Apache-2.0 */
/*
 * product.c - runs the kernels of SpGEMM. All matrices are CSR. A row of C is
 * summed in a dense row, together with a list of the columns that are used.
 */
#include "fronts/cusparse/entries.h"
#include "fronts/cusparse/params.h"

#include <stdlib.h>

/* The row of C that is being computed. */
struct row {
	struct entries a, b;
	struct value *sums;
	int64_t *used, count; /* the columns that have a sum */
	/* per column: 1 + the last row that has a sum in it */
	int64_t *owner;
};

static void row_close(struct row *r)
{
	free(r->sums);
	free(r->used);
	free(r->owner);
}

static CUresult row_open(struct row *r, struct gpukit_run *run,
			 const struct product *p, bool structure_only)
{
	size_t n = (size_t)p->b.cols + 1;

	*r = (struct row){.sums = calloc(n, sizeof *r->sums),
			  .used = malloc(n * sizeof *r->used),
			  .owner = calloc(n, sizeof *r->owner)};
	if (!r->sums || !r->used || !r->owner)
		return CUDA_ERROR_OUT_OF_MEMORY;
	return entries_open(&r->a, run, GPUKIT_READS, &p->a, 0,
			    structure_only) &&
		       entries_open(&r->b, run, GPUKIT_READS, &p->b, 0,
				    structure_only)
		   ? CUDA_SUCCESS
		   : CUDA_ERROR_ILLEGAL_ADDRESS;
}

static void add_to_row(struct row *r, int64_t row, int64_t col, struct value v)
{
	if (r->owner[col] != row + 1) {
		r->owner[col] = row + 1;
		r->used[r->count++] = col;
		r->sums[col] = (struct value){0, 0};
	}
	r->sums[col] = value_add(r->sums[col], v);
}

/* Adds factor times row `line` of B to a row of C. */
static bool add_line(struct row *r, int64_t row, int64_t line,
		     struct value factor)
{
	struct entry at;

	if (!entries_seek(&r->b, line))
		return false;
	while (r->b.k < r->b.end) {
		struct value v = {0, 0};

		if (!entries_next(&r->b, &at))
			return false;
		if (!r->b.structure_only)
			v = value_multiply(factor, entry_value(&r->b, &at));
		r->b.run->operations += 2;
		add_to_row(r, row, at.col, v);
	}
	return true;
}

static int compare_columns(const void *left, const void *right)
{
	int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;

	return (a > b) - (a < b);
}

static CUresult make_row(struct row *r, int64_t row)
{
	struct entry at;

	r->count = 0;
	if (!entries_seek(&r->a, row))
		return r->a.error;
	while (r->a.k < r->a.end) {
		struct value v = {0, 0};

		if (!entries_next(&r->a, &at))
			return r->a.error;
		if (!r->a.structure_only)
			v = entry_value(&r->a, &at);
		if (!add_line(r, row, at.col, v))
			return r->b.error;
	}
	qsort(r->used, (size_t)r->count, sizeof *r->used, compare_columns);
	return CUDA_SUCCESS;
}

CUresult run_product_count(struct gpukit_run *run)
{
	const struct product *p = run->params;
	int64_t nnz = 0;
	struct row row;
	CUresult r = row_open(&row, run, p, true);

	for (int64_t i = 0; !r && i < p->a.rows; i++) {
		r = make_row(&row, i);
		nnz += row.count;
	}
	row_close(&row);
	if (!r)
		*p->ret_nnz = nnz;
	return r;
}

/* The memory of C's arrays. */
struct target {
	void *offsets, *indices;
};

static bool target_open(struct target *t, struct gpukit_run *run,
			const struct cusparseSpMatDescr *c)
{
	t->offsets =
	    sparse_array(run, GPUKIT_WRITES, c->offsets, sparse_offset_count(c),
			 index_size(c->offsets_type));
	t->indices = sparse_array(run, GPUKIT_WRITES, c->indices, c->nnz,
				  index_size(c->indices_type));
	return t->offsets && t->indices;
}

CUresult run_product_structure(struct gpukit_run *run)
{
	const struct product *p = run->params;
	const struct cusparseSpMatDescr *c = &p->c;
	int64_t at = 0;
	struct target t;
	struct row row;
	CUresult r = row_open(&row, run, p, true);

	if (!r && !target_open(&t, run, c))
		r = CUDA_ERROR_ILLEGAL_ADDRESS;
	for (int64_t i = 0; !r && i < c->rows; i++) {
		index_store(c->offsets_type, t.offsets, i, at + c->base);
		r = make_row(&row, i);
		/*
		 * If A or B has changed since the count, there may be more
		 * entries.
		 */
		if (!r && at + row.count > c->nnz)
			r = CUDA_ERROR_ILLEGAL_ADDRESS;
		for (int64_t k = 0; !r && k < row.count; k++)
			index_store(c->indices_type, t.indices, at++,
				    row.used[k] + c->base);
	}
	if (!r && c->rows)
		index_store(c->offsets_type, t.offsets, c->rows, at + c->base);
	row_close(&row);
	return r;
}

/* Stores a row's values into C, whose structure already exists. */
static CUresult store_row(struct row *row, struct entries *c, int64_t line,
			  const struct value scale[2])
{
	const struct cusparseSpMatDescr *m = c->matrix;
	struct entry at;

	if (!entries_seek(c, line))
		return c->error;
	while (c->k < c->end) {
		struct value sum = {0, 0};

		if (!entries_next(c, &at))
			return c->error;
		if (row->owner[at.col] == line + 1)
			sum = row->sums[at.col];
		value_store(m->type, c->values, at.at,
			    value_blend(scale[0], sum, scale[1], m->type,
					c->values, at.at));
	}
	return CUDA_SUCCESS;
}

CUresult run_product_values(struct gpukit_run *run)
{
	const struct product *p = run->params;
	struct value scale[2];
	struct entries c;
	struct row row;
	CUresult r = row_open(&row, run, p, false);

	if (!r && (!sparse_read_scalar(run, &p->alpha, &scale[0]) ||
		   !sparse_read_scalar(run, &p->beta, &scale[1]) ||
		   !entries_open(&c, run, GPUKIT_WRITES, &p->c, 0, false)))
		r = CUDA_ERROR_ILLEGAL_ADDRESS;
	for (int64_t i = 0; !r && i < p->c.rows; i++) {
		r = make_row(&row, i);
		if (!r)
			r = store_row(&row, &c, i, scale);
	}
	row_close(&row);
	return r;
}
