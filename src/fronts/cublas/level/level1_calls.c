/* SPDX-License-Identifier: Apache-2.0 */
/*
 * level1_calls.c - entry points of the level 1 functions that have a type in
 * their names. They launch the level 1 kernel.
 */
#include "base/assert.h"
#include "fronts/cublas/level/level1.h"

static bool is_computed(enum element type)
{
	return type == R_32F || type == R_64F || type == C_32F || type == C_64F;
}

int level1_type(enum element type)
{
	if (type == R_16F || type == R_16BF)
		return R_32F;
	return is_computed(type) ? (int)type : -1;
}

/*
 * Sets n to 0 if it is negative, or if there is only one vector and its
 * increment is not positive.
 */
static void drop_elements(struct level1 *l)
{
	bool alone = !level1_ops[l->op].has_y;

	if (l->n < 0 || (alone && l->incx <= 0))
		l->n = 0;
}

cublasStatus_t level1_launch(cublasHandle_t handle, struct level1 *l)
{
	bool tells;

	GK_ASSERT(l->op >= 0 && l->op < LEVEL1_ROTG);
	tells = level1_ops[l->op].sums || level1_ops[l->op].finds;
	drop_elements(l);
	if (!l->n && !tells)
		return CUBLAS_STATUS_SUCCESS;
	REQUIRE(!l->n || (l->x && (!level1_ops[l->op].has_y || l->y)));
	if (tells)
		return blas_launch_result(handle, KERNEL_level1, l, &l->result);
	return blas_launch(handle, KERNEL_level1, l);
}

/* Launches copy or swap. */
static cublasStatus_t launch_move(cublasHandle_t handle, enum vector_op op,
				  enum element type, int64_t n, const void *x,
				  int64_t incx, const void *y, int64_t incy)
{
	struct level1 l = {.op = op,
			   .type = type,
			   .x_type = type,
			   .y_type = type,
			   .n = n,
			   .x = address_of(x),
			   .y = address_of(y),
			   .incx = incx,
			   .incy = incy};

	ENTER(handle);
	return level1_launch(handle, &l);
}

cublasStatus_t level1_scale(cublasHandle_t handle, enum vector_op op,
			    const struct types *t, int64_t n, const void *alpha,
			    const void *x, int64_t incx, const void *y,
			    int64_t incy)
{
	struct level1 l = {.op = op,
			   .type = (enum element)level1_type(t->x),
			   .x_type = t->x,
			   .y_type = t->y,
			   .n = n,
			   .x = address_of(x),
			   .y = address_of(y),
			   .incx = incx,
			   .incy = incy};

	ENTER(handle);
	REQUIRE(alpha);
	l.a = blas_take_scalar(handle, alpha, t->a);
	return level1_launch(handle, &l);
}

cublasStatus_t level1_reduce(cublasHandle_t handle, enum vector_op op,
			     const struct types *t, int64_t n, const void *x,
			     int64_t incx, const void *y, int64_t incy,
			     void *result)
{
	struct level1 l = {.op = op,
			   .type = (enum element)level1_type(t->x),
			   .x_type = t->x,
			   .y_type = t->y,
			   .n = n,
			   .x = address_of(x),
			   .y = address_of(y),
			   .incx = incx,
			   .incy = incy,
			   .result_type = t->result};

	ENTER(handle);
	REQUIRE(result);
	l.result = blas_take_result(handle, result);
	return level1_launch(handle, &l);
}

cublasStatus_t level1_find(cublasHandle_t handle, enum vector_op op,
			   enum element type, int64_t n, const void *x,
			   int64_t incx, void *result, size_t size)
{
	struct level1 l = {.op = op,
			   .type = (enum element)level1_type(type),
			   .x_type = type,
			   .n = n,
			   .x = address_of(x),
			   .incx = incx,
			   .index_size = size};

	ENTER(handle);
	REQUIRE(result);
	l.result = blas_take_result(handle, result);
	return level1_launch(handle, &l);
}

cublasStatus_t level1_rotation(cublasHandle_t handle, const struct types *t,
			       enum element s_type, int64_t n, const void *x,
			       int64_t incx, const void *y, int64_t incy,
			       const void *c, const void *s)
{
	struct level1 l = {.op = VECTOR_ROT,
			   .type = (enum element)level1_type(t->x),
			   .x_type = t->x,
			   .y_type = t->y,
			   .n = n,
			   .x = address_of(x),
			   .y = address_of(y),
			   .incx = incx,
			   .incy = incy};

	ENTER(handle);
	REQUIRE(c && s);
	l.a = blas_take_scalar(handle, c, t->a);
	l.s = blas_take_scalar(handle, s, s_type);
	return level1_launch(handle, &l);
}

