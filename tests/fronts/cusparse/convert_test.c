/* SPDX-License-Identifier: Apache-2.0 */
/*
 * convert_test.c - checks conversion from dense to sparse and back,
 * transposing, compressing and sorting.
 */
#include "fronts/cusparse/sparse_test.h"

static const cusparseFormat_t formats[] = {
    CUSPARSE_FORMAT_CSR, CUSPARSE_FORMAT_CSC, CUSPARSE_FORMAT_COO};
static const cudaDataType types[] = {CUDA_R_32F,  CUDA_R_64F, CUDA_C_64F,
				     CUDA_R_16BF, CUDA_R_16F, CUDA_R_8I};

static struct sparse_kind any_kind(void)
{
	return (struct sparse_kind){.format = formats[throw_dice(3)],
				    .index = throw_dice(2) ? CUSPARSE_INDEX_32I
							   : CUSPARSE_INDEX_64I,
				    .base = throw_dice(2)};
}

static void sparse_matrices_become_dense(void **state)
{
	static struct model m, other;
	size_t size = 0;

	(void)state;
	for (int i = 0; i < 200; i++) {
		cudaDataType type = types[throw_dice(6)];
		struct sparse_matrix s;
		struct dense_matrix d;

		model_random(&m, throw_dice(7), throw_dice(7), type,
			     1 + throw_dice(3));
		other = m;
		for (int k = 0; k < SIDE; k++)
			other.at[k % 7][k / 7] += 1;
		s = sparse_make(&m, type, any_kind());
		d = dense_make(&other, type, throw_dice(2), throw_dice(3));
		assert_sparse(SP(cusparseSparseToDense_bufferSize)(
				  sparse, s.descr, d.descr, 0, &size),
			      SUCCESS);
		assert_sparse(SP(cusparseSparseToDense)(sparse, s.descr,
							d.descr, 0, NULL),
			      SUCCESS);
		dense_is(&d, &m);
		sparse_drop(&s);
		dense_drop(&d);
	}
}

/* An empty descriptor of a kind, with only the offsets. */
static cusparseSpMatDescr_t new_matrix(const struct model *m, cudaDataType type,
				       const struct sparse_kind *kind,
				       void *offsets)
{
	cusparseIndexBase_t base = (cusparseIndexBase_t)kind->base;
	cusparseSpMatDescr_t d;
	cusparseStatus_t status;

	if (kind->format == CUSPARSE_FORMAT_COO)
		status =
		    SP(cusparseCreateCoo)(&d, m->rows, m->cols, 0, NULL, NULL,
					  NULL, kind->index, base, type);
	else
		status = (kind->format == CUSPARSE_FORMAT_CSC
			      ? SP(cusparseCreateCsc)
			      : SP(cusparseCreateCsr))(
		    &d, m->rows, m->cols, 0, offsets, NULL, NULL, kind->index,
		    kind->index, base, type);
	assert_sparse(status, SUCCESS);
	return d;
}

static cusparseStatus_t set_pointers(cusparseSpMatDescr_t d,
				     cusparseFormat_t format, void *offsets,
				     void *indices, void *values)
{
	return (format == CUSPARSE_FORMAT_COO ? SP(cusparseCooSetPointers)
		: format == CUSPARSE_FORMAT_CSC
		    ? SP(cusparseCscSetPointers)
		    : SP(cusparseCsrSetPointers))(d, offsets, indices, values);
}

static void same_bytes(const void *left, const void *right, size_t size)
{
	char *a = malloc(size + 1), *b = malloc(size + 1);

	download(a, left, size);
	download(b, right, size);
	assert_memory_equal(a, b, size);
	free(a);
	free(b);
}

