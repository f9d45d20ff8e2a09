/* SPDX-License-Identifier: Apache-2.0 */
/*
 * handle_test.c - checks handles of cuSPARSE, descriptors of matrices,
 * statuses, streams.
 */
#include "fronts/cusparse/sparse_test.h"

static void a_handle_keeps_its_stream_and_mode(void **state)
{
	cusparsePointerMode_t mode = 9;
	cudaStream_t got = NULL;
	cusparseHandle_t h;
	CUstream s;

	(void)state;
	assert_sparse(SP(cusparseCreate)(NULL), INVALID_VALUE);
	assert_sparse(SP(cusparseCreate)(&h), SUCCESS);
	assert_cuda(CU(cuStreamCreate)(&s, 0), SUCCESS);
	assert_sparse(SP(cusparseGetPointerMode)(h, &mode), SUCCESS);
	assert_int_equal(mode, CUSPARSE_POINTER_MODE_HOST);
	assert_sparse(SP(cusparseSetPointerMode)(h, 2), INVALID_VALUE);
	assert_sparse(
	    SP(cusparseSetPointerMode)(h, CUSPARSE_POINTER_MODE_DEVICE),
	    SUCCESS);
	assert_sparse(SP(cusparseGetPointerMode)(h, &mode), SUCCESS);
	assert_int_equal(mode, CUSPARSE_POINTER_MODE_DEVICE);
	assert_sparse(SP(cusparseSetStream)(h, s), SUCCESS);
	assert_sparse(SP(cusparseGetStream)(h, &got), SUCCESS);
	assert_ptr_equal(got, s);
	assert_sparse(SP(cusparseSetStream)(NULL, s), NOT_INITIALIZED);
	assert_sparse(SP(cusparseGetStream)(NULL, &got), NOT_INITIALIZED);
	assert_sparse(SP(cusparseDestroy)(h), SUCCESS);
	assert_sparse(SP(cusparseDestroy)(NULL), NOT_INITIALIZED);
	assert_cuda(CU(cuStreamDestroy_v2)(s), SUCCESS);
}

static void its_work_waits_in_its_stream(void **state)
{
	const float values[] = {1, 2};
	const int indices[] = {0, 1};
	void *x = upload(values, 8), *i = upload(indices, 8),
	     *y = upload(values, 8), *flag = upload(indices, 8);
	cusparseSpVecDescr_t vx;
	cusparseDnVecDescr_t vy;
	float got[2] = {7, 7};
	CUstream s;

	(void)state;
	assert_cuda(CU(cuMemsetD8_v2)((uintptr_t)y, 0, 8), SUCCESS);
	assert_cuda(CU(cuMemsetD8_v2)((uintptr_t)flag, 0, 8), SUCCESS);
	assert_cuda(CU(cuStreamCreate)(&s, CU_STREAM_NON_BLOCKING), SUCCESS);
	assert_sparse(SP(cusparseCreateSpVec)(
			  &vx, 2, 2, i, x, CUSPARSE_INDEX_32I, 0, CUDA_R_32F),
		      SUCCESS);
	assert_sparse(SP(cusparseCreateDnVec)(&vy, 2, y, CUDA_R_32F), SUCCESS);
	assert_sparse(SP(cusparseSetStream)(sparse, s), SUCCESS);
	assert_cuda(CU(cuStreamWaitValue32_v2)(s, (uintptr_t)flag, 1,
					       CU_STREAM_WAIT_VALUE_EQ),
		    SUCCESS);
	assert_sparse(SP(cusparseScatter)(sparse, vx, vy), SUCCESS);
	assert_cuda(CU(cuMemcpyDtoH_v2)(got, (uintptr_t)y, 8), SUCCESS);
	assert_true(got[0] == 0 && got[1] == 0);
	/* The descriptors may be destroyed while the work waits. */
	assert_sparse(SP(cusparseDestroySpVec)(vx), SUCCESS);
	assert_sparse(SP(cusparseDestroyDnVec)(vy), SUCCESS);
	assert_cuda(CU(cuMemsetD32_v2)((uintptr_t)flag, 1, 1), SUCCESS);
	assert_cuda(CU(cuStreamSynchronize)(s), SUCCESS);
	assert_cuda(CU(cuMemcpyDtoH_v2)(got, (uintptr_t)y, 8), SUCCESS);
	assert_memory_equal(got, values, 8);
	assert_sparse(SP(cusparseSetStream)(sparse, NULL), SUCCESS);
	assert_cuda(CU(cuStreamDestroy_v2)(s), SUCCESS);
	drop(x);
	drop(i);
	drop(y);
	drop(flag);
}

