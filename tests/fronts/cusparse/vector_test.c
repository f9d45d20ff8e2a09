/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vector_test.c - checks sparse vectors with dense ones. x = {1: 3, 4: -2} of
 * 5, y = 1 2 3 4 5.
 */
#include "fronts/cusparse/sparse_test.h"

struct pair {
	cusparseSpVecDescr_t x;
	cusparseDnVecDescr_t y;
	cudaDataType type;
	void *indices, *x_at, *y_at;
};

static const cudaDataType types[] = {CUDA_R_32F, CUDA_R_64F, CUDA_C_32F,
				     CUDA_C_64F, CUDA_R_16F, CUDA_R_16BF};

static cudaDataType compute_of(cudaDataType type)
{
	return type == CUDA_R_16F || type == CUDA_R_16BF ? CUDA_R_32F : type;
}

/* The imaginary unit, where the type has one; else 1. */
static double complex unit_of(cudaDataType type)
{
	return type_is_complex(type) ? __builtin_complex(0.0, 1.0) : 1;
}

static void pair_begin(struct pair *p, cudaDataType type, int base)
{
	char x[32], y[80];
	const int64_t indices[] = {1 + base, 4 + base};

	p->type = type;
	put(type, x, 0, 3 * unit_of(type));
	put(type, x, 1, -2);
	for (int i = 0; i < 5; i++)
		put(type, y, (size_t)i, i + 1);
	p->indices = upload(indices, sizeof indices);
	p->x_at = upload(x, 2 * type_size(type));
	p->y_at = upload(y, 5 * type_size(type));
	assert_sparse(SP(cusparseCreateSpVec)(&p->x, 5, 2, p->indices, p->x_at,
					      CUSPARSE_INDEX_64I,
					      (cusparseIndexBase_t)base, type),
		      SUCCESS);
	assert_sparse(SP(cusparseCreateDnVec)(&p->y, 5, p->y_at, type),
		      SUCCESS);
}

static void pair_end(struct pair *p)
{
	assert_sparse(SP(cusparseDestroySpVec)(p->x), SUCCESS);
	assert_sparse(SP(cusparseDestroyDnVec)(p->y), SUCCESS);
	drop(p->indices);
	drop(p->x_at);
	drop(p->y_at);
}

static void holds(const struct pair *p, const void *at, int n,
		  const double complex *expected)
{
	char bytes[80];

	download(bytes, at, (size_t)n * type_size(p->type));
	for (int i = 0; i < n; i++)
		assert_true(get(p->type, bytes, (size_t)i) == expected[i]);
}

/* Calls `body` for each type, with each base. */
static void for_each(void (*body)(struct pair *p, double complex u))
{
	struct pair p;

	for (int i = 0; i < 12; i++) {
		pair_begin(&p, types[i / 2], i % 2);
		body(&p, unit_of(types[i / 2]));
		pair_end(&p);
	}
}

static void axpby(struct pair *p, double complex u)
{
	const double complex expected[] = {3, 6 + 6 * u, 9, 12, 15 - 4};
	struct number alpha = number_of(compute_of(p->type), 2),
		      beta = number_of(compute_of(p->type), 3);

	assert_sparse(
	    SP(cusparseAxpby)(sparse, alpha.bytes, p->x, beta.bytes, p->y),
	    SUCCESS);
	holds(p, p->y_at, 5, expected);
	assert_sparse(SP(cusparseAxpby)(sparse, NULL, p->x, beta.bytes, p->y),
		      INVALID_VALUE);
}

static void multiples_are_added(void **state)
{
	(void)state;
	for_each(axpby);
}

static void gather_and_scatter(struct pair *p, double complex u)
{
	const double complex scattered[] = {1, 3 * u, 3, 4, -2},
			     gathered[] = {2, 5};
	char y[80];

	download(y, p->y_at, 5 * type_size(p->type));
	assert_sparse(SP(cusparseScatter)(sparse, p->x, p->y), SUCCESS);
	holds(p, p->y_at, 5, scattered);
	assert_cuda(
	    CU(cuMemcpyHtoD_v2)((uintptr_t)p->y_at, y, 5 * type_size(p->type)),
	    SUCCESS);
	assert_sparse(SP(cusparseGather)(sparse, p->y, p->x), SUCCESS);
	holds(p, p->x_at, 2, gathered);
}

