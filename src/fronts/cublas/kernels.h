/*
 * kernels.h - the parameters of libcublas' kernels: what an entry point tells
 * its body. Addresses of the device are uint64_t.
 */
#ifndef GKF_CUBLAS_KERNELS_H
#define GKF_CUBLAS_KERNELS_H

#include "fronts/cublas/blas.h"
#include "fronts/cublas/matrix.h"
#include "fronts/cublas/vector.h"

/* What is not in enum vector_op: rotations of one point. */
enum { LEVEL1_ROTG = VECTOR_ROTM + 1, LEVEL1_ROTMG };

struct level1 {
	int op;            /* enum vector_op and those above */
	enum element type; /* what is computed in */
	enum element x_type, y_type;
	int64_t n, incx, incy;
	uint64_t x, y;
	struct scalar a, s; /* alpha; cosine and sine */
	struct result result;
	enum element result_type;
	size_t index_size; /* 4 or 8, of iamax and iamin */
	uint64_t param;    /* rotm's on the device; 0: values */
	double params[5];
	enum element param_type;
	uint64_t points[5]; /* what rotg and rotmg change */
	enum element point_types[5];
};

struct level2 {
	struct matrix matrix; /* without its data */
	int op;               /* enum matrix_op */
	enum operation trans;
	uint64_t a, x, y;
	int64_t incx, incy;
	struct scalar alpha, beta;
};

/* One product, or many: of strides, or of arrays of addresses. */
struct gemm_call {
	struct gemm gemm; /* without pointers and factors */
	uint64_t a, b, c;
	int64_t stride_a, stride_b, stride_c;
	int64_t count;
	bool arrays; /* a, b, c are arrays of addresses on the device */
	int64_t incx, incy;
	bool vectors; /* b and c are vectors, incx and incy apart: gemv */
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
	enum element a_type; /* another one is converted first */
	enum side side;
	enum fill uplo;
	enum operation trans;
	enum diagonal diag;
	int64_t m, n, k;
	uint64_t a, b, c;
	int64_t lda, ldb, ldc;
	struct scalar alpha, beta;
	int64_t count; /* of trsmBatched: a and b are arrays of addresses */
	bool arrays;
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
	uint64_t pivots, info; /* arrays of int; 0: none */
	int lda, ldc;
	int count;
};

#endif