cublasStatus_t level1_modified(cublasHandle_t handle, enum element type,
			       enum element param_type, int64_t n,
			       const void *x, int64_t incx, const void *y,
			       int64_t incy, const void *param)
{
	struct level1 l = {.op = VECTOR_ROTM,
			   .type = (enum element)level1_type(type),
			   .x_type = type,
			   .y_type = type,
			   .n = n,
			   .x = address_of(x),
			   .y = address_of(y),
			   .incx = incx,
			   .incy = incy,
			   .param_type = param_type};

	ENTER(handle);
	REQUIRE(param);
	if (handle->pointer_mode)
		l.param = address_of(param);
	else
		element_convert(l.params, R_64F, param, param_type, 5);
	return level1_launch(handle, &l);
}

cublasStatus_t level1_make(cublasHandle_t handle, int op, enum element type,
			   void *const *points, const enum element *types)
{
	struct level1 l = {.op = op, .type = type};
	int count = op == LEVEL1_ROTG ? 4 : 5;

	ENTER(handle);
	for (int i = 0; i < count; i++) {
		REQUIRE(points[i]);
		l.points[i] = address_of(points[i]);
		l.point_types[i] = types[i];
	}
	if (handle->pointer_mode)
		return blas_launch(handle, KERNEL_level1, &l);
	level1_rotate(&l, points);
	return CUBLAS_STATUS_SUCCESS;
}

/* Defines a function and its variant with 64-bit dimensions. */
#define BOTH(row, ...) row(, int, __VA_ARGS__) row(_64, int64_t, __VA_ARGS__)

/* Define the functions of one type t; p is its letter. */
#define MOVES(w, N, p, t)                                                      \
	ENTRY(p##copy_v2##w, cublasHandle_t h, N n, const void *x, N incx,     \
	      void *y, N incy)                                                 \
	{                                                                      \
		return launch_move(h, VECTOR_COPY, t, n, x, incx, y, incy);    \
	}                                                                      \
	ENTRY(p##swap_v2##w, cublasHandle_t h, N n, void *x, N incx, void *y,  \
	      N incy)                                                          \
	{                                                                      \
		return launch_move(h, VECTOR_SWAP, t, n, x, incx, y, incy);    \
	}                                                                      \
	ENTRY(p##axpy_v2##w, cublasHandle_t h, N n, const void *alpha,         \
	      const void *x, N incx, void *y, N incy)                          \
	{                                                                      \
		return level1_scale(h, VECTOR_AXPY,                            \
				    &(struct types){t, t, t, t, t}, n, alpha,  \
				    x, incx, y, incy);                         \
	}
BOTH(MOVES, S, R_32F)
BOTH(MOVES, D, R_64F)
BOTH(MOVES, C, C_32F)
BOTH(MOVES, Z, C_64F)

#define SCAL(w, N, p, t, a)                                                    \
	ENTRY(p##scal_v2##w, cublasHandle_t h, N n, const void *alpha,         \
	      void *x, N incx)                                                 \
	{                                                                      \
		return level1_scale(h, VECTOR_SCAL,                            \
				    &(struct types){t, t, a, t, t}, n, alpha,  \
				    x, incx, NULL, 0);                         \
	}
BOTH(SCAL, S, R_32F, R_32F)
BOTH(SCAL, D, R_64F, R_64F)
BOTH(SCAL, C, C_32F, C_32F)
BOTH(SCAL, Z, C_64F, C_64F)
BOTH(SCAL, Cs, C_32F, R_32F)
BOTH(SCAL, Zd, C_64F, R_64F)

#define DOT(w, N, name, t, op)                                                 \
	ENTRY(name##_v2##w, cublasHandle_t h, N n, const void *x, N incx,      \
	      const void *y, N incy, void *result)                             \
	{                                                                      \
		return level1_reduce(h, op, &(struct types){t, t, t, t, t}, n, \
				     x, incx, y, incy, result);                \
	}
