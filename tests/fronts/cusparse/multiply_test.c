/* SPDX-License-Identifier: Apache-2.0 */
/*
 * multiply_test.c - compares SpMV, SpMM and SDDMM with loops over dense
 * matrices.
 */
#include "fronts/cusparse/sparse_test.h"

static const struct types {
	cudaDataType a, b, c, compute;
} types[] = {
    {CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F},
    {CUDA_R_64F, CUDA_R_64F, CUDA_R_64F, CUDA_R_64F},
    {CUDA_C_32F, CUDA_C_32F, CUDA_C_32F, CUDA_C_32F},
    {CUDA_C_64F, CUDA_C_64F, CUDA_C_64F, CUDA_C_64F},
    {CUDA_R_16F, CUDA_R_16F, CUDA_R_16F, CUDA_R_32F},
    {CUDA_R_16F, CUDA_R_16F, CUDA_R_32F, CUDA_R_32F},
    {CUDA_R_16BF, CUDA_R_16BF, CUDA_R_16BF, CUDA_R_32F},
    {CUDA_R_16BF, CUDA_R_16BF, CUDA_R_32F, CUDA_R_32F},
    {CUDA_R_8I, CUDA_R_8I, CUDA_R_32I, CUDA_R_32I},
    {CUDA_R_8I, CUDA_R_8I, CUDA_R_32F, CUDA_R_32F},
    {CUDA_R_32F, CUDA_R_64F, CUDA_R_64F, CUDA_R_64F},
};
#define TYPES (int)(sizeof types / sizeof *types)

static const cusparseFormat_t formats[] = {
    CUSPARSE_FORMAT_CSR, CUSPARSE_FORMAT_CSC, CUSPARSE_FORMAT_COO,
    CUSPARSE_FORMAT_BSR};

static struct sparse_kind any_kind(cusparseFormat_t format)
{
	return (struct sparse_kind){.format = format,
				    .index = throw_dice(2) ? CUSPARSE_INDEX_32I
							   : CUSPARSE_INDEX_64I,
				    .base = throw_dice(2),
				    .block_rows = 1 + throw_dice(3),
				    .block_cols = 1 + throw_dice(3),
				    .block_by_col = throw_dice(2)};
}

/* 0, 1 or a few, as a multiple of the block's size. */
static int any_side(int block)
{
	static const int sides[] = {0, 1, 2, 5, 8};

	return sides[throw_dice(5)] * block;
}

/* Where beta is 0 the old content is not read, not even NaN. */
static double complex any_beta(const struct types *t, struct model *c)
{
	double complex beta = throw_dice(3) ? any_number(t->compute) : 0;

	for (int i = 0; beta == 0 && i < c->rows; i++)
		for (int j = 0; j < c->cols; j++)
			c->at[i][j] = (double)NAN;
	return beta;
}

struct product {
	struct model a, b, c, expected;
	double complex alpha, beta;
	cusparseOperation_t op_a, op_b;
};

/* op(a) is rows x inner, op(b) is inner x cols. */
static void any_product(struct product *p, const struct types *t,
			const struct sparse_kind *kind, int cols, bool op_b)
{
	bool bsr = kind->format == CUSPARSE_FORMAT_BSR;
	int m = any_side(bsr ? kind->block_rows : 1),
	    n = any_side(bsr ? kind->block_cols : 1);
	struct model a, b;

	p->op_a = any_operation();
	p->op_b = op_b ? any_operation() : CUSPARSE_OPERATION_NON_TRANSPOSE;
	model_random(&p->a, m, n, t->a, 1 + throw_dice(6));
	a = model_op(&p->a, p->op_a);
	if (p->op_b == CUSPARSE_OPERATION_NON_TRANSPOSE)
		model_random(&p->b, a.cols, cols, t->b, 1);
	else
		model_random(&p->b, cols, a.cols, t->b, 1);
	b = model_op(&p->b, p->op_b);
	model_random(&p->c, a.rows, cols, t->c, 1);
	p->alpha = any_number(t->compute);
	p->beta = any_beta(t, &p->c);
	p->expected = model_product(p->alpha, &a, &b, p->beta, &p->c);
}

