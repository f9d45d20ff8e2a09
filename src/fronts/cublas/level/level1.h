/*
 * level1.h - launching the kernel of vectors: what its entry points share.
 */
#ifndef GKF_CUBLAS_LEVEL1_H
#define GKF_CUBLAS_LEVEL1_H

#include "fronts/cublas/kernels.h"

/* Which vectors an operation reads and writes, whether it has a result. */
extern const struct level1_op {
	bool has_y, writes_x, writes_y, sums, finds;
} level1_ops[];

/* Types of the parts, of x and y, of alpha, and of what is computed. */
struct types {
	enum element x, y, a, result, execution;
};

/* What vectors of a type are computed in; -1: they are not. */
int level1_type(enum element type);

/* Launches what has its vectors, and waits for a result of the host's. */
cublasStatus_t level1_launch(cublasHandle_t handle, struct level1 *l);

/* axpy, and scal without y. */
cublasStatus_t level1_scale(cublasHandle_t handle, enum vector_op op,
			    const struct types *t, int64_t n, const void *alpha,
			    const void *x, int64_t incx, const void *y,
			    int64_t incy);

/* Sums; y is NULL where there is one vector. */
cublasStatus_t level1_reduce(cublasHandle_t handle, enum vector_op op,
			     const struct types *t, int64_t n, const void *x,
			     int64_t incx, const void *y, int64_t incy,
			     void *result);

/* size: of an index, 4 or 8. */
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
 * rotg and rotmg: points are what they read and change, types theirs. In host
 * mode at once: nothing of the device is touched.
 */
cublasStatus_t level1_make(cublasHandle_t handle, int op, enum element type,
			   void *const *points, const enum element *types);

/* The rotation of one point, in memory of this process. */
void level1_rotate(const struct level1 *l, void *const *points);

#endif