/* The arrays equal those of the model's own sparse form. */
static void dense_matrices_become_sparse(void **state)
{
	static struct model m;
	size_t size = 0;

	(void)state;
	for (int i = 0; i < 200; i++) {
		cudaDataType type = types[throw_dice(6)];
		struct sparse_kind kind = any_kind();
		size_t index = index_bytes(kind.index);
		struct sparse_matrix expected;
		struct dense_matrix d;
		cusparseSpMatDescr_t got;
		int64_t rows, cols, nnz;
		void *at[3];

		model_random(&m, throw_dice(7), throw_dice(7), type,
			     1 + throw_dice(3));
		expected = sparse_make(&m, type, kind);
		d = dense_make(&m, type, throw_dice(2), throw_dice(3));
		for (int k = 0; k < 3; k++)
			at[k] = (void *)(uintptr_t)device_alloc(SIDE * 16);
		got = new_matrix(&m, type, &kind, at[0]);
		assert_sparse(SP(cusparseDenseToSparse_bufferSize)(
				  sparse, d.descr, got, 0, &size),
			      SUCCESS);
		assert_sparse(SP(cusparseDenseToSparse_analysis)(
				  sparse, d.descr, got, 0, NULL),
			      SUCCESS);
		assert_sparse(SP(cusparseSpMatGetSize)(got, &rows, &cols, &nnz),
			      SUCCESS);
		assert_int_equal(nnz, expected.nnz);
		assert_sparse(
		    set_pointers(got, kind.format, at[0], at[1], at[2]),
		    SUCCESS);
		assert_sparse(SP(cusparseDenseToSparse_convert)(sparse, d.descr,
								got, 0, NULL),
			      SUCCESS);
		if (kind.format == CUSPARSE_FORMAT_COO ||
		    expected.offset_count > 1)
			same_bytes(at[0], expected.offsets,
				   (size_t)expected.offset_count * index);
		same_bytes(at[1], expected.indices, (size_t)nnz * index);
		same_bytes(at[2], expected.values,
			   (size_t)nnz * type_size(type));
		assert_sparse(SP(cusparseDestroySpMat)(got), SUCCESS);
		sparse_drop(&expected);
		dense_drop(&d);
		for (int k = 0; k < 3; k++)
			drop(at[k]);
	}
}

static void rows_are_turned_into_columns(void **state)
{
	static struct model m;

	(void)state;
	for (int i = 0; i < 100; i++) {
		cudaDataType type = types[throw_dice(6)];
		struct sparse_kind kind = {.format = CUSPARSE_FORMAT_CSR,
					   .index = CUSPARSE_INDEX_32I,
					   .base = throw_dice(2)};
		bool numeric = throw_dice(2);
		struct sparse_matrix csr, csc;
		size_t size = 0;
		void *at[3];

		model_random(&m, throw_dice(7), 1 + throw_dice(6), type,
			     1 + throw_dice(3));
		csr = sparse_make(&m, type, kind);
		kind.format = CUSPARSE_FORMAT_CSC;
		csc = sparse_make(&m, type, kind);
		for (int k = 0; k < 3; k++)
			at[k] = (void *)(uintptr_t)device_alloc(SIDE * 16);
#define CSR2CSC                                                                \
	sparse, m.rows, m.cols, csr.nnz, csr.values, csr.offsets, csr.indices, \
	    at[2], at[0], at[1], type,                                         \
	    numeric ? CUSPARSE_ACTION_NUMERIC : CUSPARSE_ACTION_SYMBOLIC,      \
	    (cusparseIndexBase_t)kind.base, CUSPARSE_CSR2CSC_ALG_DEFAULT
		assert_sparse(SP(cusparseCsr2cscEx2_bufferSize)(CSR2CSC, &size),
			      SUCCESS);
		assert_sparse(SP(cusparseCsr2cscEx2)(CSR2CSC, NULL), SUCCESS);
		same_bytes(at[0], csc.offsets, (size_t)csc.offset_count * 4);
		same_bytes(at[1], csc.indices, (size_t)csc.nnz * 4);
		if (numeric)
			same_bytes(at[2], csc.values,
				   (size_t)csc.nnz * type_size(type));
		sparse_drop(&csr);
		sparse_drop(&csc);
		for (int k = 0; k < 3; k++)
			drop(at[k]);
	}
}

static void rows_are_compressed_and_expanded(void **state)
{
	const int rows[] = {1, 1, 3, 3, 3}, offsets[] = {1, 3, 3, 6, 6};
	void *from = upload(rows, sizeof rows), *to = upload(rows, 20),
	     *back = upload(offsets, sizeof offsets);
	int got[5];

	(void)state;
	assert_sparse(SP(cusparseXcoo2csr)(sparse, from, 5, 4, to,
					   CUSPARSE_INDEX_BASE_ONE),
		      SUCCESS);
	download(got, to, sizeof got);
	assert_memory_equal(got, offsets, sizeof got);
	assert_sparse(SP(cusparseXcsr2coo)(sparse, to, 5, 4, back,
					   CUSPARSE_INDEX_BASE_ONE),
		      SUCCESS);
	download(got, back, sizeof got);
	assert_memory_equal(got, rows, sizeof got);
	assert_sparse(SP(cusparseXcoo2csr)(sparse, from, 0, 4, to,
					   CUSPARSE_INDEX_BASE_ZERO),
		      SUCCESS);
	download(got, to, sizeof got);
	for (int i = 0; i < 5; i++)
		assert_int_equal(got[i], 0);
	assert_sparse(SP(cusparseXcoo2csr)(sparse, from, -1, 4, to, 0),
		      INVALID_VALUE);
	assert_sparse(SP(cusparseXcsr2coo)(NULL, to, 5, 4, back, 0),
		      NOT_INITIALIZED);
	drop(from);
	drop(to);
	drop(back);
}

