/* params.h - what the kernels take: descriptors by value. */
#ifndef GKF_CUSPARSE_PARAMS_H
#define GKF_CUSPARSE_PARAMS_H

#include "fronts/cusparse/sparse.h"

/* C = alpha op(A) op(B) + beta C, B and C dense. */
struct multiply {
	struct cusparseSpMatDescr a;
	struct cusparseDnMatDescr b, c;
	cusparseOperation_t op_a, op_b;
	struct scalar alpha, beta;
};

/* The entries of C = alpha op(A) op(B) + beta C, A and B dense. */
struct sample {
	struct cusparseDnMatDescr a, b;
	struct cusparseSpMatDescr c;
	cusparseOperation_t op_a, op_b;
	struct scalar alpha, beta;
};

/* Keeps the values of A for solving, all or those of the diagonal. */
struct solve_copy {
	struct cusparseSpMatDescr a;
	void *kept;
	const void *values;
	bool diagonal;
};

/* op(A) C = alpha op(B), A a triangle whose values were kept. */
struct solve {
	struct cusparseSpMatDescr a;
	struct cusparseDnMatDescr b, c;
	cusparseOperation_t op_a, op_b;
	struct scalar alpha;
};

/* C = alpha A B + beta C, all sparse. */
struct product {
	struct cusparseSpMatDescr a, b, c;
	struct scalar alpha, beta;
	int64_t *ret_nnz; /* the host's; its owner waits for the kernel */
};

struct densify {
	struct cusparseSpMatDescr sparse;
	struct cusparseDnMatDescr dense;
	int64_t *ret_nnz; /* the host's; its owner waits for the kernel */
};

/* alpha, beta: also the two numbers of a rotation. */
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
	void *to_values; /* NULL: the structure alone */
	int *to_offsets, *to_indices;
	cudaDataType type;
	cusparseIndexBase_t base;
};

/* Arrays of int: what they are depends on the kernel. */
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
	int *
	    ret_pivot; /* the host's: which one is zero, from the base; or -1 */
};

/* C = alpha A + beta B, of one type; rows are sorted. */
struct sum {
	struct cusparseSpMatDescr a, b, c;
	struct scalar alpha, beta;
	int *ret_nnz; /* where the number of entries goes besides C */
	bool nnz_on_host;
};

#endif
