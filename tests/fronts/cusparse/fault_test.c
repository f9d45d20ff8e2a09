/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fault_test.c - checks that invalid data in device memory fails as an illegal
 * address.
 */
#include "abi/libraries/cusparse_abi.h"
#include "fronts/cuda/loaded.h"

static void *library;

#define SP(symbol) ((__typeof__(&symbol))dlsym(library, #symbol))
#define assert_sparse(call, status)                                            \
	assert_int_equal((call), CUSPARSE_STATUS_##status)

static void *upload(const void *from, size_t size)
{
	CUdeviceptr p;

	assert_cuda(CU(cuMemAlloc_v2)(&p, size), SUCCESS);
	assert_cuda(CU(cuMemcpyHtoD_v2)(p, from, size), SUCCESS);
	return (void *)(uintptr_t)p;
}

/* y = A x with a matrix of 2 x 2 that has these arrays. */
static void multiply(const int *offsets, const int *columns, void *values)
{
	const float one = 1, x[2] = {1, 1};
	void *vector = upload(x, sizeof x);
	cusparseSpMatDescr_t a;
	cusparseDnVecDescr_t v;
	cusparseHandle_t h;

	library = dlopen(FAKE_DIR "/libcusparse.so.12", RTLD_NOW);
	assert_non_null(library);
	assert_sparse(SP(cusparseCreate)(&h), SUCCESS);
	assert_sparse(SP(cusparseCreateCsr)(
			  &a, 2, 2, 2, upload(offsets, 12), upload(columns, 8),
			  values ? values : vector, CUSPARSE_INDEX_32I,
			  CUSPARSE_INDEX_32I, 0, CUDA_R_32F),
		      SUCCESS);
	assert_sparse(SP(cusparseCreateDnVec)(&v, 2, vector, CUDA_R_32F),
		      SUCCESS);
	assert_sparse(
	    SP(cusparseSpMV)(h, 0, &one, a, v, &one, v, CUDA_R_32F, 0, NULL),
	    SUCCESS);
	assert_sparse(SP(cusparseDestroySpMat)(a), SUCCESS);
	assert_sparse(SP(cusparseDestroyDnVec)(v), SUCCESS);
	assert_sparse(SP(cusparseDestroy)(h), SUCCESS);
}

static const int good_offsets[] = {0, 1, 2}, good_columns[] = {1, 0};

static void a_good_matrix_is_multiplied(struct fixture *fx)
{
	(void)fx;
	begin();
	multiply(good_offsets, good_columns, NULL);
	assert_cuda(CU(cuCtxSynchronize)(), SUCCESS);
}

static void a_column_beyond_the_matrix_is_illegal(struct fixture *fx)
{
	const int columns[] = {1, 2};

	(void)fx;
	begin();
	multiply(good_offsets, columns, NULL);
	assert_cuda(CU(cuCtxSynchronize)(), ERROR_ILLEGAL_ADDRESS);
}

static void an_offset_beyond_the_entries_is_illegal(struct fixture *fx)
{
	const int offsets[] = {0, 1, 3};

	(void)fx;
	begin();
	multiply(offsets, good_columns, NULL);
	assert_cuda(CU(cuCtxSynchronize)(), ERROR_ILLEGAL_ADDRESS);
}

static void values_of_the_host_are_illegal(struct fixture *fx)
{
	static float host[2] = {1, 2};

	(void)fx;
	begin();
	multiply(good_offsets, good_columns, host);
	assert_cuda(CU(cuCtxSynchronize)(), ERROR_ILLEGAL_ADDRESS);
}

/*
 * From the first element of B to its last there are 2^64 - 8, plus 8 in the
 * last row: 0 in 64 bits.
 */
static void a_dense_matrix_beyond_all_addresses_is_illegal(struct fixture *fx)
{
	const int64_t rows = 1ll << 61;
	const int zero[] = {0, 0};
	const float one = 1, eight[8] = {0};
	cusparseSpMatDescr_t a;
	cusparseDnMatDescr_t b, c;
	cusparseHandle_t h;
	void *some;

	(void)fx;
	begin();
	library = dlopen(FAKE_DIR "/libcusparse.so.12", RTLD_NOW);
	assert_non_null(library);
	some = upload(zero, sizeof zero);
	assert_sparse(SP(cusparseCreate)(&h), SUCCESS);
	assert_sparse(SP(cusparseCreateCsr)(&a, 1, rows, 0, some, some, some,
					    CUSPARSE_INDEX_32I,
					    CUSPARSE_INDEX_32I, 0, CUDA_R_32F),
		      SUCCESS);
	assert_sparse(SP(cusparseCreateDnMat)(&b, rows, 8, 8, some, CUDA_R_32F,
					      CUSPARSE_ORDER_ROW),
		      SUCCESS);
	assert_sparse(SP(cusparseCreateDnMat)(&c, 1, 8, 1,
					      upload(eight, sizeof eight),
					      CUDA_R_32F, CUSPARSE_ORDER_COL),
		      SUCCESS);
	assert_sparse(
	    SP(cusparseSpMM)(h, 0, 0, &one, a, b, &one, c, CUDA_R_32F, 0, NULL),
	    SUCCESS);
	assert_cuda(CU(cuCtxSynchronize)(), ERROR_ILLEGAL_ADDRESS);
	assert_sparse(SP(cusparseDestroySpMat)(a), SUCCESS);
	assert_sparse(SP(cusparseDestroyDnMat)(b), SUCCESS);
	assert_sparse(SP(cusparseDestroyDnMat)(c), SUCCESS);
	assert_sparse(SP(cusparseDestroy)(h), SUCCESS);
}

/* A matrix of large blocks has this many values: 2^64, 0 in 64 bits. */
static void blocks_beyond_all_addresses_are_illegal(struct fixture *fx)
{
	enum { BLOCK = 1 << 22, COUNT = 1 << 20 };
	const int offsets[] = {0, COUNT};
	const float one = 1;
	int *columns = calloc(COUNT, sizeof *columns);
	float *numbers = calloc(BLOCK, sizeof *numbers);
	cusparseSpMatDescr_t a;
	cusparseDnVecDescr_t x;
	cusparseHandle_t h;
	void *vector;

	(void)fx;
	begin();
	library = dlopen(FAKE_DIR "/libcusparse.so.12", RTLD_NOW);
	assert_non_null(library);
	vector = upload(numbers, BLOCK * sizeof *numbers);
	assert_sparse(SP(cusparseCreate)(&h), SUCCESS);
	assert_sparse(
	    SP(cusparseCreateBsr)(
		&a, 1, 1, COUNT, BLOCK, BLOCK, upload(offsets, sizeof offsets),
		upload(columns, COUNT * sizeof *columns), vector,
		CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, 0, CUDA_R_32F, 2),
	    SUCCESS);
	assert_sparse(SP(cusparseCreateDnVec)(&x, BLOCK, vector, CUDA_R_32F),
		      SUCCESS);
	assert_sparse(
	    SP(cusparseSpMV)(h, 0, &one, a, x, &one, x, CUDA_R_32F, 0, NULL),
	    SUCCESS);
	assert_cuda(CU(cuCtxSynchronize)(), ERROR_ILLEGAL_ADDRESS);
	assert_sparse(SP(cusparseDestroySpMat)(a), SUCCESS);
	assert_sparse(SP(cusparseDestroyDnVec)(x), SUCCESS);
	assert_sparse(SP(cusparseDestroy)(h), SUCCESS);
	free(columns);
	free(numbers);
}

static void a_library_without_a_driver_is_not_initialised(struct fixture *fx)
{
	cusparseHandle_t h;

	(void)fx;
	library = dlopen(FAKE_DIR "/libcusparse.so.12", RTLD_NOW);
	setenv("CUDA_VISIBLE_DEVICES", "", 1);
	assert_sparse(SP(cusparseCreate)(&h), NOT_INITIALIZED);
}

static const struct alone tests[] = {
    ALONE(a_good_matrix_is_multiplied),
    ALONE(a_column_beyond_the_matrix_is_illegal),
    ALONE(an_offset_beyond_the_entries_is_illegal),
    ALONE(values_of_the_host_are_illegal),
    ALONE(a_dense_matrix_beyond_all_addresses_is_illegal),
    ALONE(blocks_beyond_all_addresses_are_illegal),
    ALONE(a_library_without_a_driver_is_not_initialised),
};

ALONE_MAIN(tests)
