/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lt_run.c - runs the kernel of cublasLtMatmul(): resolves the memory of a job,
 * then computes each product of its batch, applying the epilogue to each
 * column.
 */
#include "fronts/cublas/lt/lt_run.h"

#include <stdlib.h>
#include <string.h>

/* The number of columns between calls of stopped(). */
#define COLUMNS 64

struct work {
	struct gpukit_run *run;
	const struct lt_job *job;
	struct lt_scales a_scales, b_scales;
	double *alpha, *beta; /* one number per row, or a pair if complex */
	bool multiplies;      /* whether any alpha is not 0 */
	bool adds;            /* whether any beta is not 0 */
	double ab_scale, c_scale, d_scale, aux_scale;
	double amax_d, amax_aux;
	double *rows[4]; /* the epilogue's buffers; freed at the end */
	CUresult error;
};

static void *memory_at(struct work *w, enum gpukit_access access,
		       uint64_t address, size_t size)
{
	void *at = w->run->memory(w->run, access, address, size);

	if (!at && !w->error)
		w->error = CUDA_ERROR_ILLEGAL_ADDRESS;
	return at;
}

static void *allocate_array(struct work *w, size_t count, size_t size)
{
	void *p = calloc(count ? count : 1, size);

	if (!p && !w->error)
		w->error = CUDA_ERROR_OUT_OF_MEMORY;
	return p;
}

static size_t rows_of(const struct work *w)
{
	return (size_t)w->job->p.m;
}

static bool is_complex(const struct work *w)
{
	return element_is_complex(w->job->p.sums);
}

/* Expands alpha or beta to one number per row; if it fails, w->error is set. */
static double *expand_factor(struct work *w, const struct lt_factor *f,
			     bool *ret_any)
{
	enum element type = (enum element)w->job->p.op.scale_type;
	enum element wide = is_complex(w) ? C_64F : R_64F;
	size_t m = rows_of(w), parts = is_complex(w) ? 2 : 1;
	size_t count = f->vector ? m : 1;
	double *all = allocate_array(w, m + 1, 2 * sizeof *all);
	const void *from = NULL;

	if (f->address)
		from = memory_at(w, GPUKIT_READS, f->address,
				 count * element_size(type));
	if (!all || w->error) {
		free(all);
		return NULL;
	}
	if (from)
		element_convert(all, wide, from, type, count);
	else
		memcpy(all, f->value, parts * sizeof *all);
	for (size_t i = parts; !f->vector && i < m * parts; i++)
		all[i] = all[i - parts];
	*ret_any = false;
	for (size_t i = 0; i < count * parts; i++)
		*ret_any |= all[i] != 0;
	return all;
}

/* Reads a scalar scale; returns 1 if there is none. */
static double read_scale(struct work *w, uint64_t address)
{
	const float *at =
	    address ? memory_at(w, GPUKIT_READS, address, sizeof *at) : NULL;

	return at ? (double)*at : 1;
}

static struct lt_scales find_scales(struct work *w, enum gpukit_access access,
				    int32_t mode, uint64_t address,
				    int64_t inner, int64_t outer)
{
	struct lt_scales s = {mode, NULL, (uint64_t)inner, (uint64_t)outer};

	if (address && mode)
		s.data = memory_at(w, access, address,
				   lt_scales_size(mode, s.inner, s.outer));
	return s;
}

static void find_all_scales(struct work *w)
{
	const struct lt_problem *p = &w->job->p;

	w->a_scales = find_scales(w, GPUKIT_READS, p->op.a_mode, p->op.a_scale,
				  p->k, p->m);
	w->b_scales = find_scales(w, GPUKIT_READS, p->op.b_mode, p->op.b_scale,
				  p->k, p->n);
	w->ab_scale = (p->op.a_mode ? 1 : read_scale(w, p->op.a_scale)) *
		      (p->op.b_mode ? 1 : read_scale(w, p->op.b_scale));
	w->c_scale = read_scale(w, p->op.c_scale);
	w->d_scale = read_scale(w, p->op.d_scale);
	w->aux_scale = read_scale(w, p->op.aux_scale);
}