static void check_spmm(const struct types *t, cusparseFormat_t format)
{
	static struct product p;
	struct sparse_kind kind = any_kind(format);
	struct sparse_matrix a;
	struct dense_matrix b, c;
	struct number alpha, beta;
	size_t size = 0;
	void *buffer;

	any_product(&p, t, &kind, throw_dice(4) ? throw_dice(6) : 37, true);
	a = sparse_make(&p.a, t->a, kind);
	b = dense_make(&p.b, t->b, throw_dice(2), throw_dice(3));
	c = dense_make(&p.c, t->c, throw_dice(2), throw_dice(3));
	alpha = number_of(t->compute, p.alpha);
	beta = number_of(t->compute, p.beta);
	assert_sparse(SP(cusparseSpMM_bufferSize)(
			  sparse, p.op_a, p.op_b, alpha.bytes, a.descr, b.descr,
			  beta.bytes, c.descr, t->compute,
			  CUSPARSE_SPMM_ALG_DEFAULT, &size),
		      SUCCESS);
	buffer = (void *)(uintptr_t)device_alloc(size);
	assert_sparse(SP(cusparseSpMM_preprocess)(
			  sparse, p.op_a, p.op_b, alpha.bytes, a.descr, b.descr,
			  beta.bytes, c.descr, t->compute,
			  CUSPARSE_SPMM_ALG_DEFAULT, buffer),
		      SUCCESS);
	assert_sparse(SP(cusparseSpMM)(sparse, p.op_a, p.op_b, alpha.bytes,
				       a.descr, b.descr, beta.bytes, c.descr,
				       t->compute, CUSPARSE_SPMM_ALG_DEFAULT,
				       buffer),
		      SUCCESS);
	dense_is(&c, &p.expected);
	sparse_drop(&a);
	dense_drop(&b);
	dense_drop(&c);
	drop(buffer);
}

static void a_sparse_matrix_times_a_dense_one_is_exact(void **state)
{
	(void)state;
	for (int f = 0; f < 4; f++)
		for (int t = 0; t < TYPES; t++)
			for (int i = 0; i < 12; i++)
				check_spmm(&types[t], formats[f]);
}

/* alpha and beta in device memory; y as a vector. */
static void check_spmv(const struct types *t, cusparseFormat_t format)
{
	static struct product p;
	struct sparse_kind kind = any_kind(format);
	struct sparse_matrix a;
	struct dense_matrix x, y;
	cusparseDnVecDescr_t vx, vy;
	struct number host[2];
	char *scale;
	size_t size = 0;

	any_product(&p, t, &kind, 1, false);
	a = sparse_make(&p.a, t->a, kind);
	x = dense_make(&p.b, t->b, true, 0);
	y = dense_make(&p.c, t->c, true, 0);
	host[0] = number_of(t->compute, p.alpha);
	host[1] = number_of(t->compute, p.beta);
	scale = upload(host, sizeof host);
	assert_sparse(SP(cusparseCreateDnVec)(&vx, x.rows, x.at, t->b),
		      SUCCESS);
	assert_sparse(SP(cusparseCreateDnVec)(&vy, y.rows, y.at, t->c),
		      SUCCESS);
	assert_sparse(
	    SP(cusparseSetPointerMode)(sparse, CUSPARSE_POINTER_MODE_DEVICE),
	    SUCCESS);
	assert_sparse(SP(cusparseSpMV_bufferSize)(
			  sparse, p.op_a, scale, a.descr, vx, scale + 16, vy,
			  t->compute, CUSPARSE_SPMV_ALG_DEFAULT, &size),
		      SUCCESS);
	assert_true(size > 0);
	assert_sparse(SP(cusparseSpMV_preprocess)(
			  sparse, p.op_a, scale, a.descr, vx, scale + 16, vy,
			  t->compute, CUSPARSE_SPMV_ALG_DEFAULT, x.at),
		      SUCCESS);
	assert_sparse(SP(cusparseSpMV)(sparse, p.op_a, scale, a.descr, vx,
				       scale + 16, vy, t->compute,
				       CUSPARSE_SPMV_ALG_DEFAULT, NULL),
		      SUCCESS);
	dense_is(&y, &p.expected);
	assert_sparse(
	    SP(cusparseSetPointerMode)(sparse, CUSPARSE_POINTER_MODE_HOST),
	    SUCCESS);
	assert_sparse(SP(cusparseDestroyDnVec)(vx), SUCCESS);
	assert_sparse(SP(cusparseDestroyDnVec)(vy), SUCCESS);
	sparse_drop(&a);
	dense_drop(&x);
	dense_drop(&y);
	drop(scale);
}