BOTH(DOT, Sdot, R_32F, VECTOR_DOTU)
BOTH(DOT, Ddot, R_64F, VECTOR_DOTU)
BOTH(DOT, Cdotu, C_32F, VECTOR_DOTU)
BOTH(DOT, Cdotc, C_32F, VECTOR_DOTC)
BOTH(DOT, Zdotu, C_64F, VECTOR_DOTU)
BOTH(DOT, Zdotc, C_64F, VECTOR_DOTC)

#define NORMS(w, N, p, t, r)                                                   \
	ENTRY(p##nrm2_v2##w, cublasHandle_t h, N n, const void *x, N incx,     \
	      void *result)                                                    \
	{                                                                      \
		return level1_reduce(h, VECTOR_NRM2,                           \
				     &(struct types){t, t, t, r, t}, n, x,     \
				     incx, NULL, 0, result);                   \
	}                                                                      \
	ENTRY(p##asum_v2##w, cublasHandle_t h, N n, const void *x, N incx,     \
	      void *result)                                                    \
	{                                                                      \
		return level1_reduce(h, VECTOR_ASUM,                           \
				     &(struct types){t, t, t, r, t}, n, x,     \
				     incx, NULL, 0, result);                   \
	}
BOTH(NORMS, S, R_32F, R_32F)
BOTH(NORMS, D, R_64F, R_64F)
BOTH(NORMS, Sc, C_32F, R_32F)
BOTH(NORMS, Dz, C_64F, R_64F)

#define FINDS(w, N, p, t)                                                      \
	ENTRY(I##p##amax_v2##w, cublasHandle_t h, N n, const void *x, N incx,  \
	      N *result)                                                       \
	{                                                                      \
		return level1_find(h, VECTOR_IAMAX, t, n, x, incx, result,     \
				   sizeof(N));                                 \
	}                                                                      \
	ENTRY(I##p##amin_v2##w, cublasHandle_t h, N n, const void *x, N incx,  \
	      N *result)                                                       \
	{                                                                      \
		return level1_find(h, VECTOR_IAMIN, t, n, x, incx, result,     \
				   sizeof(N));                                 \
	}
BOTH(FINDS, s, R_32F)
BOTH(FINDS, d, R_64F)
BOTH(FINDS, c, C_32F)
BOTH(FINDS, z, C_64F)

#define ROT(w, N, name, t, c_, s_)                                             \
	ENTRY(name##_v2##w, cublasHandle_t h, N n, void *x, N incx, void *y,   \
	      N incy, const void *c, const void *s)                            \
	{                                                                      \
		return level1_rotation(h, &(struct types){t, t, c_, t, t}, s_, \
				       n, x, incx, y, incy, c, s);             \
	}
BOTH(ROT, Srot, R_32F, R_32F, R_32F)
BOTH(ROT, Drot, R_64F, R_64F, R_64F)
BOTH(ROT, Crot, C_32F, R_32F, C_32F)
BOTH(ROT, Csrot, C_32F, R_32F, R_32F)
BOTH(ROT, Zrot, C_64F, R_64F, C_64F)
BOTH(ROT, Zdrot, C_64F, R_64F, R_64F)

#define ROTM(w, N, p, t)                                                       \
	ENTRY(p##rotm_v2##w, cublasHandle_t h, N n, void *x, N incx, void *y,  \
	      N incy, const void *param)                                       \
	{                                                                      \
		return level1_modified(h, t, t, n, x, incx, y, incy, param);   \
	}
BOTH(ROTM, S, R_32F)
BOTH(ROTM, D, R_64F)

#define ROTG(p, t, r)                                                          \
	ENTRY(p##rotg_v2, cublasHandle_t h, void *a, void *b, void *c,         \
	      void *s)                                                         \
	{                                                                      \
		return level1_make(h, LEVEL1_ROTG, t, (void *[]){a, b, c, s},  \
				   (enum element[]){t, t, r, t});              \
	}
ROTG(S, R_32F, R_32F)
ROTG(D, R_64F, R_64F)
ROTG(C, C_32F, R_32F)
ROTG(Z, C_64F, R_64F)

#define ROTMG(p, t)                                                            \
	ENTRY(p##rotmg_v2, cublasHandle_t h, void *d1, void *d2, void *x1,     \
	      const void *y1, void *param)                                     \
	{                                                                      \
		void *points[] = {d1, d2, x1, (void *)(uintptr_t)y1, param};   \
                                                                               \
		return level1_make(h, LEVEL1_ROTMG, t, points,                 \
				   (enum element[]){t, t, t, t, t});           \
	}
ROTMG(S, R_32F)
ROTMG(D, R_64F)