/* Multiplies alpha by the scales of A and B, and by the scales of A's rows. */
static void scale_alpha(struct work *w)
{
	bool outer =
	    w->a_scales.mode == CUBLASLT_MATMUL_MATRIX_SCALE_OUTER_VEC_32F;

	for (size_t i = 0; w->job->p.narrow && i < rows_of(w); i++)
		w->alpha[i] *=
		    w->ab_scale * (outer ? lt_scale_at(&w->a_scales, 0, i) : 1);
}

static void *matrix_of(struct work *w, enum gpukit_access access,
		       const struct lt_layout *l, uint64_t address,
		       int32_t index)
{
	void *at = lt_matrix_at(w->run, access, l, address, index);

	if (!at && !w->error)
		w->error = CUDA_ERROR_ILLEGAL_ADDRESS;
	return at;
}

/*
 * Returns the sums of one product in adjacent columns; if it fails, w->error is
 * set.
 */
static void *multiply_matrices(struct work *w, const void *a, const void *b)
{
	static const struct lt_scales none;
	const struct lt_problem *p = &w->job->p;
	bool at = p->op.trans_a != CUBLAS_OP_N,
	     bt = p->op.trans_b != CUBLAS_OP_N;
	struct lt_operand x = {.own = NULL}, y = {.own = NULL};
	void *sums = allocate_array(w, (size_t)p->m * (size_t)p->n,
				    element_size(p->sums));
	struct gemm g;

	if (!sums || !w->multiplies)
		return sums;
	if (!lt_take_operand(&p->a, a, p->op.trans_a,
			     p->narrow ? &w->a_scales : &none, at, p->sums,
			     &x) ||
	    !lt_take_operand(&p->b, b, p->op.trans_b,
			     p->narrow ? &w->b_scales : &none, !bt, p->sums,
			     &y)) {
		w->error = CUDA_ERROR_OUT_OF_MEMORY;
	} else {
		g = (struct gemm){.op_a = x.op,
				  .op_b = y.op,
				  .m = p->m,
				  .n = p->n,
				  .k = p->k,
				  .a = x.data,
				  .b = y.data,
				  .d = sums,
				  .lda = x.ld,
				  .ldb = y.ld,
				  .ldd = p->m,
				  .type_a = x.type,
				  .type_b = y.type,
				  .type_c = p->sums,
				  .type_d = p->sums,
				  .compute = p->sums,
				  .alpha = {1, 0},
				  .stopped = w->run->stopped};
		if (gemm_run(&g))
			w->error = CUDA_ERROR_OUT_OF_MEMORY;
	}
	free(x.own);
	free(y.own);
	return sums;
}

/* Returns the memory of a product's bias or bias gradient. */
static void *bias_at(struct work *w, enum gpukit_access access, int32_t index,
		     int64_t length)
{
	const struct lt_problem *p = &w->job->p;
	size_t size = element_size((enum element)p->bias_type);

	return memory_at(w, access,
			 p->op.bias +
			     (uint64_t)(index * p->op.bias_stride) * size,
			 (size_t)length * size);
}

static void find_aux(struct work *w, int32_t index, struct lt_epilogue *e)
{
	const struct lt_problem *p = &w->job->p;
	struct lt_layout l = lt_layout_initial;
	uint64_t elements = (uint64_t)(index * p->op.aux_stride);
	bool derives = p->op.epilogue & (LT_DRELU | LT_DGELU);
	enum gpukit_access access = derives ? GPUKIT_READS : GPUKIT_WRITES;
	size_t bits;

	l.type = (uint32_t)p->aux_type;
	l.rows = (uint64_t)p->m;
	l.cols = (uint64_t)p->n;
	l.ld = p->op.aux_ld;
	e->aux_layout = l;
	if (p->aux_type != LT_NO_TYPE) {
		e->aux = memory_at(w, access,
				   p->op.aux + elements * lt_bytes(l.type, 1),
				   lt_bytes(l.type, lt_span(&l)));
		return;
	}
	bits = lt_span(&l);
	e->aux = memory_at(w, access, p->op.aux + elements / 8,
			   bits / 8 + !!(bits % 8));
}

