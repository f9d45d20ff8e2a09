/* SPDX-License-Identifier: Apache-2.0 */
/*
 * legacy_test.c - checks the functions of four types with arrays: incomplete
 * factors, sums, blocks. Untyped pointers are converted to the types' own.
 */
#include "fronts/cusparse/sparse_test.h"

static const cudaDataType types[] = {CUDA_R_32F, CUDA_R_64F, CUDA_C_32F,
				     CUDA_C_64F};
static cusparseMatDescr_t bases[2];

#define FOUR(t, name, ...)                                                     \
	((t) == CUDA_R_32F   ? SP(cusparseS##name)(__VA_ARGS__)                \
	 : (t) == CUDA_R_64F ? SP(cusparseD##name)(__VA_ARGS__)                \
	 : (t) == CUDA_C_32F ? SP(cusparseC##name)(__VA_ARGS__)                \
			     : SP(cusparseZ##name)(__VA_ARGS__))

static struct sparse_matrix csr_make(const struct model *m, cudaDataType type,
				     int base)
{
	return sparse_make(m, type,
			   (struct sparse_kind){.format = CUSPARSE_FORMAT_CSR,
						.index = CUSPARSE_INDEX_32I,
						.base = base});
}

/* The entries of an N x N matrix with the structure of `of`. */
static struct model values_now(const struct sparse_matrix *s,
			       const struct model *of)
{
	struct model m = {.rows = of->rows, .cols = of->cols};
	char *host = malloc((size_t)s->nnz * 16 + 1);
	int k = 0;

	download(host, s->values, (size_t)s->nnz * type_size(s->type));
	for (int i = 0; i < m.rows; i++)
		for (int j = 0; j < m.cols; j++)
			if (of->at[i][j] != 0)
				m.at[i][j] = get(s->type, host, (size_t)k++);
	free(host);
	return m;
}

/* Of whole numbers with a diagonal of ones: every factor is whole. */
static struct model unit_triangle(cudaDataType type, int n, bool lower)
{
	struct model m;

	model_random(&m, n, n, type, 2);
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
			if (i == j)
				m.at[i][j] = 1;
			else if (lower ? j > i : j < i)
				m.at[i][j] = 0;
	return m;
}

/*
 * Whether the factors have entries that the matrix lacks: 0 by chance, no
 * entry.
 */
static bool fills_in(const struct model *l, const struct model *u,
		     const struct model *a)
{
	for (int i = 0; i < a->rows; i++)
		for (int j = 0; j < a->cols; j++)
			if (a->at[i][j] == 0 && ((j < i && l->at[i][j] != 0) ||
						 (j >= i && u->at[i][j] != 0)))
				return true;
	return false;
}

#define ARRAYS(s, descr, m)                                                    \
	sparse, (m)->rows, (s)->nnz, descr, (s)->values, (s)->offsets,         \
	    (s)->indices

static int pivot_now(bool cholesky, csrilu02Info_t lu, csric02Info_t ic)
{
	int position = -7;
	cusparseStatus_t status =
	    cholesky ? SP(cusparseXcsric02_zeroPivot)(sparse, ic, &position)
		     : SP(cusparseXcsrilu02_zeroPivot)(sparse, lu, &position);

	assert_int_equal(status, position < 0 ? CUSPARSE_STATUS_SUCCESS
					      : CUSPARSE_STATUS_ZERO_PIVOT);
	return position;
}

/* A = L U without fill-in: the incomplete factors are complete. */
static bool check_lu(cudaDataType type, int base)
{
	static struct model l, u, a, got;
	struct sparse_matrix s;
	csrilu02Info_t info;
	int n = 1 + throw_dice(5), size = 0;

	l = unit_triangle(type, n, true), u = unit_triangle(type, n, false);
	a = model_product(1, &l, &u, 0, NULL);
	if (fills_in(&l, &u, &a))
		return false;
	for (int i = 0; i < n; i++)
		if (a.at[i][i] == 0)
			return false;
	s = csr_make(&a, type, base);
	assert_sparse(SP(cusparseCreateCsrilu02Info)(&info), SUCCESS);
	assert_sparse(FOUR(type, csrilu02_bufferSize,
			   ARRAYS(&s, bases[base], &a), info, &size),
		      SUCCESS);
	assert_true(size > 0);
	assert_sparse(FOUR(type, csrilu02_analysis, ARRAYS(&s, bases[base], &a),
			   info, 0, NULL),
		      SUCCESS);
	assert_int_equal(pivot_now(false, info, NULL), -1);
	assert_sparse(
	    FOUR(type, csrilu02, ARRAYS(&s, bases[base], &a), info, 0, NULL),
	    SUCCESS);
	assert_int_equal(pivot_now(false, info, NULL), -1);
	got = values_now(&s, &a);
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
			assert_true(got.at[i][j] ==
				    (j < i ? l.at[i][j] : u.at[i][j]));
	assert_sparse(SP(cusparseDestroyCsrilu02Info)(info), SUCCESS);
	sparse_drop(&s);
	return true;
}

static void incomplete_factors_that_fill_nothing_are_whole(void **state)
{
	int done = 0;

	(void)state;
	for (int i = 0; i < 800; i++)
		done += check_lu(types[i % 4], i / 4 % 2);
	assert_true(done > 100);
}

/* A = L L^H with ones on the diagonal; above it A stays unchanged. */
static bool check_cholesky(cudaDataType type, int base)
{
	static struct model l, h, a, got;
	struct sparse_matrix s;
	csric02Info_t info;
	int n = 1 + throw_dice(5), size = 0;

	l = unit_triangle(type, n, true);
	h = model_op(&l, CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE);
	a = model_product(1, &l, &h, 0, NULL);
	if (fills_in(&l, &h, &a))
		return false;
	s = csr_make(&a, type, base);
	assert_sparse(SP(cusparseCreateCsric02Info)(&info), SUCCESS);
	assert_sparse(FOUR(type, csric02_bufferSize,
			   ARRAYS(&s, bases[base], &a), info, &size),
		      SUCCESS);
	assert_sparse(FOUR(type, csric02_analysis, ARRAYS(&s, bases[base], &a),
			   info, 0, NULL),
		      SUCCESS);
	assert_sparse(
	    FOUR(type, csric02, ARRAYS(&s, bases[base], &a), info, 0, NULL),
	    SUCCESS);
	assert_int_equal(pivot_now(true, NULL, info), -1);
	got = values_now(&s, &a);
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
			assert_true(got.at[i][j] ==
				    (j <= i ? l.at[i][j] : a.at[i][j]));
	assert_sparse(SP(cusparseDestroyCsric02Info)(info), SUCCESS);
	sparse_drop(&s);
	return true;
}

static void incomplete_roots_that_fill_nothing_are_whole(void **state)
{
	int done = 0;

	(void)state;
	for (int i = 0; i < 800; i++)
		done += check_cholesky(types[i % 4], i / 4 % 2);
	assert_true(done > 100);
}

/* By hand: positions (1, 2) and (2, 1) would fill in, and stay empty. */
static void what_would_fill_in_is_dropped(void **state)
{
	static const struct model a = {3, 3, {{2, 1, 2}, {4, 4, 0}, {2, 0, 5}}};
	static const double expected[3][3] = {{2, 1, 2}, {2, 2, 0}, {1, 0, 3}};
	struct sparse_matrix s = csr_make(&a, CUDA_R_64F, 0);
	csrilu02Info_t info;
	struct model got;

	(void)state;
	assert_sparse(SP(cusparseCreateCsrilu02Info)(&info), SUCCESS);
	assert_sparse(
	    SP(cusparseDcsrilu02)(ARRAYS(&s, bases[0], &a), info, 0, NULL),
	    SUCCESS);
	got = values_now(&s, &a);
	for (int i = 0; i < 9; i++)
		assert_true(got.at[i / 3][i % 3] == expected[i / 3][i % 3]);
	assert_sparse(SP(cusparseDestroyCsrilu02Info)(info), SUCCESS);
	sparse_drop(&s);
}

/* Counted from 1: the missing one of row 1, then the 0 of row 2. */
static void zero_pivots_are_told(void **state)
{
	static const struct model missing = {2, 2, {{0, 1}, {1, 1}}},
				  zero = {2, 2, {{1, 2}, {2, 4}}};
	struct sparse_matrix s = csr_make(&missing, CUDA_R_64F, 1);
	csrilu02Info_t lu;
	csric02Info_t ic;
	int position;

	(void)state;
	assert_sparse(SP(cusparseCreateCsrilu02Info)(&lu), SUCCESS);
	assert_sparse(SP(cusparseCreateCsric02Info)(&ic), SUCCESS);
	assert_sparse(SP(cusparseDcsrilu02_analysis)(
			  ARRAYS(&s, bases[1], &missing), lu, 0, NULL),
		      SUCCESS);
	assert_int_equal(pivot_now(false, lu, NULL), 1);
	sparse_drop(&s);
	s = csr_make(&zero, CUDA_R_64F, 1);
	assert_sparse(
	    SP(cusparseDcsrilu02)(ARRAYS(&s, bases[1], &zero), lu, 0, NULL),
	    SUCCESS);
	assert_int_equal(pivot_now(false, lu, NULL), 2);
	sparse_drop(&s);
	s = csr_make(&zero, CUDA_R_64F, 1);
	assert_sparse(
	    SP(cusparseDcsric02)(ARRAYS(&s, bases[1], &zero), ic, 0, NULL),
	    SUCCESS);
	assert_int_equal(pivot_now(true, NULL, ic), 2);
	assert_sparse(SP(cusparseXcsrilu02_zeroPivot)(sparse, NULL, &position),
		      INVALID_VALUE);
	assert_sparse(SP(cusparseDcsrilu02)(sparse, 2, 4, NULL, s.values,
					    s.offsets, s.indices, lu, 0, NULL),
		      INVALID_VALUE);
	assert_sparse(SP(cusparseDestroyCsrilu02Info)(lu), SUCCESS);
	assert_sparse(SP(cusparseDestroyCsric02Info)(ic), SUCCESS);
	sparse_drop(&s);
}

static void check_sum(cudaDataType type)
{
	static struct model a, b, structure, expected, got;
	int m = throw_dice(7), n = throw_dice(7), total = -1, base = 0;
	int base_a = throw_dice(2), base_b = throw_dice(2);
	struct sparse_matrix sa, sb, sc;
	struct number alpha, beta;
	void *alpha_at, *beta_at;
	double complex va = any_number(type), vb = any_number(type);
	size_t size = 0;

	model_random(&a, m, n, type, 1 + throw_dice(4));
	model_random(&b, m, n, type, 1 + throw_dice(4));
	structure = (struct model){.rows = m, .cols = n};
	for (int i = 0; i < m; i++)
		for (int j = 0; j < n; j++)
			structure.at[i][j] = a.at[i][j] != 0 || b.at[i][j] != 0;
	base = throw_dice(2);
	sa = csr_make(&a, type, base_a), sb = csr_make(&b, type, base_b);
	sc = csr_make(&structure, type, base);
	assert_cuda(CU(cuMemsetD8_v2)((uintptr_t)sc.offsets, 0xff,
				      (size_t)sc.offset_count * 4),
		    SUCCESS);
	assert_cuda(CU(cuMemsetD8_v2)((uintptr_t)sc.indices, 0xff,
				      (size_t)sc.nnz * 4 + 1),
		    SUCCESS);
	alpha = number_of(type, va), beta = number_of(type, vb);
	alpha_at = alpha.bytes, beta_at = beta.bytes;
#define SUMMANDS                                                               \
	sparse, m, n, alpha_at, bases[base_a], sa.nnz, sa.values, sa.offsets,  \
	    sa.indices, beta_at, bases[base_b], sb.nnz, sb.values, sb.offsets, \
	    sb.indices, bases[base], sc.values, sc.offsets, sc.indices
	assert_sparse(FOUR(type, csrgeam2_bufferSizeExt, SUMMANDS, &size),
		      SUCCESS);
	assert_sparse(SP(cusparseXcsrgeam2Nnz)(
			  sparse, m, n, bases[base_a], sa.nnz, sa.offsets,
			  sa.indices, bases[base_b], sb.nnz, sb.offsets,
			  sb.indices, bases[base], sc.offsets, &total, NULL),
		      SUCCESS);
	assert_int_equal(total, sc.nnz);
	assert_sparse(FOUR(type, csrgeam2, SUMMANDS, NULL), SUCCESS);
	expected = (struct model){.rows = m, .cols = n};
	for (int i = 0; i < m; i++)
		for (int j = 0; j < n; j++)
			expected.at[i][j] = va * a.at[i][j] + vb * b.at[i][j];
	got = values_now(&sc, &structure);
	for (int i = 0; i < m; i++)
		for (int j = 0; j < n; j++)
			assert_true(got.at[i][j] == expected.at[i][j]);
	/* It has the structure that was made by hand. */
	{
		struct sparse_matrix right = csr_make(&structure, type, base);
		int left[2][SIDE * 2], made[2][SIDE * 2];
		size_t offsets = m ? (size_t)right.offset_count * 4 : 0,
		       indices = (size_t)right.nnz * 4;

		download(left[0], sc.offsets, offsets);
		download(left[1], sc.indices, indices);
		download(made[0], right.offsets, offsets);
		download(made[1], right.indices, indices);
		assert_memory_equal(left[0], made[0], offsets);
		assert_memory_equal(left[1], made[1], indices);
		sparse_drop(&right);
	}
	sparse_drop(&sa);
	sparse_drop(&sb);
	sparse_drop(&sc);
}

static void sparse_matrices_are_added(void **state)
{
	(void)state;
	for (int i = 0; i < 200; i++)
		check_sum(types[i % 4]);
}

/* Compared with SpMM by a descriptor, which other tests check. */
static void check_blocks(cudaDataType type)
{
	static struct model a, b, c, op, expected;
	struct sparse_kind kind = {.format = CUSPARSE_FORMAT_BSR,
				   .index = CUSPARSE_INDEX_32I,
				   .base = throw_dice(2),
				   .block_by_col = throw_dice(2)};
	int size = 1 + throw_dice(3), mb = throw_dice(4), kb = throw_dice(4);
	int n = 1 + throw_dice(4);
	cusparseOperation_t op_b = any_operation();
	double complex va = any_number(type), vb = any_number(type);
	struct number alpha = number_of(type, va), beta = number_of(type, vb);
	void *alpha_at = alpha.bytes, *beta_at = beta.bytes;
	cusparseDirection_t dir = (cusparseDirection_t)kind.block_by_col;
	bool vector = n == 1 && op_b == CUSPARSE_OPERATION_NON_TRANSPOSE;
	struct sparse_matrix s;
	struct dense_matrix db, dc;

	kind.block_rows = kind.block_cols = size;
	model_random(&a, mb * size, kb * size, type, 3);
	if (op_b == CUSPARSE_OPERATION_NON_TRANSPOSE)
		model_random(&b, kb * size, n, type, 1);
	else
		model_random(&b, n, kb * size, type, 1);
	model_random(&c, mb * size, n, type, 1);
	op = model_op(&b, op_b);
	expected = model_product(va, &a, &op, vb, &c);
	s = sparse_make(&a, type, kind);
	db = dense_make(&b, type, true, vector ? 0 : 2);
	dc = dense_make(&c, type, true, vector ? 0 : 1);
	if (vector)
		assert_sparse(FOUR(type, bsrmv, sparse, dir, 0, mb, kb, s.nnz,
				   alpha_at, bases[kind.base], s.values,
				   s.offsets, s.indices, size, db.at, beta_at,
				   dc.at),
			      SUCCESS);
	else
		assert_sparse(FOUR(type, bsrmm, sparse, dir, 0, op_b, mb, n, kb,
				   s.nnz, alpha_at, bases[kind.base], s.values,
				   s.offsets, s.indices, size, db.at, db.ld,
				   beta_at, dc.at, dc.ld),
			      SUCCESS);
	dense_is(&dc, &expected);
	assert_sparse(FOUR(type, bsrmv, sparse, dir, 1, mb, kb, s.nnz, alpha_at,
			   bases[kind.base], s.values, s.offsets, s.indices,
			   size, db.at, beta_at, dc.at),
		      NOT_SUPPORTED);
	sparse_drop(&s);
	dense_drop(&db);
	dense_drop(&dc);
}

static void blocks_are_multiplied(void **state)
{
	(void)state;
	for (int i = 0; i < 400; i++)
		check_blocks(types[i % 4]);
}

static int setup(void **state)
{
	sparse_setup(state);
	for (int i = 0; i < 2; i++) {
		assert_sparse(SP(cusparseCreateMatDescr)(&bases[i]), SUCCESS);
		assert_sparse(SP(cusparseSetMatIndexBase)(
				  bases[i], (cusparseIndexBase_t)i),
			      SUCCESS);
	}
	return 0;
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(incomplete_factors_that_fill_nothing_are_whole),
    cmocka_unit_test(incomplete_roots_that_fill_nothing_are_whole),
    cmocka_unit_test(what_would_fill_in_is_dropped),
    cmocka_unit_test(zero_pivots_are_told),
    cmocka_unit_test(sparse_matrices_are_added),
    cmocka_unit_test(blocks_are_multiplied),
};

int main(void)
{
	return cmocka_run_group_tests_name("cusparse-legacy", tests, setup,
					   sparse_teardown);
}