static void entries_are_gathered_and_scattered(void **state)
{
	(void)state;
	for_each(gather_and_scatter);
}

static void rotate(struct pair *p, double complex u)
{
	const double complex x[] = {2 * 3 * u + 4 * 2, 2 * -2 + 4 * 5},
			     y[] = {1, 2 * 2 - 4 * 3 * u, 3, 4, 2 * 5 - 4 * -2};
	struct number c = number_of(compute_of(p->type), 2),
		      s = number_of(compute_of(p->type), 4);

	assert_sparse(SP(cusparseRot)(sparse, c.bytes, s.bytes, p->x, p->y),
		      SUCCESS);
	holds(p, p->x_at, 2, x);
	holds(p, p->y_at, 5, y);
}

static void pairs_are_rotated(void **state)
{
	(void)state;
	for_each(rotate);
}

/* The host has the result when the call returns; the device in stream order. */
static void dot(struct pair *p, double complex u)
{
	cudaDataType compute = compute_of(p->type);
	size_t size = 0;
	char result[16];
	void *at = upload(result, sizeof result);

#define DOT(op, to) sparse, op, p->x, p->y, to, compute
	assert_sparse(SP(cusparseSpVV_bufferSize)(DOT(0, result), &size),
		      SUCCESS);
	assert_sparse(SP(cusparseSpVV)(DOT(0, result), NULL), SUCCESS);
	assert_true(get(compute, result, 0) == 6 * u - 10);
	assert_sparse(
	    SP(cusparseSetPointerMode)(sparse, CUSPARSE_POINTER_MODE_DEVICE),
	    SUCCESS);
	assert_sparse(
	    SP(cusparseSpVV)(DOT(CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE, at),
			     NULL),
	    SUCCESS);
	assert_sparse(
	    SP(cusparseSetPointerMode)(sparse, CUSPARSE_POINTER_MODE_HOST),
	    SUCCESS);
	download(result, at, sizeof result);
	assert_true(get(compute, result, 0) == 6 * conj(u) - 10);
	assert_sparse(
	    SP(cusparseSpVV)(sparse, 0, p->x, p->y, result, CUDA_R_8I, NULL),
	    NOT_SUPPORTED);
	drop(at);
}

static void products_of_vectors_are_summed(void **state)
{
	(void)state;
	for_each(dot);
}