static void is_now(const void *at, const int *expected)
{
	int got[6];

	download(got, at, sizeof got);
	assert_memory_equal(got, expected, sizeof got);
}

/* Equal positions stay in order: (2, 1) occurs twice. */
static void entries_are_sorted_with_their_permutation(void **state)
{
	const int rows[] = {2, 0, 2, 1, 2, 0}, cols[] = {1, 5, 0, 3, 1, 2};
	const int by_row[3][6] = {
	    {0, 0, 1, 2, 2, 2}, {2, 5, 3, 0, 1, 1}, {5, 1, 3, 2, 0, 4}};
	const int by_col[3][6] = {
	    {2, 2, 2, 0, 1, 0}, {0, 1, 1, 2, 3, 5}, {2, 0, 4, 5, 3, 1}};
	void *r = upload(rows, sizeof rows), *c = upload(cols, sizeof cols),
	     *p = upload(rows, sizeof rows);
	size_t size = 0;

	(void)state;
	assert_sparse(
	    SP(cusparseXcoosort_bufferSizeExt)(sparse, 3, 6, 6, r, c, &size),
	    SUCCESS);
	assert_sparse(SP(cusparseCreateIdentityPermutation)(sparse, 6, p),
		      SUCCESS);
	assert_sparse(SP(cusparseXcoosortByRow)(sparse, 3, 6, 6, r, c, p, NULL),
		      SUCCESS);
	is_now(r, by_row[0]);
	is_now(c, by_row[1]);
	is_now(p, by_row[2]);
	drop(r);
	drop(c);
	r = upload(rows, sizeof rows), c = upload(cols, sizeof cols);
	assert_sparse(SP(cusparseCreateIdentityPermutation)(sparse, 6, p),
		      SUCCESS);
	assert_sparse(
	    SP(cusparseXcoosortByColumn)(sparse, 3, 6, 6, r, c, p, NULL),
	    SUCCESS);
	is_now(r, by_col[0]);
	is_now(c, by_col[1]);
	is_now(p, by_col[2]);
	drop(r);
	drop(c);
	drop(p);
}

static void lines_are_sorted_each(void **state)
{
	const int offsets[] = {1, 4, 4, 7}, columns[] = {3, 1, 2, 9, 7, 8};
	const int sorted[] = {1, 2, 3, 7, 8, 9}, places[] = {1, 2, 0, 4, 5, 3};
	void *o = upload(offsets, sizeof offsets),
	     *p = upload(columns, sizeof columns);
	cusparseMatDescr_t descr;
	size_t size = 0;

	(void)state;
	assert_sparse(SP(cusparseCreateMatDescr)(&descr), SUCCESS);
	assert_sparse(
	    SP(cusparseSetMatIndexBase)(descr, CUSPARSE_INDEX_BASE_ONE),
	    SUCCESS);
	for (int csc = 0; csc < 2; csc++) {
		void *c = upload(columns, sizeof columns);
		int m = csc ? 9 : 3, n = csc ? 3 : 9;

		assert_sparse((csc ? SP(cusparseXcscsort_bufferSizeExt)
				   : SP(cusparseXcsrsort_bufferSizeExt))(
				  sparse, m, n, 6, o, c, &size),
			      SUCCESS);
		assert_sparse(
		    SP(cusparseCreateIdentityPermutation)(sparse, 6, p),
		    SUCCESS);
		assert_sparse(
		    (csc ? SP(cusparseXcscsort) : SP(cusparseXcsrsort))(
			sparse, m, n, 6, descr, o, c, p, NULL),
		    SUCCESS);
		is_now(c, sorted);
		is_now(p, places);
		drop(c);
	}
	assert_sparse(SP(cusparseDestroyMatDescr)(descr), SUCCESS);
	drop(o);
	drop(p);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(sparse_matrices_become_dense),
    cmocka_unit_test(dense_matrices_become_sparse),
    cmocka_unit_test(rows_are_turned_into_columns),
    cmocka_unit_test(rows_are_compressed_and_expanded),
    cmocka_unit_test(entries_are_sorted_with_their_permutation),
    cmocka_unit_test(lines_are_sorted_each),
};

SPARSE_MAIN("cusparse-convert", tests)
