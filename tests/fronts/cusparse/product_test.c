/* SPDX-License-Identifier: Apache-2.0 */
/* product_test.c - checks SpGEMM, in one step and with the structure reused. */
#include "fronts/cusparse/sparse_test.h"

struct product {
	struct model a, b, expected;
	struct sparse_matrix sa, sb;
	cusparseSpMatDescr_t c;
	cusparseSpGEMMDescr_t step;
	struct number alpha, beta;
	cudaDataType type;
	int base;
	void *offsets, *indices, *values, *work;
	int64_t nnz;
};

static cusparseSpMatDescr_t new_matrix(const struct product *p)
{
	cusparseSpMatDescr_t c;

	assert_sparse(
	    SP(cusparseCreateCsr)(&c, p->a.rows, p->b.cols, 0, p->offsets, NULL,
				  NULL, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
				  (cusparseIndexBase_t)p->base, p->type),
	    SUCCESS);
	return c;
}

static void product_begin(struct product *p, cudaDataType type)
{
	struct sparse_kind kind = {.format = CUSPARSE_FORMAT_CSR,
				   .index = CUSPARSE_INDEX_32I};
	int m = throw_dice(7), n = throw_dice(7), k = throw_dice(7);
	double complex alpha = any_number(type);

	model_random(&p->a, m, k, type, 1 + throw_dice(4));
	model_random(&p->b, k, n, type, 1 + throw_dice(4));
	p->expected = model_product(alpha, &p->a, &p->b, 0, NULL);
	p->type = type;
	kind.base = throw_dice(2);
	p->sa = sparse_make(&p->a, type, kind);
	kind.base = p->base = throw_dice(2);
	p->sb = sparse_make(&p->b, type, kind);
	p->alpha = number_of(type, alpha);
	p->beta = number_of(type, 0);
	p->offsets = (void *)(uintptr_t)device_alloc(((size_t)m + 1) * 4);
	p->work = (void *)(uintptr_t)device_alloc(4096);
	p->c = new_matrix(p);
	assert_sparse(SP(cusparseSpGEMM_createDescr)(&p->step), SUCCESS);
}

/* C has as many entries as the product reaches positions. */
static void take_arrays(struct product *p)
{
	int64_t rows, cols, reached = 0;

	assert_sparse(SP(cusparseSpMatGetSize)(p->c, &rows, &cols, &p->nnz),
		      SUCCESS);
	for (int i = 0; i < p->a.rows; i++)
		for (int j = 0; j < p->b.cols; j++)
			for (int k = 0; k < p->a.cols; k++)
				if (p->a.at[i][k] != 0 && p->b.at[k][j] != 0) {
					reached++;
					break;
				}
	assert_int_equal(p->nnz, reached);
	p->indices = (void *)(uintptr_t)device_alloc((size_t)p->nnz * 4 + 1);
	p->values = (void *)(uintptr_t)device_alloc(
	    (size_t)p->nnz * type_size(p->type) + 1);
	assert_sparse(
	    SP(cusparseCsrSetPointers)(p->c, p->offsets, p->indices, p->values),
	    SUCCESS);
}

/* Checks that its rows are sorted, and that it equals the model. */
static void product_is(const struct product *p, const struct model *expected)
{
	int offsets[SIDE + 1], indices[SIDE * SIDE];
	double complex values[SIDE * SIDE];
	struct model got = {.rows = p->a.rows, .cols = p->b.cols};
	size_t n = (size_t)p->nnz;

	download(offsets, p->offsets, ((size_t)got.rows + 1) * 4);
	download(indices, p->indices, n * 4);
	download(values, p->values, n * type_size(p->type));
	if (got.rows)
		assert_int_equal(offsets[0], p->base);
	for (int i = 0; i < got.rows; i++)
		for (int k = offsets[i] - p->base; k < offsets[i + 1] - p->base;
		     k++) {
			int col = indices[k] - p->base;

			assert_true(k == offsets[i] - p->base ||
				    indices[k] > indices[k - 1]);
			got.at[i][col] = get(p->type, values, (size_t)k);
		}
	for (int i = 0; i < got.rows; i++)
		for (int j = 0; j < got.cols; j++)
			assert_true(got.at[i][j] == expected->at[i][j]);
}

static void product_end(struct product *p)
{
	assert_sparse(SP(cusparseSpGEMM_destroyDescr)(p->step), SUCCESS);
	assert_sparse(SP(cusparseDestroySpMat)(p->c), SUCCESS);
	sparse_drop(&p->sa);
	sparse_drop(&p->sb);
	drop(p->offsets);
	drop(p->indices);
	drop(p->values);
	drop(p->work);
}

#define OPERANDS(p)                                                            \
	sparse, 0, 0, (p)->alpha.bytes, (p)->sa.descr, (p)->sb.descr,          \
	    (p)->beta.bytes, (p)->c, (p)->type, CUSPARSE_SPGEMM_DEFAULT,       \
	    (p)->step

static const cudaDataType types[] = {CUDA_R_32F, CUDA_R_64F, CUDA_C_32F,
				     CUDA_C_64F};