static void find_epilogue(struct work *w, int32_t index, struct lt_epilogue *e)
{
	const struct lt_problem *p = &w->job->p;

	*e = (struct lt_epilogue){
	    .p = p,
	    .alpha = w->alpha,
	    .beta = w->beta,
	    .c_column = w->rows[0],
	    .aux_column = w->rows[1],
	    .c_scale = w->c_scale,
	    .d_scale = w->d_scale,
	    .aux_scale = w->aux_scale,
	    .amax_d = p->op.amax_d ? &w->amax_d : NULL,
	    .amax_aux = p->op.aux_amax ? &w->amax_aux : NULL,
	    .d_out = find_scales(w, GPUKIT_WRITES, p->op.d_out_mode,
				 p->op.d_out, p->m, p->n),
	};
	if (w->b_scales.mode == CUBLASLT_MATMUL_MATRIX_SCALE_OUTER_VEC_32F)
		e->b_outer = w->b_scales;
	if (p->op.epilogue & LT_AUX)
		find_aux(w, index, e);
	if (p->op.epilogue & LT_BIAS) {
		const void *bias = bias_at(w, GPUKIT_READS, index, p->m);

		e->bias = w->rows[2];
		if (bias)
			element_convert(e->bias, R_64F, bias,
					(enum element)p->bias_type,
					(size_t)p->m);
	}
	if (p->op.epilogue & LT_BGRAD) {
		e->bias_gradient = w->rows[3];
		memset(e->bias_gradient, 0, (size_t)p->m * sizeof(double));
	}
}

/*
 * Stores the bias gradient: the sums of the rows of op(A) or of the columns of
 * op(B).
 */
static void sum_operand(struct work *w, const struct lt_layout *l,
			const void *matrix, bool by_rows, void *to, size_t n)
{
	double *sums = allocate_array(w, n, sizeof *sums);
	double *x = allocate_array(w, l->rows, sizeof *x);

	for (uint64_t j = 0; sums && x && j < l->cols; j++) {
		lt_read_column(l, matrix, j, x);
		for (uint64_t i = 0; i < l->rows; i++)
			sums[by_rows ? i : j] += x[i];
	}
	if (sums && x)
		element_convert(to, (enum element)w->job->p.bias_type, sums,
				R_64F, n);
	free(sums);
	free(x);
}

static void write_bias_gradient(struct work *w, int32_t index,
				const struct lt_epilogue *e, const void *a,
				const void *b)
{
	const struct lt_problem *p = &w->job->p;
	bool of_b = p->op.epilogue & LT_BGRADB;
	size_t n = (size_t)(of_b ? p->n : p->m);
	void *to;

	if (!(p->op.epilogue & (LT_BGRAD | LT_BGRADA | LT_BGRADB)))
		return;
	to = bias_at(w, GPUKIT_WRITES, index, (int64_t)n);
	if (!to)
		return;
	if (e->bias_gradient)
		element_convert(to, (enum element)p->bias_type,
				e->bias_gradient, R_64F, n);
	else if (of_b)
		sum_operand(w, &p->b, b, p->op.trans_b != CUBLAS_OP_N, to, n);
	else
		sum_operand(w, &p->a, a, p->op.trans_a == CUBLAS_OP_N, to, n);
}

