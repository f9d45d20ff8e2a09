/* SPDX-License-Identifier: Apache-2.0 */
/*
 * level1.h - launches the level 1 kernel for the entry points.
 */
#ifndef GKF_CUBLAS_LEVEL1_H
#define GKF_CUBLAS_LEVEL1_H

#include "fronts/cublas/kernels.h"

/*
 * For each operation: whether it has y, which vectors it writes, and what it
 * returns.
 */
extern const struct level1_op {
	bool has_y, writes_x, writes_y, sums, finds;
} level1_ops[];

/* The types of x, y, alpha and the result, and the type in which to compute. */
struct types {
	enum element x, y, a, result, execution;
};

/*
 * Returns the type in which to compute with vectors of the given type; -1 if it
 * is not supported.
 */
int level1_type(enum element type);

/* Launches the kernel and waits for it if the result is in host memory. */
cublasStatus_t level1_launch(cublasHandle_t handle, struct level1 *l);

/* Launches axpy, or scal if y is NULL. */
cublasStatus_t level1_scale(cublasHandle_t handle, enum vector_op op,
			    const struct types *t, int64_t n, const void *alpha,
			    const void *x, int64_t incx, const void *y,
			    int64_t incy);

/* Launches dot, nrm2 or asum; y is NULL for the last two. */
cublasStatus_t level1_reduce(cublasHandle_t handle, enum vector_op op,
			     const struct types *t, int64_t n, const void *x,
			     int64_t incx, const void *y, int64_t incy,
			     void *result);

/* Launches iamax or iamin; `size` is the size of the index in bytes, 4 or 8. */
cublasStatus_t level1_find(cublasHandle_t handle, enum vector_op op,
			   enum element type, int64_t n, const void *x,
			   int64_t incx, void *result, size_t size);

cublasStatus_t level1_rotation(cublasHandle_t handle, const struct types *t,
			       enum element s_type, int64_t n, const void *x,
			       int64_t incx, const void *y, int64_t incy,
			       const void *c, const void *s);

cublasStatus_t level1_modified(cublasHandle_t handle, enum element type,
			       enum element param_type, int64_t n,
			       const void *x, int64_t incx, const void *y,
			       int64_t incy, const void *param);

/*
 * Launches rotg or rotmg. `points` has their arguments in order, each with its
 * type. In host pointer mode the result is computed at once, without a kernel.
 */
cublasStatus_t level1_make(cublasHandle_t handle, int op, enum element type,
			   void *const *points, const enum element *types);

/* Computes rotg or rotmg on host pointers. */
void level1_rotate(const struct level1 *l, void *const *points);

#endif
