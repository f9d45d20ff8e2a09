/* SPDX-License-Identifier: Apache-2.0 */
/* params.h - the parameters of kernels. They contain descriptors by value. */
#ifndef GKF_CUSPARSE_PARAMS_H
#define GKF_CUSPARSE_PARAMS_H

#include "fronts/cusparse/sparse.h"

/* C = alpha op(A) op(B) + beta C, where B and C are dense. */
struct multiply {
	struct cusparseSpMatDescr a;
	struct cusparseDnMatDescr b, c;
	cusparseOperation_t op_a, op_b;
	struct scalar alpha, beta;
};

/*
 * C = alpha op(A) op(B) + beta C, computed only at C's entries; A and B are
 * dense.
 */
struct sample {
	struct cusparseDnMatDescr a, b;
	struct cusparseSpMatDescr c;
	cusparseOperation_t op_a, op_b;
	struct scalar alpha, beta;
};

/* Copies A's values, either all or only the diagonal, for solving later. */
struct solve_copy {
	struct cusparseSpMatDescr a;
	void *kept;
	const void *values;
	bool diagonal;
};

/*
 * Solves op(A) C = alpha op(B) for C. A is a triangle whose values were copied.
 */
struct solve {
	struct cusparseSpMatDescr a;
	struct cusparseDnMatDescr b, c;
	cusparseOperation_t op_a, op_b;
	struct scalar alpha;
};

/* C = alpha A B + beta C, where all matrices are sparse. */
struct product {
	struct cusparseSpMatDescr a, b, c;
	struct scalar alpha, beta;
	int64_t *ret_nnz; /* in host memory that outlives the kernel */
};

struct densify {
	struct cusparseSpMatDescr sparse;
	struct cusparseDnMatDescr dense;
	int64_t *ret_nnz; /* in host memory that outlives the kernel */
};

/*
 * Operations on a sparse and a dense vector. For a rotation, alpha is the
 * cosine and beta the sine.
 */
struct vectors {
	struct cusparseSpVecDescr x;
	struct cusparseDnVecDescr y;
	cusparseOperation_t op;
	struct scalar alpha, beta;
	void *result;
	bool result_on_host;
};

struct transpose {
	int rows, cols, nnz;
	const void *values;
	const int *offsets, *indices;
	void *to_values; /* NULL: convert only the structure */
	int *to_offsets, *to_indices;
	cudaDataType type;
	cusparseIndexBase_t base;
};

/* Arrays of int, whose meaning depends on the kernel. */
struct indices {
	int rows, count;
	const int *from;
	int *to, *second, *permutation;
	cusparseIndexBase_t base;
	bool by_column;
};

/* An incomplete factorisation in place. */
struct factor {
	struct cusparseSpMatDescr a;
	/*
	 * The row of the first zero pivot, counted from base, or -1; in host
	 * memory.
	 */
	int *ret_pivot;
};

/* C = alpha A + beta B. All have one type, and their rows are sorted. */
struct sum {
	struct cusparseSpMatDescr a, b, c;
	struct scalar alpha, beta;
	int *ret_nnz; /* receives the number of C's entries */
	bool nnz_on_host;
};

#endif