static void its_version_is_one(void **state)
{
	int version = 0, part[3] = {0};

	(void)state;
	assert_sparse(SP(cusparseGetVersion)(sparse, &version), SUCCESS);
	for (int i = 0; i < 3; i++)
		assert_sparse(
		    SP(cusparseGetProperty)((libraryPropertyType)i, &part[i]),
		    SUCCESS);
	assert_int_equal(version, part[0] * 1000 + part[1] * 100 + part[2]);
	assert_int_equal(part[0], 12);
	assert_sparse(SP(cusparseGetProperty)(3, part), INVALID_VALUE);
	assert_sparse(SP(cusparseGetVersion)(NULL, part), NOT_INITIALIZED);
	assert_sparse(SP(cusparseLoggerForceDisable)(), SUCCESS);
}

static void statuses_have_names(void **state)
{
	(void)state;
	assert_string_equal(SP(cusparseGetErrorName)(10),
			    "CUSPARSE_STATUS_NOT_SUPPORTED");
	assert_string_equal(SP(cusparseGetErrorName)(0),
			    "CUSPARSE_STATUS_SUCCESS");
	assert_string_equal(SP(cusparseGetErrorString)(0), "success");
	assert_string_equal(SP(cusparseGetErrorString)(12),
			    SP(cusparseGetErrorName)((cusparseStatus_t)-1));
}