static void a_sparse_matrix_times_a_vector_is_exact(void **state)
{
	(void)state;
	for (int f = 0; f < 4; f++)
		for (int t = 0; t < TYPES; t++)
			for (int i = 0; i < 12; i++)
				check_spmv(&types[t], formats[f]);
}

/* Three matrices one after the other that share one structure. */
static void batches_are_a_product_each(void **state)
{
	const int offsets[] = {0, 1, 2}, columns[] = {1, 0};
	const float values[] = {1, 2, 3, 4, 5, 6}, b[] = {10, 1},
		    expected[] = {1, 20, 3, 40, 5, 60};
	const float alpha = 1, beta = 0;
	void *at[] = {upload(offsets, sizeof offsets),
		      upload(columns, sizeof columns),
		      upload(values, sizeof values), upload(b, sizeof b),
		      upload(values, sizeof values)};
	cusparseSpMatDescr_t sa;
	cusparseDnMatDescr_t db, dc;
	float c[6];
	int count = 0;

	(void)state;
	assert_sparse(
	    SP(cusparseCreateCsr)(&sa, 2, 2, 2, at[0], at[1], at[2],
				  CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
				  CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F),
	    SUCCESS);
	assert_sparse(SP(cusparseCsrSetStridedBatch)(sa, 0, 0, 2),
		      INVALID_VALUE);
	assert_sparse(SP(cusparseCooSetStridedBatch)(sa, 3, 2), INVALID_VALUE);
	assert_sparse(SP(cusparseBsrSetStridedBatch)(sa, 3, 0, 0, 2),
		      INVALID_VALUE);
	assert_sparse(SP(cusparseCsrSetStridedBatch)(sa, 3, 0, 0), SUCCESS);
	assert_sparse(SP(cusparseSpMatGetStridedBatch)(sa, &count), SUCCESS);
	assert_int_equal(count, 3);
	assert_sparse(SP(cusparseCreateDnMat)(&db, 2, 1, 2, at[3], CUDA_R_32F,
					      CUSPARSE_ORDER_COL),
		      SUCCESS);
	assert_sparse(SP(cusparseCreateDnMat)(&dc, 2, 1, 2, at[4], CUDA_R_32F,
					      CUSPARSE_ORDER_COL),
		      SUCCESS);
	assert_sparse(SP(cusparseDnMatSetStridedBatch)(dc, 2, 2), SUCCESS);
	/* Two matrices C for three A: */
	assert_sparse(SP(cusparseSpMM)(sparse, 0, 0, &alpha, sa, db, &beta, dc,
				       CUDA_R_32F, 0, NULL),
		      INVALID_VALUE);
	assert_sparse(SP(cusparseDnMatSetStridedBatch)(dc, 3, 2), SUCCESS);
	assert_sparse(SP(cusparseSpMM)(sparse, 0, 0, &alpha, sa, db, &beta, dc,
				       CUDA_R_32F, 0, NULL),
		      SUCCESS);
	download(c, at[4], sizeof c);
	/*
	 * Columns and values have one stride, here 0: all are the first matrix.
	 */
	for (int i = 0; i < 6; i++)
		assert_true(c[i] == (i % 2 ? 20 : 1));
	assert_sparse(SP(cusparseDestroySpMat)(sa), SUCCESS);
	/* In COO the rows continue too: three matrices of two entries. */
	{
		const int rows[] = {0, 1, 0, 1, 0, 1},
			  cols[] = {1, 0, 1, 0, 1, 0};
		void *r = upload(rows, sizeof rows),
		     *k = upload(cols, sizeof cols);

		assert_sparse(SP(cusparseCreateCoo)(
				  &sa, 2, 2, 2, r, k, at[2], CUSPARSE_INDEX_32I,
				  CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F),
			      SUCCESS);
		assert_sparse(SP(cusparseCooSetStridedBatch)(sa, 3, 2),
			      SUCCESS);
		assert_sparse(SP(cusparseSpMM)(sparse, 0, 0, &alpha, sa, db,
					       &beta, dc, CUDA_R_32F, 0, NULL),
			      SUCCESS);
		download(c, at[4], sizeof c);
		assert_memory_equal(c, expected, sizeof c);
		assert_sparse(SP(cusparseDestroySpMat)(sa), SUCCESS);
		drop(r);
		drop(k);
	}
	assert_sparse(SP(cusparseDestroyDnMat)(db), SUCCESS);
	assert_sparse(SP(cusparseDestroyDnMat)(dc), SUCCESS);
	for (int i = 0; i < 5; i++)
		drop(at[i]);
}

