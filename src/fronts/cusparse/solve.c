/* SPDX-License-Identifier: Apache-2.0 */
/*
 * solve.c - runs the kernels of SpSV and SpSM. They sort a triangle by rows,
 * then solve for each column of the right-hand side, row by row.
 */
#include "fronts/cusparse/entries.h"
#include "fronts/cusparse/params.h"

#include <stdlib.h>

/* The triangle of op(A), sorted by rows; its diagonal is stored separately. */
struct triangle {
	int64_t n;
	int64_t *begin; /* [row]: index of its first term; n + 1 elements */
	struct term {
		int64_t col;
		struct value v;
	} * terms;
	struct value *diagonal;
	bool lower;
};

/*
 * Returns where an entry of A is in op(A); false if it is outside the triangle.
 */
static bool take_entry(const struct solve *p, const struct entry *at,
		       int64_t *ret_row, int64_t *ret_col)
{
	bool transposed = p->op_a != CUSPARSE_OPERATION_NON_TRANSPOSE;

	*ret_row = transposed ? at->col : at->row;
	*ret_col = transposed ? at->row : at->col;
	return p->a.fill == CUSPARSE_FILL_MODE_LOWER ? at->row >= at->col
						     : at->row <= at->col;
}

/*
 * Stores the number of terms of each row in begin[row + 1]. A running sum then
 * turns these numbers into the indices at which the rows begin.
 */
static CUresult count_terms(struct triangle *t, struct entries *e,
			    const struct solve *p)
{
	int64_t row, col;
	struct entry at;

	while (entries_next(e, &at))
		if (take_entry(p, &at, &row, &col) && row != col)
			t->begin[row + 1]++;
	for (int64_t i = 0; i < t->n; i++)
		t->begin[i + 1] += t->begin[i];
	return e->error;
}

static CUresult place_terms(struct triangle *t, struct entries *e,
			    const struct solve *p, int64_t *next)
{
	int64_t row, col;
	struct entry at;

	__builtin_memcpy(next, t->begin, (size_t)t->n * sizeof *next);
	while (entries_next(e, &at)) {
		struct value v = entry_value(e, &at);

		if (!take_entry(p, &at, &row, &col))
			continue;
		if (p->op_a == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE)
			v = value_conjugate(v);
		if (row != col)
			t->terms[next[row]++] = (struct term){col, v};
		else if (p->a.diag == CUSPARSE_DIAG_TYPE_NON_UNIT)
			t->diagonal[row] = value_add(t->diagonal[row], v);
	}
	return e->error;
}

static void triangle_close(struct triangle *t)
{
	free(t->begin);
	free(t->terms);
	free(t->diagonal);
}

static CUresult triangle_open(struct triangle *t, struct gpukit_run *run,
			      const struct solve *p)
{
	size_t n = (size_t)p->a.rows, nnz = (size_t)p->a.nnz;
	bool transposed = p->op_a != CUSPARSE_OPERATION_NON_TRANSPOSE;
	bool unit = p->a.diag == CUSPARSE_DIAG_TYPE_UNIT;
	int64_t *next = malloc((n + 1) * sizeof *next);
	struct entries e;
	CUresult r = CUDA_ERROR_OUT_OF_MEMORY;

	*t = (struct triangle){
	    .n = p->a.rows,
	    .begin = calloc(n + 1, sizeof *t->begin),
	    .terms = malloc((nnz + 1) * sizeof *t->terms),
	    .diagonal = calloc(n + 1, sizeof *t->diagonal),
	    .lower = (p->a.fill == CUSPARSE_FILL_MODE_LOWER) != transposed};
	if (next && t->begin && t->terms && t->diagonal) {
		for (size_t i = 0; unit && i < n; i++)
			t->diagonal[i].re = 1;
		r = CUDA_ERROR_ILLEGAL_ADDRESS;
		if (entries_open(&e, run, GPUKIT_READS, &p->a, 0, false))
			r = count_terms(t, &e, p);
		if (!r && entries_open(&e, run, GPUKIT_READS, &p->a, 0, false))
			r = place_terms(t, &e, p, next);
	}
	free(next);
	return r;
}

