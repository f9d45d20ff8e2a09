/* SPDX-License-Identifier: Apache-2.0 */
/*
 * level1_ex.c - entry points of the level 1 functions whose types are
 * parameters. Undocumented combinations of types are not supported.
 */
#include "fronts/cublas/level/level1.h"

/* Whether the execution type fits x. For norms it may also be x's real type. */
static bool fits_execution(const struct types *t, bool has_real_result)
{
	int type = level1_type(t->x);

	if (type < 0 || t->x != t->y)
		return false;
	return (int)t->execution == type ||
	       (has_real_result &&
		t->execution == element_real((enum element)type));
}

/*
 * An unknown type belongs to no documented combination, so it is not supported.
 */
static cublasStatus_t reduce_ex(cublasHandle_t handle, enum vector_op op,
				int64_t n, const void *x, int xt, int64_t incx,
				const void *y, int yt, int64_t incy,
				void *result, int rt, int et)
{
	struct types t = {(enum element)xt, (enum element)yt, 0,
			  (enum element)rt, (enum element)et};
	bool norm = op == VECTOR_NRM2 || op == VECTOR_ASUM;

	ENTER(handle);
	if (!fits_execution(&t, norm) ||
	    t.result != (norm ? element_real(t.x) : t.x))
		return CUBLAS_STATUS_NOT_SUPPORTED;
	return level1_reduce(handle, op, &t, n, x, incx, y, incy, result);
}

static cublasStatus_t scale_ex(cublasHandle_t handle, enum vector_op op,
			       int64_t n, const void *alpha, int at,
			       const void *x, int xt, int64_t incx,
			       const void *y, int yt, int64_t incy, int et)
{
	struct types t = {(enum element)xt, (enum element)yt, (enum element)at,
			  0, (enum element)et};

	ENTER(handle);
	if (!fits_execution(&t, false) || (t.a != t.execution && t.a != t.x))
		return CUBLAS_STATUS_NOT_SUPPORTED;
	return level1_scale(handle, op, &t, n, alpha, x, incx, y, incy);
}

static cublasStatus_t move_ex(cublasHandle_t handle, enum vector_op op,
			      int64_t n, const void *x, int xt, int64_t incx,
			      const void *y, int yt, int64_t incy)
{
	struct level1 l = {.op = op,
			   .x_type = (enum element)xt,
			   .y_type = (enum element)yt,
			   .n = n,
			   .x = address_of(x),
			   .y = address_of(y),
			   .incx = incx,
			   .incy = incy};
	int type = level1_type(l.x_type);

	ENTER(handle);
	if (type < 0 || xt != yt)
		return CUBLAS_STATUS_NOT_SUPPORTED;
	l.type = (enum element)type;
	return level1_launch(handle, &l);
}

static cublasStatus_t find_ex(cublasHandle_t handle, enum vector_op op,
			      int64_t n, const void *x, int xt, int64_t incx,
			      void *result, size_t size)
{
	ENTER(handle);
	if (level1_type((enum element)xt) < 0)
		return CUBLAS_STATUS_NOT_SUPPORTED;
	return level1_find(handle, op, (enum element)xt, n, x, incx, result,
			   size);
}

/*
 * The cosine is a real number, but is passed as a complex one if the sine is
 * complex.
 */
static cublasStatus_t rotate_ex(cublasHandle_t handle, int64_t n, const void *x,
				int xt, int64_t incx, const void *y, int yt,
				int64_t incy, const void *c, const void *s,
				int cst, int et)
{
	struct types t = {(enum element)xt, (enum element)yt, (enum element)cst,
			  0, (enum element)et};

	ENTER(handle);
	if (!fits_execution(&t, false) ||
	    (t.a != t.x && t.a != element_real(t.x)))
		return CUBLAS_STATUS_NOT_SUPPORTED;
	return level1_rotation(handle, &t, t.a, n, x, incx, y, incy, c, s);
}

static cublasStatus_t rotate_modified_ex(cublasHandle_t handle, int64_t n,
					 const void *x, int xt, int64_t incx,
					 const void *y, int yt, int64_t incy,
					 const void *param, int pt, int et)
{
	struct types t = {(enum element)xt, (enum element)yt, (enum element)pt,
			  0, (enum element)et};

	ENTER(handle);
	if (!fits_execution(&t, false) || element_is_complex(t.x) ||
	    (t.a != t.x && t.a != t.execution))
		return CUBLAS_STATUS_NOT_SUPPORTED;
	return level1_modified(handle, t.x, t.a, n, x, incx, y, incy, param);
}
/* Defines a function and its variant with 64-bit dimensions. */
#define BOTH(row, ...) row(, int, __VA_ARGS__) row(_64, int64_t, __VA_ARGS__)