/* C at the positions of its entries: alpha op(A) op(B) + beta C. */
static void check_sddmm(const struct types *t, cusparseFormat_t format)
{
	static struct product p;
	static struct model structure;
	struct sparse_kind kind = any_kind(format);
	bool bsr = format == CUSPARSE_FORMAT_BSR;
	int m = any_side(bsr ? kind.block_rows : 1),
	    n = any_side(bsr ? kind.block_cols : 1), inner = throw_dice(7);
	struct model a, b;
	struct sparse_matrix c;
	struct dense_matrix da, db, dense;
	struct number alpha, beta;
	size_t size = 0;

	p.op_a = any_operation(), p.op_b = any_operation();
	model_random(&p.a, p.op_a ? inner : m, p.op_a ? m : inner, t->a, 1);
	model_random(&p.b, p.op_b ? n : inner, p.op_b ? inner : n, t->b, 1);
	model_random(&structure, m, n, t->c, 1 + throw_dice(4));
	a = model_op(&p.a, p.op_a), b = model_op(&p.b, p.op_b);
	p.alpha = any_number(t->compute), p.beta = any_number(t->compute);
	p.expected = model_product(p.alpha, &a, &b, p.beta, &structure);
	c = sparse_make(&structure, t->c, kind);
	da = dense_make(&p.a, t->a, throw_dice(2), throw_dice(3));
	db = dense_make(&p.b, t->b, throw_dice(2), throw_dice(3));
	alpha = number_of(t->compute, p.alpha);
	beta = number_of(t->compute, p.beta);
	assert_sparse(SP(cusparseSDDMM_bufferSize)(
			  sparse, p.op_a, p.op_b, alpha.bytes, da.descr,
			  db.descr, beta.bytes, c.descr, t->compute, 0, &size),
		      SUCCESS);
	assert_sparse(SP(cusparseSDDMM_preprocess)(
			  sparse, p.op_a, p.op_b, alpha.bytes, da.descr,
			  db.descr, beta.bytes, c.descr, t->compute, 0, NULL),
		      SUCCESS);
	assert_sparse(SP(cusparseSDDMM)(sparse, p.op_a, p.op_b, alpha.bytes,
					da.descr, db.descr, beta.bytes, c.descr,
					t->compute, 0, NULL),
		      SUCCESS);
	/* SpMM with the identity makes the result dense. */
	{
		static struct model eye;
		struct dense_matrix identity;
		struct number one = number_of(t->compute, 1),
			      zero = number_of(t->compute, 0);

		eye = (struct model){.rows = n, .cols = n};
		for (int i = 0; i < n; i++)
			eye.at[i][i] = 1;
		for (int i = 0; i < m; i++)
			for (int j = 0; j < n; j++) {
				int br = bsr ? kind.block_rows : 1,
				    bc = bsr ? kind.block_cols : 1;

				if (!block_is_there(&structure, i / br, j / bc,
						    br, bc))
					p.expected.at[i][j] = 0;
			}
		identity = dense_make(&eye, t->c, true, 0);
		dense = dense_make(&p.expected, t->c, true, 0);
		if (dense.bytes)
			assert_cuda(CU(cuMemsetD8_v2)((uintptr_t)dense.at, 0xff,
						      dense.bytes),
				    SUCCESS);
		assert_sparse(SP(cusparseSpMM)(sparse, 0, 0, one.bytes, c.descr,
					       identity.descr, zero.bytes,
					       dense.descr, t->compute, 0,
					       NULL),
			      SUCCESS);
		dense_is(&dense, &p.expected);
		dense_drop(&identity);
	}
	dense_drop(&dense);
	dense_drop(&da);
	dense_drop(&db);
	sparse_drop(&c);
}