static void finish_columns(struct work *w, const struct lt_epilogue *e,
			   const char *sums)
{
	const struct lt_problem *p = e->p;
	enum element wide = is_complex(w) ? C_64F : R_64F;
	size_t column = rows_of(w) * element_size(p->sums);
	double *x = allocate_array(w, rows_of(w) + 1, element_size(wide));

	for (int64_t j = 0; x && j < p->n; j++) {
		if (j % COLUMNS == 0 && w->run->stopped())
			break;
		element_convert(x, wide, sums + (size_t)j * column, p->sums,
				rows_of(w));
		lt_finish_column(e, (uint64_t)j, x);
	}
	free(x);
}

static void run_one(struct work *w, int32_t index)
{
	const struct lt_job *job = w->job;
	const struct lt_problem *p = &job->p;
	const void *a = matrix_of(w, GPUKIT_READS, &p->a, job->a, index);
	const void *b = matrix_of(w, GPUKIT_READS, &p->b, job->b, index);
	struct lt_epilogue e;
	void *sums;

	find_epilogue(w, index, &e);
	if (w->adds)
		e.c = matrix_of(w, GPUKIT_READS, &p->c, job->c, index);
	e.d = matrix_of(w, GPUKIT_WRITES, &p->d, job->d, index);
	if (w->error)
		return;
	sums = multiply_matrices(w, a, b);
	if (!w->error) {
		finish_columns(w, &e, sums);
		write_bias_gradient(w, index, &e, a, b);
	}
	free(sums);
	w->run->operations += 2 * (uint64_t)p->m * (uint64_t)p->n *
			      (uint64_t)p->k * (is_complex(w) ? 4 : 1);
}

static void write_amax(struct work *w, uint64_t address, double amax)
{
	float *at =
	    address ? memory_at(w, GPUKIT_WRITES, address, sizeof *at) : NULL;

	if (at)
		*at = (float)amax;
}

/*
 * If the program requests the number of emulated bits, reports that we do not
 * emulate floats with integers.
 */
static void write_emulated_bits(struct work *w)
{
	int32_t *at =
	    w->job->emulated_bits
		? memory_at(w, GPUKIT_WRITES, w->job->emulated_bits, sizeof *at)
		: NULL;

	if (at)
		*at = -1;
}

static void prepare_rows(struct work *w)
{
	for (size_t i = 0; i < sizeof w->rows / sizeof *w->rows; i++)
		w->rows[i] = allocate_array(w, rows_of(w), 2 * sizeof(double));
	find_all_scales(w);
}

/* If alpha is a vector, each product of the batch has its own vector. */
static void take_factors(struct work *w, int32_t index)
{
	const struct lt_problem *p = &w->job->p;
	struct lt_factor alpha = w->job->alpha;

	free(w->alpha);
	free(w->beta);
	if (alpha.vector)
		alpha.address += (uint64_t)(index * p->op.alpha_stride) *
				 element_size((enum element)p->op.scale_type);
	w->beta = NULL;
	w->alpha = expand_factor(w, &alpha, &w->multiplies);
	if (!w->alpha)
		return;
	w->beta = expand_factor(w, &w->job->beta, &w->adds);
	if (!w->error)
		scale_alpha(w);
}

CUresult lt_run_matmul(struct gpukit_run *run)
{
	const struct lt_job *job = run->params;
	struct work w = {.run = run, .job = job};

	if (!job->p.m || !job->p.n)
		return CUDA_SUCCESS;
	prepare_rows(&w);
	for (int32_t i = 0; !w.error && i < job->p.batches; i++) {
		take_factors(&w, i);
		if (!w.error && !run->stopped())
			run_one(&w, i);
	}
	if (!w.error) {
		write_amax(&w, job->p.op.amax_d, w.amax_d);
		write_amax(&w, job->p.op.aux_amax, w.amax_aux);
		write_emulated_bits(&w);
	}
	for (size_t i = 0; i < sizeof w.rows / sizeof *w.rows; i++)
		free(w.rows[i]);
	free(w.alpha);
	free(w.beta);
	return w.error;
}
