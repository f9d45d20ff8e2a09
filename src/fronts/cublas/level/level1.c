/* SPDX-License-Identifier: Apache-2.0 */
/* level1.c - launches and runs the kernel of level 1. */
#include "fronts/cublas/level/level1.h"

#include <stdlib.h>
#include <string.h>

const struct level1_op level1_ops[] = {
    [VECTOR_COPY] = {.has_y = true, .writes_y = true},
    [VECTOR_SWAP] = {.has_y = true, .writes_x = true, .writes_y = true},
    [VECTOR_AXPY] = {.has_y = true, .writes_y = true},
    [VECTOR_SCAL] = {.writes_x = true},
    [VECTOR_DOTU] = {.has_y = true, .sums = true},
    [VECTOR_DOTC] = {.has_y = true, .sums = true},
    [VECTOR_NRM2] = {.sums = true},
    [VECTOR_ASUM] = {.sums = true},
    [VECTOR_IAMAX] = {.finds = true},
    [VECTOR_IAMIN] = {.finds = true},
    [VECTOR_ROT] = {.has_y = true, .writes_x = true, .writes_y = true},
    [VECTOR_ROTM] = {.has_y = true, .writes_x = true, .writes_y = true},
};

/* A program's vector, converted for the loops of vector.h. */
struct taken {
	char *first; /* element 0 in the program's memory */
	enum element type, to;
	int64_t n, inc;
	void *own; /* contiguous elements of type `to`; NULL: not copied */
};

static bool take_vector(struct gpukit_run *run, enum gpukit_access access,
			uint64_t at, enum element type, enum element to,
			int64_t n, int64_t inc, struct taken *t)
{
	size_t size = element_size(type), wide = element_size(to);
	char *place = blas_place_vector(run, access, at, type, n, inc);

	if (!place)
		return false;
	*t = (struct taken){place, type, to, n, inc, NULL};
	if (inc < 0 && n > 0)
		t->first += (size_t)(n - 1) * (size_t)-inc * size;
	if (type == to)
		return true;
	t->own = calloc((size_t)n + 1, wide);
	for (int64_t i = 0; t->own && i < n; i++)
		element_convert((char *)t->own + (size_t)i * wide, to,
				t->first + i * inc * (int64_t)size, type, 1);
	return t->own;
}

static void put_vector(const struct taken *t)
{
	size_t size = element_size(t->type), wide = element_size(t->to);

	for (int64_t i = 0; t->own && i < t->n; i++)
		element_convert(t->first + i * t->inc * (int64_t)size, t->type,
				(char *)t->own + (size_t)i * wide, t->to, 1);
}

static bool take_params(struct gpukit_run *run, const struct level1 *l,
			struct vectors *v)
{
	const char *at;

	if (!blas_read_scalar(run, &l->a, v->a) ||
	    !blas_read_scalar(run, &l->s, v->s))
		return false;
	memcpy(v->param, l->params, sizeof v->param);
	if (!l->param)
		return true;
	at = run->memory(run, GPUKIT_READS, l->param,
			 5 * element_size(l->param_type));
	if (at)
		element_convert(v->param, R_64F, at, l->param_type, 5);
	return at;
}

static bool put_result(struct gpukit_run *run, const struct level1 *l,
		       const struct vectors *v)
{
	size_t size = level1_ops[l->op].finds ? l->index_size
					      : element_size(l->result_type);
	void *to = blas_place_result(run, &l->result, size);

	if (to && level1_ops[l->op].sums)
		element_set(to, l->result_type, v->result);
	else if (to)
		memcpy(to, &v->index, size);
	return to;
}

static enum gpukit_access access_of(bool writes)
{
	return writes ? GPUKIT_WRITES : GPUKIT_READS;
}

static CUresult run_vectors(struct gpukit_run *run, const struct level1 *l)
{
	const struct level1_op *op = &level1_ops[l->op];
	struct vectors v = {.op = (enum vector_op)l->op, .n = l->n};
	struct taken x = {0}, y = {0};
	CUresult r = CUDA_SUCCESS;

	if (!take_params(run, l, &v))
		return r;
	if (!take_vector(run, access_of(op->writes_x), l->x, l->x_type, l->type,
			 l->n, l->incx, &x) ||
	    (level1_ops[l->op].has_y &&
	     !take_vector(run, access_of(op->writes_y), l->y, l->y_type,
			  l->type, l->n, l->incy, &y))) {
		r = CUDA_ERROR_OUT_OF_MEMORY;
		goto out;
	}
	v.x = x.own ? x.own : x.first;
	v.y = y.own ? y.own : y.first;
	v.incx = x.own ? 1 : l->incx;
	v.incy = y.own ? 1 : l->incy;
	vector_run(&v, l->type);
	run->operations += 2 * (uint64_t)l->n;
	if (level1_ops[l->op].writes_x)
		put_vector(&x);
	if (level1_ops[l->op].writes_y)
		put_vector(&y);
	if (level1_ops[l->op].sums || level1_ops[l->op].finds)
		put_result(run, l, &v);
out:
	free(x.own);
	free(y.own);
	return r;
}

static void rotate_point(const struct level1 *l, void *const *points)
{
	double a[2], b[2], c[2], s[2];
	bool is_complex = element_is_complex(l->type);

	element_get(points[0], l->point_types[0], a);
	element_get(points[1], l->point_types[1], b);
	vector_rotg(l->type, a, b, c, s);
	element_set(points[0], l->point_types[0], a);
	if (!is_complex)
		element_set(points[1], l->point_types[1], b);
	element_set(points[2], l->point_types[2], c);
	element_set(points[3], l->point_types[3], s);
}

static void rotate_modified_point(const struct level1 *l, void *const *points)
{
	double value[4][2], param[5];

	for (int i = 0; i < 4; i++)
		element_get(points[i], l->point_types[i], value[i]);
	element_convert(param, R_64F, points[4], l->point_types[4], 5);
	vector_rotmg(l->type, &value[0][0], &value[1][0], &value[2][0],
		     value[3][0], param);
	for (int i = 0; i < 3; i++)
		element_set(points[i], l->point_types[i], value[i]);
	element_convert(points[4], l->point_types[4], param, R_64F, 5);
}

void level1_rotate(const struct level1 *l, void *const *points)
{
	if (l->op == LEVEL1_ROTG)
		rotate_point(l, points);
	else
		rotate_modified_point(l, points);
}

/*
 * rotg writes four arguments. rotmg only reads its fourth one; its fifth is an
 * array.
 */
static CUresult run_points(struct gpukit_run *run, const struct level1 *l)
{
	int count = l->op == LEVEL1_ROTG ? 4 : 5;
	void *points[5];

	for (int i = 0; i < count; i++) {
		size_t size = element_size(l->point_types[i]);

		points[i] =
		    run->memory(run, access_of(i != 3 || l->op == LEVEL1_ROTG),
				l->points[i], i == 4 ? 5 * size : size);
		if (!points[i])
			return CUDA_SUCCESS;
	}
	level1_rotate(l, points);
	return CUDA_SUCCESS;
}

CUresult run_level1(struct gpukit_run *run)
{
	const struct level1 *l = run->params;

	return l->op >= LEVEL1_ROTG ? run_points(run, l) : run_vectors(run, l);
}