static void dense_products_are_sampled_where_entries_are(void **state)
{
	(void)state;
	for (int t = 0; t < 4; t++)
		for (int i = 0; i < 40; i++)
			check_sddmm(&types[t], i % 2 ? CUSPARSE_FORMAT_BSR
						     : CUSPARSE_FORMAT_CSR);
}

/* Products that cuSPARSE lacks are refused, and nothing is written. */
static void types_that_do_not_go_together_are_refused(void **state)
{
	static const struct types wrong[] = {
	    {CUDA_R_32F, CUDA_R_32F, CUDA_R_64F, CUDA_R_32F},
	    {CUDA_R_64F, CUDA_R_64F, CUDA_R_64F, CUDA_R_32F},
	    {CUDA_R_16F, CUDA_R_16BF, CUDA_R_32F, CUDA_R_32F},
	    {CUDA_C_32F, CUDA_C_32F, CUDA_R_32F, CUDA_C_32F},
	};
	static struct model m;
	const double one[2] = {1, 0};

	(void)state;
	model_random(&m, 3, 3, CUDA_R_32F, 1);
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		struct sparse_matrix a = sparse_make(
		    &m, wrong[i].a,
		    (struct sparse_kind){.format = CUSPARSE_FORMAT_CSR,
					 .index = CUSPARSE_INDEX_32I});
		struct dense_matrix b = dense_make(&m, wrong[i].b, true, 0),
				    c = dense_make(&m, wrong[i].c, true, 0);

		assert_sparse(SP(cusparseSpMM)(sparse, 0, 0, one, a.descr,
					       b.descr, one, c.descr,
					       wrong[i].compute, 0, NULL),
			      NOT_SUPPORTED);
		dense_is(&c, &m);
		sparse_drop(&a);
		dense_drop(&b);
		dense_drop(&c);
	}
}

static void shapes_that_do_not_fit_are_told(void **state)
{
	static struct model m, n;
	const float one = 1;
	struct sparse_matrix a;
	struct dense_matrix b, c;

	(void)state;
	model_random(&m, 3, 4, CUDA_R_32F, 2);
	model_random(&n, 4, 2, CUDA_R_32F, 1);
	a = sparse_make(&m, CUDA_R_32F,
			(struct sparse_kind){.format = CUSPARSE_FORMAT_CSR,
					     .index = CUSPARSE_INDEX_32I});
	b = dense_make(&n, CUDA_R_32F, true, 0);
	c = dense_make(&n, CUDA_R_32F, true, 0);
#define MM(...)                                                                \
	SP(cusparseSpMM)                                                       \
	(__VA_ARGS__, CUDA_R_32F, CUSPARSE_SPMM_ALG_DEFAULT, NULL)
	assert_sparse(MM(sparse, 0, 0, &one, a.descr, b.descr, &one, c.descr),
		      INVALID_VALUE);
	assert_sparse(MM(sparse, 3, 0, &one, a.descr, b.descr, &one, c.descr),
		      INVALID_VALUE);
	assert_sparse(MM(NULL, 0, 0, &one, a.descr, b.descr, &one, c.descr),
		      NOT_INITIALIZED);
	assert_sparse(MM(sparse, 0, 0, NULL, a.descr, b.descr, &one, c.descr),
		      INVALID_VALUE);
	assert_sparse(MM(sparse, 0, 0, &one, NULL, b.descr, &one, c.descr),
		      INVALID_VALUE);
	assert_sparse(MM(sparse, 0, 0, &one, a.descr, NULL, &one, c.descr),
		      INVALID_VALUE);
	assert_sparse(MM(sparse, 0, 0, &one, a.descr, b.descr, NULL, c.descr),
		      INVALID_VALUE);
	assert_sparse(MM(sparse, 0, 0, &one, a.descr, b.descr, &one, NULL),
		      INVALID_VALUE);
	dense_is(&c, &n);
	sparse_drop(&a);
	dense_drop(&b);
	dense_drop(&c);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_sparse_matrix_times_a_dense_one_is_exact),
    cmocka_unit_test(a_sparse_matrix_times_a_vector_is_exact),
    cmocka_unit_test(batches_are_a_product_each),
    cmocka_unit_test(dense_products_are_sampled_where_entries_are),
    cmocka_unit_test(types_that_do_not_go_together_are_refused),
    cmocka_unit_test(shapes_that_do_not_fit_are_told),
};

SPARSE_MAIN("cusparse-multiply", tests)