static void descriptors_tell_what_they_were_given(void **state)
{
	struct pair p;
	int64_t size = 0, nnz = 0;
	void *indices, *values;
	const void *fixed, *other;
	cusparseIndexType_t index;
	cusparseIndexBase_t base;
	cudaDataType type;
	cusparseConstSpVecDescr_t cx;
	cusparseConstDnVecDescr_t cy;

	(void)state;
	pair_begin(&p, CUDA_C_32F, 1);
	assert_sparse(SP(cusparseSpVecGet)(p.x, &size, &nnz, &indices, &values,
					   &index, &base, &type),
		      SUCCESS);
	assert_true(size == 5 && nnz == 2 && indices == p.indices &&
		    values == p.x_at && index == CUSPARSE_INDEX_64I &&
		    base == CUSPARSE_INDEX_BASE_ONE && type == CUDA_C_32F);
	assert_sparse(SP(cusparseSpVecGetIndexBase)(p.x, &base), SUCCESS);
	assert_int_equal(base, CUSPARSE_INDEX_BASE_ONE);
	assert_sparse(SP(cusparseSpVecSetValues)(p.x, p.y_at), SUCCESS);
	assert_sparse(SP(cusparseSpVecGetValues)(p.x, &values), SUCCESS);
	assert_ptr_equal(values, p.y_at);
	assert_sparse(SP(cusparseConstSpVecGetValues)(p.x, &fixed), SUCCESS);
	assert_ptr_equal(fixed, p.y_at);
	assert_sparse(SP(cusparseDnVecGet)(p.y, &size, &values, &type),
		      SUCCESS);
	assert_true(size == 5 && values == p.y_at && type == CUDA_C_32F);
	assert_sparse(SP(cusparseDnVecSetValues)(p.y, p.x_at), SUCCESS);
	assert_sparse(SP(cusparseDnVecGetValues)(p.y, &values), SUCCESS);
	assert_ptr_equal(values, p.x_at);
	assert_sparse(SP(cusparseConstDnVecGetValues)(p.y, &fixed), SUCCESS);
	assert_ptr_equal(fixed, p.x_at);
	assert_sparse(SP(cusparseCreateConstSpVec)(&cx, 9, 1, p.indices, p.x_at,
						   CUSPARSE_INDEX_32I, 0,
						   CUDA_R_16F),
		      SUCCESS);
	assert_sparse(SP(cusparseConstSpVecGet)(cx, &size, &nnz, &fixed, &other,
						&index, &base, &type),
		      SUCCESS);
	assert_true(size == 9 && nnz == 1 && fixed == p.indices &&
		    type == CUDA_R_16F && index == CUSPARSE_INDEX_32I);
	assert_sparse(SP(cusparseCreateConstDnVec)(&cy, 3, p.x_at, CUDA_R_64F),
		      SUCCESS);
	assert_sparse(SP(cusparseConstDnVecGet)(cy, &size, &fixed, &type),
		      SUCCESS);
	assert_true(size == 3 && fixed == p.x_at && type == CUDA_R_64F);
	assert_sparse(SP(cusparseDestroySpVec)(cx), SUCCESS);
	assert_sparse(SP(cusparseDestroyDnVec)(cy), SUCCESS);
	pair_end(&p);
}

static void descriptors_of_nonsense_are_refused(void **state)
{
	cusparseSpVecDescr_t x = NULL;
	cusparseDnVecDescr_t y = NULL;
	int at[4];

	(void)state;
#define SPVEC(...) SP(cusparseCreateSpVec)(&x, __VA_ARGS__)
	assert_sparse(SPVEC(-1, 0, at, at, 2, 0, CUDA_R_32F), INVALID_VALUE);
	assert_sparse(SPVEC(2, 3, at, at, 2, 0, CUDA_R_32F), INVALID_VALUE);
	assert_sparse(SPVEC(2, 1, NULL, at, 2, 0, CUDA_R_32F), INVALID_VALUE);
	assert_sparse(SPVEC(2, 1, at, at, 4, 0, CUDA_R_32F), INVALID_VALUE);
	assert_sparse(SPVEC(2, 1, at, at, 2, 2, CUDA_R_32F), INVALID_VALUE);
	assert_sparse(SPVEC(2, 1, at, at, 2, 0, 99), INVALID_VALUE);
	assert_null(x);
	assert_sparse(SP(cusparseCreateDnVec)(&y, -1, at, CUDA_R_32F),
		      INVALID_VALUE);
	assert_sparse(SP(cusparseCreateDnVec)(&y, 1, NULL, CUDA_R_32F),
		      INVALID_VALUE);
	assert_sparse(SP(cusparseCreateDnVec)(NULL, 1, at, CUDA_R_32F),
		      INVALID_VALUE);
	assert_null(y);
	assert_sparse(SP(cusparseScatter)(sparse, NULL, NULL), INVALID_VALUE);
	assert_sparse(SP(cusparseGather)(NULL, NULL, NULL), NOT_INITIALIZED);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(multiples_are_added),
    cmocka_unit_test(entries_are_gathered_and_scattered),
    cmocka_unit_test(pairs_are_rotated),
    cmocka_unit_test(products_of_vectors_are_summed),
    cmocka_unit_test(descriptors_tell_what_they_were_given),
    cmocka_unit_test(descriptors_of_nonsense_are_refused),
};

SPARSE_MAIN("cusparse-vector", tests)