static void properties_of_matrices_are_kept(void **state)
{
	cusparseMatDescr_t d;

	(void)state;
	assert_sparse(SP(cusparseCreateMatDescr)(&d), SUCCESS);
#define KEEPS(Name, first, last)                                               \
	do {                                                                   \
		assert_int_equal(SP(cusparseGetMat##Name)(d), first);          \
		assert_sparse(SP(cusparseSetMat##Name)(d, (last) + 1),         \
			      INVALID_VALUE);                                  \
		assert_sparse(SP(cusparseSetMat##Name)(d, last), SUCCESS);     \
		assert_int_equal(SP(cusparseGetMat##Name)(d), last);           \
		assert_sparse(SP(cusparseSetMat##Name)(NULL, last),            \
			      INVALID_VALUE);                                  \
	} while (0)
	KEEPS(Type, CUSPARSE_MATRIX_TYPE_GENERAL,
	      CUSPARSE_MATRIX_TYPE_TRIANGULAR);
	KEEPS(FillMode, CUSPARSE_FILL_MODE_LOWER, CUSPARSE_FILL_MODE_UPPER);
	KEEPS(DiagType, CUSPARSE_DIAG_TYPE_NON_UNIT, CUSPARSE_DIAG_TYPE_UNIT);
	KEEPS(IndexBase, CUSPARSE_INDEX_BASE_ZERO, CUSPARSE_INDEX_BASE_ONE);
	assert_sparse(SP(cusparseDestroyMatDescr)(d), SUCCESS);
}

struct got {
	int64_t rows, cols, nnz, ld;
	void *at[3];
	const void *fixed[3];
	cusparseIndexType_t type[2];
	cusparseIndexBase_t base;
	cudaDataType value;
	cusparseOrder_t order;
	cusparseFormat_t format;
};

/* Nobody reads the addresses here. */
static void sparse_descriptors_tell_what_they_were_given(void **state)
{
	static int a, b, c;
	cusparseConstSpMatDescr_t fixed;
	cusparseSpMatDescr_t d;
	struct got g;

	(void)state;
#define GOT(at) &g.rows, &g.cols, &g.nnz, &at[0], &at[1], &at[2]
#define COMPRESSED(Format)                                                     \
	do {                                                                   \
		assert_sparse(SP(cusparseCreate##Format)(                      \
				  &d, 3, 4, 5, &a, &b, &c, CUSPARSE_INDEX_64I, \
				  CUSPARSE_INDEX_32I, 1, CUDA_C_16F),          \
			      SUCCESS);                                        \
		assert_sparse(                                                 \
		    SP(cusparse##Format##Get)(d, GOT(g.at), &g.type[0],        \
					      &g.type[1], &g.base, &g.value),  \
		    SUCCESS);                                                  \
		assert_true(g.rows == 3 && g.cols == 4 && g.nnz == 5 &&        \
			    g.at[0] == &a && g.at[1] == &b && g.at[2] == &c && \
			    g.type[0] == CUSPARSE_INDEX_64I &&                 \
			    g.type[1] == CUSPARSE_INDEX_32I && g.base == 1 &&  \
			    g.value == CUDA_C_16F);                            \
		assert_sparse(                                                 \
		    SP(cusparse##Format##SetPointers)(d, &c, &a, &b),          \
		    SUCCESS);                                                  \
		assert_sparse(SP(cusparseConst##Format##Get)(                  \
				  d, GOT(g.fixed), &g.type[0], &g.type[1],     \
				  &g.base, &g.value),                          \
			      SUCCESS);                                        \
		assert_true(g.fixed[0] == &c && g.fixed[1] == &a &&            \
			    g.fixed[2] == &b);                                 \
		assert_sparse(                                                 \
		    SP(cusparse##Format##SetPointers)(d, NULL, &a, &b),        \
		    INVALID_VALUE);                                            \
		assert_sparse(SP(cusparseCooGet)(d, GOT(g.at), &g.type[0],     \
						 &g.base, &g.value),           \
			      INVALID_VALUE);                                  \
		assert_sparse(SP(cusparseDestroySpMat)(d), SUCCESS);           \
		assert_sparse(SP(cusparseCreateConst##Format)(                 \
				  &fixed, 3, 4, 5, &a, &b, &c,                 \
				  CUSPARSE_INDEX_64I, CUSPARSE_INDEX_32I, 1,   \
				  CUDA_C_16F),                                 \
			      SUCCESS);                                        \
		assert_sparse(SP(cusparseDestroySpMat)(fixed), SUCCESS);       \
	} while (0)
	COMPRESSED(Csr);
	COMPRESSED(Csc);
	assert_sparse(SP(cusparseCreateCoo)(&d, 3, 4, 5, &a, &b, &c,
					    CUSPARSE_INDEX_64I, 1, CUDA_R_8I),
		      SUCCESS);
	assert_sparse(SP(cusparseCooSetPointers)(d, &b, &c, &a), SUCCESS);
	assert_sparse(SP(cusparseCooSetPointers)(d, &b, &c, NULL),
		      INVALID_VALUE);
	assert_sparse(
	    SP(cusparseCooGet)(d, GOT(g.at), &g.type[0], &g.base, &g.value),
	    SUCCESS);
	assert_true(g.at[0] == &b && g.at[1] == &c && g.at[2] == &a);
	assert_sparse(SP(cusparseConstCooGet)(d, GOT(g.fixed), &g.type[0],
					      &g.base, &g.value),
		      SUCCESS);
	assert_true(g.fixed[0] == &b && g.type[0] == CUSPARSE_INDEX_64I &&
		    g.value == CUDA_R_8I);
	assert_sparse(SP(cusparseSpMatSetValues)(d, &c), SUCCESS);
	assert_sparse(SP(cusparseSpMatGetValues)(d, &g.at[0]), SUCCESS);
	assert_sparse(SP(cusparseConstSpMatGetValues)(d, &g.fixed[0]), SUCCESS);
	assert_true(g.at[0] == &c && g.fixed[0] == &c);
	assert_sparse(SP(cusparseSpMatGetFormat)(d, &g.format), SUCCESS);
	assert_int_equal(g.format, CUSPARSE_FORMAT_COO);
	assert_sparse(SP(cusparseSpMatGetIndexBase)(d, &g.base), SUCCESS);
	assert_int_equal(g.base, 1);
	assert_sparse(SP(cusparseDestroySpMat)(d), SUCCESS);
	assert_sparse(SP(cusparseCreateConstCoo)(&fixed, 3, 4, 5, &a, &b, &c,
						 CUSPARSE_INDEX_16U, 0,
						 CUDA_R_8I),
		      SUCCESS);
	assert_sparse(SP(cusparseDestroySpMat)(fixed), SUCCESS);
	assert_sparse(SP(cusparseCreateConstBsr)(&fixed, 3, 4, 5, 2, 2, &a, &b,
						 &c, 2, 2, 0, CUDA_R_32F, 1),
		      SUCCESS);
	assert_sparse(SP(cusparseDestroySpMat)(fixed), SUCCESS);
	assert_sparse(SP(cusparseCreateConstBsr)(&fixed, 3, 4, 5, 0, 2, &a, &b,
						 &c, 2, 2, 0, CUDA_R_32F, 1),
		      INVALID_VALUE);
}

static void attributes_are_kept(void **state)
{
	cusparseFillMode_t fill = CUSPARSE_FILL_MODE_UPPER;
	cusparseDiagType_t diag = CUSPARSE_DIAG_TYPE_UNIT;
	cusparseSpMatDescr_t d;
	int got = 7, wrong = 2;

	(void)state;
	assert_sparse(SP(cusparseCreateCsr)(&d, 1, 1, 0, &got, &got, &got, 2, 2,
					    0, CUDA_R_32F),
		      SUCCESS);
	assert_sparse(SP(cusparseSpMatSetAttribute)(d, 0, &fill, 4), SUCCESS);
	assert_sparse(SP(cusparseSpMatSetAttribute)(d, 1, &diag, 4), SUCCESS);
	assert_sparse(SP(cusparseSpMatGetAttribute)(d, 0, &got, 4), SUCCESS);
	assert_int_equal(got, CUSPARSE_FILL_MODE_UPPER);
	assert_sparse(SP(cusparseSpMatGetAttribute)(d, 1, &got, 4), SUCCESS);
	assert_int_equal(got, CUSPARSE_DIAG_TYPE_UNIT);
	assert_sparse(SP(cusparseSpMatSetAttribute)(d, 0, &wrong, 4),
		      INVALID_VALUE);
	assert_sparse(SP(cusparseSpMatSetAttribute)(d, 2, &fill, 4),
		      INVALID_VALUE);
	assert_sparse(SP(cusparseSpMatSetAttribute)(d, 0, &fill, 8),
		      INVALID_VALUE);
	assert_sparse(SP(cusparseDestroySpMat)(d), SUCCESS);
}

static void dense_descriptors_tell_what_they_were_given(void **state)
{
	static int a, b;
	cusparseConstDnMatDescr_t fixed;
	cusparseDnMatDescr_t d;
	struct got g;
	int64_t stride = 0;
	int count = 0;

	(void)state;
#define DNMAT(...) SP(cusparseCreateDnMat)(&d, __VA_ARGS__)
	assert_sparse(DNMAT(3, 4, 2, &a, CUDA_R_32F, 1), INVALID_VALUE);
	assert_sparse(DNMAT(4, 3, 3, &a, CUDA_R_32F, 3), INVALID_VALUE);
	assert_sparse(DNMAT(3, 4, 3, NULL, CUDA_R_32F, 1), INVALID_VALUE);
	assert_sparse(DNMAT(3, 4, 3, &a, CUDA_R_32F, 1), SUCCESS);
	assert_sparse(SP(cusparseDnMatGet)(d, &g.rows, &g.cols, &g.ld, &g.at[0],
					   &g.value, &g.order),
		      SUCCESS);
	assert_true(g.rows == 3 && g.cols == 4 && g.ld == 3 && g.at[0] == &a &&
		    g.value == CUDA_R_32F && g.order == 1);
	assert_sparse(SP(cusparseDnMatSetValues)(d, &b), SUCCESS);
	assert_sparse(SP(cusparseDnMatGetValues)(d, &g.at[0]), SUCCESS);
	assert_sparse(SP(cusparseConstDnMatGetValues)(d, &g.fixed[0]), SUCCESS);
	assert_true(g.at[0] == &b && g.fixed[0] == &b);
	assert_sparse(SP(cusparseDnMatSetStridedBatch)(d, 2, 12), SUCCESS);
	assert_sparse(SP(cusparseDnMatSetStridedBatch)(d, 0, 12),
		      INVALID_VALUE);
	assert_sparse(SP(cusparseDnMatGetStridedBatch)(d, &count, &stride),
		      SUCCESS);
	assert_true(count == 2 && stride == 12);
	assert_sparse(SP(cusparseDestroyDnMat)(d), SUCCESS);
	assert_sparse(
	    SP(cusparseCreateConstDnMat)(&fixed, 2, 5, 5, &a, CUDA_R_64F, 2),
	    SUCCESS);
	assert_sparse(SP(cusparseConstDnMatGet)(fixed, &g.rows, &g.cols, &g.ld,
						&g.fixed[0], &g.value,
						&g.order),
		      SUCCESS);
	assert_true(g.rows == 2 && g.fixed[0] == &a && g.order == 2);
	assert_sparse(SP(cusparseDestroyDnMat)(fixed), SUCCESS);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_handle_keeps_its_stream_and_mode),
    cmocka_unit_test(its_work_waits_in_its_stream),
    cmocka_unit_test(its_version_is_one),
    cmocka_unit_test(statuses_have_names),
    cmocka_unit_test(properties_of_matrices_are_kept),
    cmocka_unit_test(sparse_descriptors_tell_what_they_were_given),
    cmocka_unit_test(attributes_are_kept),
    cmocka_unit_test(dense_descriptors_tell_what_they_were_given),
};

SPARSE_MAIN("cusparse-handle", tests)