/* x is a buffer for a column of the solution. */
static void solve_column(const struct triangle *t, const struct dense *b,
			 const struct dense *c, int64_t col, struct value alpha,
			 struct value *x)
{
	for (int64_t i = 0; i < t->n; i++) {
		int64_t row = t->lower ? i : t->n - 1 - i;
		struct value sum =
		    value_multiply(alpha, dense_load(b, row, col));

		for (int64_t k = t->begin[row]; k < t->begin[row + 1]; k++)
			sum = value_add(
			    sum, value_negate(value_multiply(
				     t->terms[k].v, x[t->terms[k].col])));
		x[row] = value_divide(sum, t->diagonal[row]);
	}
	for (int64_t i = 0; i < t->n; i++)
		dense_store(c, i, col, x[i]);
}

static CUresult solve_columns(struct gpukit_run *run, const struct solve *p,
			      const struct triangle *t, struct value alpha)
{
	struct value *x = calloc((size_t)t->n + 1, sizeof *x);
	struct dense b, c;
	CUresult r = x ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;

	if (!r && (!dense_open(&b, run, GPUKIT_READS, &p->b, p->op_b, 0) ||
		   !dense_open(&c, run, GPUKIT_WRITES, &p->c,
			       CUSPARSE_OPERATION_NON_TRANSPOSE, 0)))
		r = CUDA_ERROR_ILLEGAL_ADDRESS;
	for (int64_t j = 0; !r && j < p->c.cols; j++) {
		if (run->stopped())
			r = CUDA_ERROR_LAUNCH_FAILED;
		else
			solve_column(t, &b, &c, j, alpha, x);
		run->operations += 2 * (uint64_t)p->a.nnz;
	}
	free(x);
	return r;
}

CUresult run_solve(struct gpukit_run *run)
{
	const struct solve *p = run->params;
	struct triangle t;
	struct value alpha;
	CUresult r;

	if (!sparse_read_scalar(run, &p->alpha, &alpha))
		return CUDA_ERROR_ILLEGAL_ADDRESS;
	r = triangle_open(&t, run, p);
	if (!r)
		r = solve_columns(run, p, &t, alpha);
	triangle_close(&t);
	return r;
}

/*
 * Overwrites the diagonal in the kept values of A; the new values are in order
 * of rows.
 */
static CUresult keep_diagonal(struct gpukit_run *run,
			      const struct solve_copy *p, void *kept)
{
	const void *values = sparse_array(run, GPUKIT_READS, p->values,
					  p->a.rows, value_size(p->a.type));
	struct entries e;
	struct entry at;

	if (!values || !entries_open(&e, run, GPUKIT_READS, &p->a, 0, true))
		return CUDA_ERROR_ILLEGAL_ADDRESS;
	while (entries_next(&e, &at))
		if (at.row == at.col)
			value_store(p->a.type, kept, at.at,
				    value_load(p->a.type, values, at.row));
	return e.error;
}

CUresult run_solve_copy(struct gpukit_run *run)
{
	const struct solve_copy *p = run->params;
	size_t size = value_size(p->a.type);
	void *kept = sparse_array(run, GPUKIT_WRITES, p->kept, p->a.nnz, size);
	const void *values;

	if (!kept)
		return CUDA_ERROR_ILLEGAL_ADDRESS;
	if (p->diagonal)
		return keep_diagonal(run, p, kept);
	values = sparse_array(run, GPUKIT_READS, p->values, p->a.nnz, size);
	if (!values)
		return CUDA_ERROR_ILLEGAL_ADDRESS;
	__builtin_memcpy(kept, values, (size_t)p->a.nnz * size);
	return CUDA_SUCCESS;
}
