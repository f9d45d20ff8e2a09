/* SPDX-License-Identifier: Apache-2.0 */
/*
 * incomplete.c - runs the kernels of csrilu02 and csric02: incomplete LU and
 * Cholesky factorisations, whose factors have entries only where the matrix has
 * them. The matrix's rows must be sorted.
 */
#include "fronts/cusparse/entries.h"
#include "fronts/cusparse/params.h"

#include <stdlib.h>

/*
 * A CSR matrix, and for each row the index where it begins and the index of its
 * diagonal entry (-1: none).
 */
struct rows {
	const struct cusparseSpMatDescr *m;
	struct entries e;
	int64_t *begin, *diagonal;
	int64_t *place; /* per column: its entry in the current row, or -1 */
	int64_t pivot;  /* the row of the first zero pivot, or -1 */
};

static void rows_close(struct rows *r)
{
	free(r->begin);
	free(r->diagonal);
	free(r->place);
}

static CUresult find_rows(struct rows *r)
{
	struct entry at;

	for (int64_t i = 0; i < r->m->rows; i++) {
		r->diagonal[i] = r->place[i] = -1;
		if (!entries_seek(&r->e, i))
			return r->e.error;
		r->begin[i] = r->e.k;
		while (r->e.k < r->e.end) {
			if (!entries_next(&r->e, &at))
				return r->e.error;
			if (at.row == at.col)
				r->diagonal[i] = at.at;
		}
		r->begin[i + 1] = r->e.k;
		if (r->diagonal[i] < 0 && r->pivot < 0)
			r->pivot = i;
	}
	return CUDA_SUCCESS;
}

static CUresult rows_open(struct rows *r, struct gpukit_run *run,
			  const struct cusparseSpMatDescr *m)
{
	size_t n = (size_t)m->rows + 1;

	*r = (struct rows){.m = m,
			   .begin = calloc(n, sizeof *r->begin),
			   .diagonal = malloc(n * sizeof *r->diagonal),
			   .place = malloc(n * sizeof *r->place),
			   .pivot = -1};
	if (!r->begin || !r->diagonal || !r->place)
		return CUDA_ERROR_OUT_OF_MEMORY;
	if (!entries_open(&r->e, run, GPUKIT_WRITES, m, 0, false))
		return CUDA_ERROR_ILLEGAL_ADDRESS;
	return find_rows(r);
}

static int64_t column_of_entry(const struct rows *r, int64_t k)
{
	return index_load(r->m->indices_type, r->e.indices, k) - r->m->base;
}

static struct value load_entry(const struct rows *r, int64_t k)
{
	return value_load(r->m->type, r->e.values, k);
}

static void store_entry(const struct rows *r, int64_t k, struct value v)
{
	value_store(r->m->type, r->e.values, k, v);
}

static void note_pivot(struct rows *r, int64_t row)
{
	if (r->pivot < 0 || row < r->pivot)
		r->pivot = row;
}

static void set_places(struct rows *r, int64_t row, bool on)
{
	for (int64_t k = r->begin[row]; k < r->begin[row + 1]; k++)
		r->place[column_of_entry(r, k)] = on ? k : -1;
}

/* Subtracts factor times row k from the entries of the current row. */
static void subtract_row(struct rows *r, int64_t k, struct value factor)
{
	for (int64_t j = r->begin[k]; j < r->begin[k + 1]; j++) {
		int64_t col = column_of_entry(r, j), at = r->place[col];

		if (col > k && at >= 0)
			store_entry(r, at,
				    value_add(load_entry(r, at),
					      value_negate(value_multiply(
						  factor, load_entry(r, j)))));
	}
	r->e.run->operations += 2 * (uint64_t)(r->begin[k + 1] - r->begin[k]);
}

static void factor_row(struct rows *r, int64_t row)
{
	set_places(r, row, true);
	for (int64_t k = r->begin[row]; k < r->begin[row + 1]; k++) {
		int64_t col = column_of_entry(r, k);
		struct value factor;

		if (col >= row || r->diagonal[col] < 0)
			continue;
		factor = value_divide(load_entry(r, k),
				      load_entry(r, r->diagonal[col]));
		store_entry(r, k, factor);
		subtract_row(r, col, factor);
	}
	set_places(r, row, false);
	if (r->diagonal[row] >= 0 &&
	    value_is_zero(load_entry(r, r->diagonal[row])))
		note_pivot(r, row);
}

/* Returns the sum of L(row, k) conj(L(other, k)) over all k < other. */
static struct value dot_rows(struct rows *r, int64_t other)
{
	struct value sum = {0, 0};

	for (int64_t k = r->begin[other]; k < r->begin[other + 1]; k++) {
		int64_t col = column_of_entry(r, k), at = r->place[col];

		if (col < other && at >= 0)
			sum = value_add(
			    sum,
			    value_multiply(load_entry(r, at),
					   value_conjugate(load_entry(r, k))));
	}
	r->e.run->operations +=
	    2 * (uint64_t)(r->begin[other + 1] - r->begin[other]);
	return sum;
}

/*
 * Computes a row of the Cholesky factor. Entries above the diagonal stay
 * unchanged.
 */
static void root_row(struct rows *r, int64_t row)
{
	set_places(r, row, true);
	for (int64_t k = r->begin[row]; k < r->begin[row + 1]; k++) {
		int64_t col = column_of_entry(r, k);
		struct value v;

		if (col > row || r->diagonal[col] < 0)
			continue;
		v = value_add(load_entry(r, k), value_negate(dot_rows(r, col)));
		if (col < row)
			v = value_divide(v, load_entry(r, r->diagonal[col]));
		else if (v.re > 0)
			v = (struct value){__builtin_sqrt(v.re), 0};
		else
			note_pivot(r, row);
		store_entry(r, k, v);
	}
	set_places(r, row, false);
}

static CUresult factorise_rows(struct gpukit_run *run,
			       void (*work)(struct rows *r, int64_t row))
{
	const struct factor *p = run->params;
	struct rows rows;
	CUresult r = rows_open(&rows, run, &p->a);

	for (int64_t i = 0; !r && i < p->a.rows; i++) {
		if (run->stopped())
			r = CUDA_ERROR_LAUNCH_FAILED;
		else if (work)
			work(&rows, i);
	}
	if (!r)
		*p->ret_pivot =
		    rows.pivot < 0 ? -1 : (int)(rows.pivot + p->a.base);
	rows_close(&rows);
	return r;
}

CUresult run_factor_check(struct gpukit_run *run)
{
	return factorise_rows(run, NULL);
}

CUresult run_ilu0(struct gpukit_run *run)
{
	return factorise_rows(run, factor_row);
}

CUresult run_ic0(struct gpukit_run *run)
{
	return factorise_rows(run, root_row);
}