static void check_product(cudaDataType type)
{
	static struct product p;
	size_t size = 0;

	product_begin(&p, type);
	assert_sparse(
	    SP(cusparseSpGEMM_workEstimation)(OPERANDS(&p), &size, NULL),
	    SUCCESS);
	assert_true(size > 0 && size <= 4096);
	assert_sparse(
	    SP(cusparseSpGEMM_workEstimation)(OPERANDS(&p), &size, p.work),
	    SUCCESS);
	size = 0;
	assert_sparse(SP(cusparseSpGEMM_compute)(OPERANDS(&p), &size, NULL),
		      SUCCESS);
	assert_true(size > 0 && size <= 4096);
	assert_sparse(SP(cusparseSpGEMM_compute)(OPERANDS(&p), &size, p.work),
		      SUCCESS);
	take_arrays(&p);
	assert_sparse(SP(cusparseSpGEMM_copy)(OPERANDS(&p)), SUCCESS);
	product_is(&p, &p.expected);
	product_end(&p);
}

static void sparse_matrices_are_multiplied(void **state)
{
	(void)state;
	for (int t = 0; t < 4; t++)
		for (int i = 0; i < 50; i++)
			check_product(types[t]);
}

#define REUSED(p)                                                              \
	sparse, 0, 0, (p)->sa.descr, (p)->sb.descr, (p)->c,                    \
	    CUSPARSE_SPGEMM_DEFAULT, (p)->step

/* Twice into one structure: the second adds to the first. */
static void check_reuse(cudaDataType type)
{
	static struct product p;
	static struct model twice;
	size_t size[5] = {0};

	product_begin(&p, type);
	assert_sparse(
	    SP(cusparseSpGEMMreuse_workEstimation)(REUSED(&p), size, NULL),
	    SUCCESS);
	assert_sparse(
	    SP(cusparseSpGEMMreuse_workEstimation)(REUSED(&p), size, p.work),
	    SUCCESS);
	assert_sparse(SP(cusparseSpGEMMreuse_nnz)(REUSED(&p), size + 1, NULL,
						  size + 2, NULL, size + 3,
						  NULL),
		      SUCCESS);
	assert_true(size[1] && size[2] && size[3]);
	assert_sparse(SP(cusparseSpGEMMreuse_nnz)(REUSED(&p), size + 1, p.work,
						  size + 2, p.work, size + 3,
						  p.work),
		      SUCCESS);
	take_arrays(&p);
	assert_sparse(SP(cusparseSpGEMMreuse_copy)(REUSED(&p), size + 4, NULL),
		      SUCCESS);
	assert_sparse(
	    SP(cusparseSpGEMMreuse_copy)(REUSED(&p), size + 4, p.work),
	    SUCCESS);
	assert_sparse(SP(cusparseSpGEMMreuse_compute)(OPERANDS(&p)), SUCCESS);
	product_is(&p, &p.expected);
	twice = model_product(1, &p.a, &p.b, 0, NULL);
	for (int i = 0; i < twice.rows; i++)
		for (int j = 0; j < twice.cols; j++)
			twice.at[i][j] = 3 * p.expected.at[i][j];
	p.beta = number_of(type, 2);
	assert_sparse(SP(cusparseSpGEMMreuse_compute)(OPERANDS(&p)), SUCCESS);
	product_is(&p, &twice);
	product_end(&p);
}

static void a_structure_is_used_again(void **state)
{
	(void)state;
	for (int t = 0; t < 4; t++)
		for (int i = 0; i < 30; i++)
			check_reuse(types[t]);
}

static void what_is_not_done_is_refused(void **state)
{
	static struct product p;
	size_t size = 0;

	(void)state;
	do {
		if (p.c)
			product_end(&p);
		product_begin(&p, CUDA_R_64F);
		assert_sparse(SP(cusparseSpGEMM_estimateMemory)(
				  OPERANDS(&p), 0.5f, &size, NULL, NULL),
			      SUCCESS);
		assert_sparse(SP(cusparseSpGEMM_estimateMemory)(
				  OPERANDS(&p), 0.5f, NULL, p.work, &size),
			      SUCCESS);
		assert_sparse(SP(cusparseSpGEMM_estimateMemory)(
				  OPERANDS(&p), 2, &size, NULL, NULL),
			      INVALID_VALUE);
		assert_sparse(
		    SP(cusparseSpGEMM_compute)(OPERANDS(&p), &size, p.work),
		    SUCCESS);
		take_arrays(&p);
	} while (p.a.rows != p.a.cols || p.a.rows != p.b.cols || !p.a.rows);
	p.beta = number_of(p.type, 1);
	assert_sparse(SP(cusparseSpGEMM_copy)(OPERANDS(&p)), NOT_SUPPORTED);
	assert_sparse(SP(cusparseSpGEMM_compute)(
			  sparse, 1, 0, p.alpha.bytes, p.sa.descr, p.sb.descr,
			  p.beta.bytes, p.c, p.type, 0, p.step, &size, NULL),
		      NOT_SUPPORTED);
	assert_sparse(SP(cusparseSpGEMM_compute)(sparse, 0, 0, p.alpha.bytes,
						 p.sa.descr, p.sb.descr,
						 p.beta.bytes, p.c, CUDA_R_32F,
						 0, p.step, &size, NULL),
		      NOT_SUPPORTED);
	assert_sparse(SP(cusparseSpGEMM_compute)(
			  sparse, 0, 0, p.alpha.bytes, p.sa.descr, NULL,
			  p.beta.bytes, p.c, p.type, 0, p.step, &size, NULL),
		      INVALID_VALUE);
	product_end(&p);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(sparse_matrices_are_multiplied),
    cmocka_unit_test(a_structure_is_used_again),
    cmocka_unit_test(what_is_not_done_is_refused),
};

SPARSE_MAIN("cusparse-product", tests)