#define EX(w, N, unused)                                                       \
	ENTRY(Nrm2Ex##w, cublasHandle_t h, N n, const void *x, int xt, N incx, \
	      void *result, int rt, int et)                                    \
	{                                                                      \
		return reduce_ex(h, VECTOR_NRM2, n, x, xt, incx, NULL, xt, 0,  \
				 result, rt, et);                              \
	}                                                                      \
	ENTRY(AsumEx##w, cublasHandle_t h, N n, const void *x, int xt, N incx, \
	      void *result, int rt, int et)                                    \
	{                                                                      \
		return reduce_ex(h, VECTOR_ASUM, n, x, xt, incx, NULL, xt, 0,  \
				 result, rt, et);                              \
	}                                                                      \
	ENTRY(DotEx##w, cublasHandle_t h, N n, const void *x, int xt, N incx,  \
	      const void *y, int yt, N incy, void *result, int rt, int et)     \
	{                                                                      \
		return reduce_ex(h, VECTOR_DOTU, n, x, xt, incx, y, yt, incy,  \
				 result, rt, et);                              \
	}                                                                      \
	ENTRY(DotcEx##w, cublasHandle_t h, N n, const void *x, int xt, N incx, \
	      const void *y, int yt, N incy, void *result, int rt, int et)     \
	{                                                                      \
		return reduce_ex(h, VECTOR_DOTC, n, x, xt, incx, y, yt, incy,  \
				 result, rt, et);                              \
	}                                                                      \
	ENTRY(ScalEx##w, cublasHandle_t h, N n, const void *alpha, int at,     \
	      void *x, int xt, N incx, int et)                                 \
	{                                                                      \
		return scale_ex(h, VECTOR_SCAL, n, alpha, at, x, xt, incx,     \
				NULL, xt, 0, et);                              \
	}                                                                      \
	ENTRY(AxpyEx##w, cublasHandle_t h, N n, const void *alpha, int at,     \
	      const void *x, int xt, N incx, void *y, int yt, N incy, int et)  \
	{                                                                      \
		return scale_ex(h, VECTOR_AXPY, n, alpha, at, x, xt, incx, y,  \
				yt, incy, et);                                 \
	}                                                                      \
	ENTRY(CopyEx##w, cublasHandle_t h, N n, const void *x, int xt, N incx, \
	      void *y, int yt, N incy)                                         \
	{                                                                      \
		return move_ex(h, VECTOR_COPY, n, x, xt, incx, y, yt, incy);   \
	}                                                                      \
	ENTRY(SwapEx##w, cublasHandle_t h, N n, void *x, int xt, N incx,       \
	      void *y, int yt, N incy)                                         \
	{                                                                      \
		return move_ex(h, VECTOR_SWAP, n, x, xt, incx, y, yt, incy);   \
	}                                                                      \
	ENTRY(IamaxEx##w, cublasHandle_t h, N n, const void *x, int xt,        \
	      N incx, N *result)                                               \
	{                                                                      \
		return find_ex(h, VECTOR_IAMAX, n, x, xt, incx, result,        \
			       sizeof(N));                                     \
	}                                                                      \
	ENTRY(IaminEx##w, cublasHandle_t h, N n, const void *x, int xt,        \
	      N incx, N *result)                                               \
	{                                                                      \
		return find_ex(h, VECTOR_IAMIN, n, x, xt, incx, result,        \
			       sizeof(N));                                     \
	}                                                                      \
	ENTRY(RotEx##w, cublasHandle_t h, N n, void *x, int xt, N incx,        \
	      void *y, int yt, N incy, const void *c, const void *s, int cst,  \
	      int et)                                                          \
	{                                                                      \
		return rotate_ex(h, n, x, xt, incx, y, yt, incy, c, s, cst,    \
				 et);                                          \
	}                                                                      \
	ENTRY(RotmEx##w, cublasHandle_t h, N n, void *x, int xt, N incx,       \
	      void *y, int yt, N incy, const void *param, int pt, int et)      \
	{                                                                      \
		return rotate_modified_ex(h, n, x, xt, incx, y, yt, incy,      \
					  param, pt, et);                      \
	}

BOTH(EX, )

ENTRY(RotgEx, cublasHandle_t h, void *a, void *b, int abt, void *c, void *s,
      int cst, int et)
{
	enum element ab = (enum element)abt, cs = (enum element)cst;
	struct types t = {ab, ab, cs, 0, (enum element)et};

	ENTER(h);
	if (!fits_execution(&t, false) || cs != ab)
		return CUBLAS_STATUS_NOT_SUPPORTED;
	return level1_make(h, LEVEL1_ROTG, t.execution, (void *[]){a, b, c, s},
			   (enum element[]){ab, ab, cs, cs});
}

ENTRY(RotmgEx, cublasHandle_t h, void *d1, int d1t, void *d2, int d2t, void *x1,
      int x1t, const void *y1, int y1t, void *param, int pt, int et)
{
	const enum element types[] = {(enum element)d1t, (enum element)d2t,
				      (enum element)x1t, (enum element)y1t,
				      (enum element)pt};
	void *points[] = {d1, d2, x1, (void *)(uintptr_t)y1, param};
	struct types t = {types[0], types[1], types[4], 0, (enum element)et};

	ENTER(h);
	if (!fits_execution(&t, false) || element_is_complex(t.x) ||
	    d1t != x1t || d1t != y1t || d1t != pt)
		return CUBLAS_STATUS_NOT_SUPPORTED;
	return level1_make(h, LEVEL1_ROTMG, t.execution, points, types);
}
