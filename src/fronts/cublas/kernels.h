/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernels.h - the parameters of libcublas' kernels, which entry points pass to
 * the kernels' bodies. Device addresses are uint64_t.
 */
#ifndef GKF_CUBLAS_KERNELS_H
#define GKF_CUBLAS_KERNELS_H

#include "fronts/cublas/blas.h"
#include "fronts/cublas/level/matrix.h"
#include "fronts/cublas/level/vector.h"

/*
 * Additional operations of level 1, which compute rotations. Their numbers
 * follow those of enum vector_op.
 */
enum { LEVEL1_ROTG = VECTOR_ROTM + 1, LEVEL1_ROTMG };

struct level1 {
	int op;            /* enum vector_op, or LEVEL1_ROTG, LEVEL1_ROTMG */
	enum element type; /* the type in which to compute */
	enum element x_type, y_type;
	int64_t n, incx, incy;
	uint64_t x, y;
	struct scalar a, s; /* `a` is alpha or the cosine, `s` the sine */
	struct result result;
	enum element result_type;
	size_t index_size; /* bytes of iamax's and iamin's result: 4 or 8 */
	/* device address of rotm's parameters; 0: use `params` */
	uint64_t param;
	double params[5];
	enum element param_type;
	uint64_t points[5]; /* arguments of rotg or rotmg, in order */
	enum element point_types[5];
};

struct level2 {
	/* matrix.data is not set: `a` is the device address */
	struct matrix matrix;
	int op; /* enum matrix_op */
	enum operation trans;
	uint64_t a, x, y;
	int64_t incx, incy;
	struct scalar alpha, beta;
};

/* One product, or a batch given by strides or by arrays of addresses. */
struct gemm_call {
	struct gemm gemm; /* the pointers, alpha and beta in it are not used */
	uint64_t a, b, c;
	int64_t stride_a, stride_b, stride_c;
	int64_t count;
	bool arrays; /* a, b, c are device arrays of addresses */
	int64_t incx, incy;
	bool vectors; /* gemv: b and c are vectors */
	struct scalar alpha, beta;
};

enum level3_op {
	LEVEL3_SYMM,
	LEVEL3_HEMM,
	LEVEL3_SYRK,
	LEVEL3_HERK,
	LEVEL3_SYR2K,
	LEVEL3_HER2K,
	LEVEL3_SYRKX,
	LEVEL3_HERKX,
	LEVEL3_TRMM,
	LEVEL3_TRSM,
};

struct level3 {
	enum level3_op op;
	enum element type;
	/* type of A, which is converted if it differs from `type` */
	enum element a_type;
	enum side side;
	enum fill uplo;
	enum operation trans;
	enum diagonal diag;
	int64_t m, n, k;
	uint64_t a, b, c;
	int64_t lda, ldb, ldc;
	struct scalar alpha, beta;
	int64_t count; /* number of matrices in a batch */
	bool arrays;   /* trsmBatched: a and b are arrays of addresses */
};

enum extension_op {
	EXTENSION_GEAM,
	EXTENSION_DGMM,
	EXTENSION_TPTTR,
	EXTENSION_TRTTP
};

struct extension {
	enum extension_op op;
	enum element type;
	enum operation trans_a, trans_b;
	int side_or_uplo;
	int64_t m, n;
	uint64_t a, b, c;
	int64_t lda, ldb, ldc, incx;
	struct scalar alpha, beta;
};

enum batched_op {
	BATCHED_GETRF,
	BATCHED_GETRI,
	BATCHED_GETRS,
	BATCHED_GEQRF,
	BATCHED_GELS,
	BATCHED_MATINV,
};

struct batched {
	enum batched_op op;
	enum element type;
	enum operation trans;
	int m, n, nrhs;
	uint64_t a, c;         /* arrays of addresses */
	uint64_t pivots, info; /* arrays of int, or 0 */
	int lda, ldc;
	int count;
};

/* The kernels that cuBLAS handles launch (kernels.c). */
extern struct native_library blas_kernels;

#endif
