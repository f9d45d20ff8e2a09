/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lt_epilogue.c - turns the sums of a product into D: applies alpha, beta,
 * bias, activations and their gradients, and scales. Computes in double
 * precision and rounds once, to D's type.
 */
#include "base/assert.h"
#include "fronts/cublas/lt/lt_gelu.h"
#include "fronts/cublas/lt/lt_run.h"

static bool is_zero(const double *factor, bool complex)
{
	return factor[0] == 0 && (!complex || factor[1] == 0);
}

static double larger(double largest, double x)
{
	double size = __builtin_fabs(x);

	return size > largest || size != size ? size : largest;
}

static void scale_real(const struct lt_epilogue *e, uint64_t j, double *x)
{
	double column = lt_scale_at(&e->b_outer, 0, j);

	for (int64_t i = 0; i < e->p->m; i++) {
		x[i] *= e->alpha[i] * column;
		if (e->c && !is_zero(&e->beta[i], false))
			x[i] += e->beta[i] * e->c_scale * e->c_column[i];
	}
}

static void add_product(double *to, const double *a, const double *b)
{
	to[0] += a[0] * b[0] - a[1] * b[1];
	to[1] += a[0] * b[1] + a[1] * b[0];
}

static void scale_complex(const struct lt_epilogue *e, double *x)
{
	for (int64_t i = 0; i < 2 * e->p->m; i += 2) {
		double sum[2] = {0, 0};

		add_product(sum, &e->alpha[i], &x[i]);
		if (e->c && !is_zero(&e->beta[i], true))
			add_product(sum, &e->beta[i], &e->c_column[i]);
		x[i] = sum[0];
		x[i + 1] = sum[1];
	}
}

/* 32-bit integers wrap, as on a GPU. */
static void scale_integers(const struct lt_epilogue *e, double *x)
{
	for (int64_t i = 0; i < e->p->m; i++) {
		uint32_t sum =
		    (uint32_t)(int64_t)x[i] * (uint32_t)(int64_t)e->alpha[i];

		if (e->c && !is_zero(&e->beta[i], false))
			sum += (uint32_t)(int64_t)e->beta[i] *
			       (uint32_t)(int64_t)e->c_column[i];
		x[i] = (int32_t)sum;
	}
}

/* Writes m bits of a ReLU mask, starting at bit `first`. */
static void write_mask(uint8_t *mask, size_t first, const double *x, int64_t m)
{
	for (int64_t i = 0; i < m; i++) {
		size_t bit = first + (size_t)i;
		uint8_t one = (uint8_t)(1u << bit % 8);

		mask[bit / 8] = (uint8_t)(x[i] > 0 ? mask[bit / 8] | one
						   : mask[bit / 8] & ~one);
	}
}

static void apply_mask(const uint8_t *mask, size_t first, double *x, int64_t m)
{
	GK_ASSERT(mask); /* lt_problem.c refuses a gradient without one */
	for (int64_t i = 0; i < m; i++) {
		size_t bit = first + (size_t)i;

		if (!(mask[bit / 8] >> bit % 8 & 1))
			x[i] = 0;
	}
}

static void write_gelu_input(const struct lt_epilogue *e, uint64_t j,
			     const double *x)
{
	for (int64_t i = 0; i < e->p->m; i++) {
		if (e->amax_aux)
			*e->amax_aux = larger(*e->amax_aux, x[i]);
		e->aux_column[i] = x[i] * e->aux_scale;
	}
	lt_write_column(&e->aux_layout, e->aux, j, e->aux_column);
}

static void apply_gelu_gradient(const struct lt_epilogue *e, uint64_t j,
				double *x)
{
	lt_read_column(&e->aux_layout, e->aux, j, e->aux_column);
	for (int64_t i = 0; i < e->p->m; i++)
		x[i] *= lt_gelu_gradient(e->aux_column[i] * e->aux_scale);
}

static void activate_column(const struct lt_epilogue *e, uint64_t j, double *x)
{
	uint32_t what = e->p->op.epilogue;
	size_t first_bit = j * (size_t)e->p->op.aux_ld;
	int64_t m = e->p->m;

	if (what & LT_RELU && e->aux)
		write_mask(e->aux, first_bit, x, m);
	if (what & LT_GELU && e->aux)
		write_gelu_input(e, j, x);
	if (what & LT_DRELU)
		apply_mask(e->aux, first_bit, x, m);
	if (what & LT_DGELU)
		apply_gelu_gradient(e, j, x);
	for (int64_t i = 0; what & LT_RELU && i < m; i++)
		x[i] = x[i] < 0 ? 0 : x[i];
	for (int64_t i = 0; what & LT_GELU && i < m; i++)
		x[i] = lt_gelu(x[i]);
}

static void finish_real(const struct lt_epilogue *e, uint64_t j, double *x)
{
	int64_t m = e->p->m;

	scale_real(e, j, x);
	for (int64_t i = 0; e->bias && i < m; i++)
		x[i] += e->bias[i];
	activate_column(e, j, x);
	for (int64_t i = 0; i < m; i++) {
		if (e->bias_gradient)
			e->bias_gradient[i] += x[i];
		if (e->amax_d)
			*e->amax_d = larger(*e->amax_d, x[i]);
		x[i] *= e->d_scale;
	}
	if (e->d_out.data)
		lt_quantize(&e->d_out, e->p->d.type, j, x);
}

void lt_finish_column(const struct lt_epilogue *e, uint64_t j, double *x)
{
	if (e->c)
		lt_read_column(&e->p->c, e->c, j, e->c_column);
	if (element_is_complex(e->p->sums))
		scale_complex(e, x);
	else if (e->p->op.scale_type == R_32I)
		scale_integers(e, x);
	else
		finish_real(e, j, x);
	lt_write_column(&e->p->d, e->d, j, x);
}
