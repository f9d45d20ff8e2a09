/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lt_move.c - runs the kernel of cublasLtMatrixTransform(); it computes in
 * double.
 */
#include "fronts/cublas/lt/lt_move.h"

#include <stdlib.h>

struct move {
	struct gpukit_run *run;
	const struct lt_transform_job *job;
	size_t parts; /* 2: complex */
	CUresult error;
};

/* An operand, A or B. */
struct term {
	const struct lt_layout *layout;
	uint64_t address;
	int32_t trans;
	const struct lt_factor *factor;
};

/*
 * Reads a matrix into adjacent columns without gaps; NULL: m->error is set, or
 * memory is not accessible.
 */
static double *read_matrix(struct move *m, const struct term *t, int32_t index)
{
	const struct lt_layout *l = t->layout;
	const void *from =
	    lt_matrix_at(m->run, GPUKIT_READS, l, t->address, index);
	size_t column = l->rows * m->parts;
	double *all;

	if (!from)
		return NULL;
	all = malloc(column * l->cols * sizeof *all);
	if (!all)
		m->error = CUDA_ERROR_OUT_OF_MEMORY;
	for (uint64_t j = 0; all && j < l->cols; j++)
		lt_read_column(l, from, j, all + j * column);
	return all;
}

static bool read_factor(struct move *m, const struct lt_factor *f,
			double ret[2])
{
	enum element type = (enum element)m->job->op.scale_type;
	const void *from;

	ret[0] = f->value[0];
	ret[1] = f->value[1];
	if (!f->address)
		return true;
	from = m->run->memory(m->run, GPUKIT_READS, f->address,
			      element_size(type));
	if (from)
		element_get(from, type, ret);
	return from;
}

/* Adds factor * op(matrix) to sums, which is rows x cols. */
static void add_matrix(const struct move *m, const struct term *t,
		       const double *matrix, const double factor[2],
		       double *sums)
{
	uint64_t rows = m->job->c.rows, cols = m->job->c.cols;
	bool trans = t->trans != CUBLAS_OP_N;
	double sign = t->trans == CUBLAS_OP_C ? -1 : 1;
	size_t parts = m->parts;

	for (uint64_t j = 0; j < cols; j++)
		for (uint64_t i = 0; i < rows; i++) {
			const double *x =
			    matrix +
			    (trans ? i * cols + j : j * rows + i) * parts;
			double *to = sums + (j * rows + i) * parts;
			double imaginary = parts == 2 ? sign * x[1] : 0;

			to[0] += factor[0] * x[0];
			if (parts == 1)
				continue;
			to[0] -= factor[1] * imaginary;
			to[1] += factor[0] * imaginary + factor[1] * x[0];
		}
}

static bool add_term(struct move *m, const struct term *t, int32_t index,
		     double *sums)
{
	double factor[2], *matrix;

	if (!t->address)
		return true;
	if (!read_factor(m, t->factor, factor))
		return false;
	if (factor[0] == 0 && factor[1] == 0)
		return true;
	matrix = read_matrix(m, t, index);
	if (matrix)
		add_matrix(m, t, matrix, factor, sums);
	free(matrix);
	return matrix;
}

static void move_one(struct move *m, int32_t index)
{
	const struct lt_transform_job *j = m->job;
	const struct lt_layout *c = &j->c;
	const struct term a = {&j->a, j->from_a, j->op.trans_a, &j->alpha};
	const struct term b = {&j->b, j->from_b, j->op.trans_b, &j->beta};
	double *sums = calloc(c->rows * c->cols + 1, m->parts * sizeof *sums);
	void *to = lt_matrix_at(m->run, GPUKIT_WRITES, c, j->to, index);

	if (!sums)
		m->error = CUDA_ERROR_OUT_OF_MEMORY;
	if (sums && to && add_term(m, &a, index, sums) &&
	    add_term(m, &b, index, sums))
		for (uint64_t i = 0; i < c->cols; i++)
			lt_write_column(c, to, i,
					sums + i * c->rows * m->parts);
	free(sums);
	m->run->operations += 2 * c->rows * c->cols;
}

CUresult lt_run_transform(struct gpukit_run *run)
{
	const struct lt_transform_job *job = run->params;
	struct move m = {.run = run, .job = job};

	m.parts = element_is_complex((enum element)job->c.type) ? 2 : 1;
	for (int32_t i = 0; !m.error && i < job->c.batch_count; i++)
		if (!run->stopped())
			move_one(&m, i);
	return m.error;
}
