/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wide_test.c - checks the 64-bit functions, handles, and what is too large or
 * of wrong types.
 */
#include "fronts/cusolver/solver_test.h"

static cusolverDnParams_t params;

static void check_wide_solving(enum type t, int n)
{
	struct model a = hermitian(t, n, true), x = random_model(t, n, 2),
		     b = product(&a, &x), got;
	struct array da = upload(t, &a, 1), db = upload(t, &b, 2),
		     dh = upload(t, &a, 0), dx = upload(t, &b, 0);
	void *work = room(4096), *pivots = room(512), *info = room(4);
	cudaDataType type = data_type(t);
	size_t device = 0, host = 0;

	assert_solver(SO(cusolverDnXgetrf_bufferSize)(solver, params, n, n,
						      type, da.at, da.ld, type,
						      &device, &host),
		      SUCCESS);
	assert_solver(SO(cusolverDnXgetrf)(solver, params, n, n, type, da.at,
					   da.ld, pivots, type, work, device,
					   NULL, host, info),
		      SUCCESS);
	assert_solver(SO(cusolverDnXgetrs)(solver, params, CUBLAS_OP_N, n, 2,
					   type, da.at, da.ld, pivots, type,
					   db.at, db.ld, info),
		      SUCCESS);
	assert_int_equal(info_at(info), 0);
	got = download(&db);
	same(t, &got, &x);
#define UPPER solver, params, CUBLAS_FILL_MODE_UPPER, n
	assert_solver(SO(cusolverDnXpotrf_bufferSize)(UPPER, type, dh.at, dh.ld,
						      type, &device, &host),
		      SUCCESS);
	assert_solver(SO(cusolverDnXpotrf)(UPPER, type, dh.at, dh.ld, type,
					   work, device, NULL, host, info),
		      SUCCESS);
	assert_solver(SO(cusolverDnXpotrs)(UPPER, 2, type, dh.at, dh.ld, type,
					   dx.at, dx.ld, info),
		      SUCCESS);
	got = download(&dx);
	same(t, &got, &x);
	drop(da.at);
	drop(db.at);
	drop(dh.at);
	drop(dx.at);
	drop(work);
	drop(pivots);
	drop(info);
}

static void wide_functions_solve(void **state)
{
	(void)state;
	for (enum type t = S; t <= Z; t++) {
		check_wide_solving(t, 1);
		check_wide_solving(t, 12);
	}
}

/*
 * In the first column, 1 and 3, the larger number is the second: rows are
 * exchanged.
 */
static void wide_pivots_have_64_bits(void **state)
{
	struct model a = {2, 2, {{1, 2}, {3, 4}}};
	struct array d = upload(S, &a, 0);
	void *pivots = room(16), *info = room(4);
	int64_t got[2];

	(void)state;
	assert_solver(SO(cusolverDnXgetrf)(solver, params, 2, 2, CUDA_R_32F,
					   d.at, 2, pivots, CUDA_R_32F, NULL, 0,
					   NULL, 0, info),
		      SUCCESS);
	fetch(got, pivots, sizeof got);
	assert_true(got[0] == 2 && got[1] == 2);
	drop(d.at);
	drop(pivots);
	drop(info);
}

/* |R| of one column is its length. */
static void a_wide_qr_keeps_the_length(void **state)
{
	struct model a = {3, 1, {{2}, {3}, {6}}}, r;
	struct array d = upload(D, &a, 0);
	void *tau = room(8), *info = room(4);
	size_t device = 0, host = 0;

	(void)state;
#define COLUMN                                                                 \
	solver, params, 3, 1, CUDA_R_64F, d.at, 3, CUDA_R_64F, tau, CUDA_R_64F
	assert_solver(SO(cusolverDnXgeqrf_bufferSize)(COLUMN, &device, &host),
		      SUCCESS);
	assert_solver(
	    SO(cusolverDnXgeqrf)(COLUMN, NULL, device, NULL, host, info),
	    SUCCESS);
	r = download(&d);
	assert_true(fabs(cabs(r.at[0][0]) - 7) < 1e-12);
	drop(d.at);
	drop(tau);
	drop(info);
}

/* A column of zeros; 64 times its rows exceed an int. */
static void a_column_of_many_rows_is_factored(void **state)
{
	const int64_t rows = 1 << 26;
	float *at = room(rows * sizeof *at), tau = 7, *to = room(4);
	int *info = room(4), told = 7;

	(void)state;
	assert_cuda(CU(cuMemsetD32_v2)((uintptr_t)at, 0, (size_t)rows),
		    SUCCESS);
	assert_solver(SO(cusolverDnXgeqrf)(solver, params, rows, 1, CUDA_R_32F,
					   at, rows, CUDA_R_32F, to, CUDA_R_32F,
					   NULL, 0, NULL, 0, info),
		      SUCCESS);
	fetch(&told, info, sizeof told);
	fetch(&tau, to, sizeof tau);
	assert_true(told == 0 && tau == 0);
	drop(at);
	drop(to);
	drop(info);
}

static void what_lapack_cannot_do_is_refused(void **state)
{
	size_t device = 7, host = 7;
	float a[4];

	(void)state;
#define SIZE_OF(type, n, ld, compute)                                          \
	SO(cusolverDnXpotrf_bufferSize)                                        \
	(solver, params, 0, n, type, a, ld, compute, &device, &host)
	assert_solver(SIZE_OF(CUDA_R_16F, 2, 2, CUDA_R_16F), NOT_SUPPORTED);
	assert_solver(SIZE_OF(CUDA_R_32F, 2, 2, CUDA_R_64F), NOT_SUPPORTED);
	assert_solver(SIZE_OF(CUDA_R_32F, 1ll << 31, 1ll << 31, CUDA_R_32F),
		      NOT_SUPPORTED);
	assert_solver(SIZE_OF(CUDA_R_32F, -1, 2, CUDA_R_32F), INVALID_VALUE);
	assert_solver(SIZE_OF(CUDA_R_32F, 2, 1, CUDA_R_32F), INVALID_VALUE);
	assert_true(device == 7 && host == 7);
}

/* Programs ask before they have one: PyTorch passes NULL. */
static void a_size_is_told_without_a_matrix(void **state)
{
	size_t device[4] = {0}, host[4] = {7, 7, 7, 7};
	int told[3] = {0};

	(void)state;
#define SIZES(i) &device[i], &host[i]
	assert_solver(SO(cusolverDnXgetrf_bufferSize)(solver, params, 3, 2,
						      CUDA_R_32F, NULL, 3,
						      CUDA_R_32F, SIZES(0)),
		      SUCCESS);
	assert_solver(SO(cusolverDnXpotrf_bufferSize)(solver, params, 0, 2,
						      CUDA_R_32F, NULL, 2,
						      CUDA_R_32F, SIZES(1)),
		      SUCCESS);
	assert_solver(SO(cusolverDnXgeqrf_bufferSize)(
			  solver, params, 3, 2, CUDA_R_32F, NULL, 3, CUDA_R_32F,
			  NULL, CUDA_R_32F, SIZES(2)),
		      SUCCESS);
	assert_solver(SO(cusolverDnXsyevd_bufferSize)(
			  solver, params, 0, 0, 2, CUDA_R_32F, NULL, 2,
			  CUDA_R_32F, NULL, CUDA_R_32F, SIZES(3)),
		      SUCCESS);
	for (int i = 0; i < 4; i++)
		assert_true(device[i] && !host[i]);
	assert_solver(
	    SO(cusolverDnSgetrf_bufferSize)(solver, 3, 2, NULL, 3, &told[0]),
	    SUCCESS);
	assert_solver(
	    SO(cusolverDnSpotrf_bufferSize)(solver, 0, 2, NULL, 2, &told[1]),
	    SUCCESS);
	assert_solver(SO(cusolverDnSsyevd_bufferSize)(solver, 0, 0, 2, NULL, 2,
						      NULL, &told[2]),
		      SUCCESS);
	assert_true(told[0] && told[1] && told[2]);
	assert_solver(
	    SO(cusolverDnSgetrf)(solver, 3, 2, NULL, 3, NULL, told, told),
	    INVALID_VALUE);
}

static void a_handle_keeps_stream_and_mode(void **state)
{
	cusolverDeterministicMode_t mode = 0;
	cusolverDnHandle_t h;
	cudaStream_t got;
	CUstream s;

	(void)state;
	assert_solver(SO(cusolverDnCreate)(NULL), INVALID_VALUE);
	assert_solver(SO(cusolverDnCreate)(&h), SUCCESS);
	assert_cuda(CU(cuStreamCreate)(&s, 0), SUCCESS);
	assert_solver(SO(cusolverDnSetStream)(h, s), SUCCESS);
	assert_solver(SO(cusolverDnGetStream)(h, &got), SUCCESS);
	assert_ptr_equal(got, s);
	assert_solver(SO(cusolverDnGetDeterministicMode)(h, &mode), SUCCESS);
	assert_int_equal(mode, CUSOLVER_DETERMINISTIC_RESULTS);
	assert_solver(SO(cusolverDnSetDeterministicMode)(h, 2), SUCCESS);
	assert_solver(SO(cusolverDnGetDeterministicMode)(h, &mode), SUCCESS);
	assert_int_equal(mode, CUSOLVER_ALLOW_NON_DETERMINISTIC_RESULTS);
	assert_solver(SO(cusolverDnSetDeterministicMode)(h, 3), INVALID_VALUE);
	assert_solver(SO(cusolverDnDestroy)(h), SUCCESS);
	assert_solver(SO(cusolverDnDestroy)(NULL), NOT_INITIALIZED);
	assert_solver(SO(cusolverDnSetStream)(NULL, s), NOT_INITIALIZED);
	assert_cuda(CU(cuStreamDestroy_v2)(s), SUCCESS);
	assert_solver(SO(cusolverDnSetAdvOptions)(params, CUSOLVERDN_GETRF,
						  CUSOLVER_ALG_1),
		      SUCCESS);
	assert_solver(SO(cusolverDnSetAdvOptions)(params, 3, CUSOLVER_ALG_1),
		      INVALID_VALUE);
}

static void its_version_is_one(void **state)
{
	int version = 0, part[3] = {0};

	(void)state;
	assert_solver(SO(cusolverGetVersion)(&version), SUCCESS);
	for (int i = 0; i < 3; i++)
		assert_solver(
		    SO(cusolverGetProperty)((libraryPropertyType)i, &part[i]),
		    SUCCESS);
	assert_int_equal(version, part[0] * 1000 + part[1] * 100 + part[2]);
	assert_int_equal(part[0], 12);
	assert_solver(SO(cusolverGetProperty)(3, part), INVALID_VALUE);
}

static int setup(void **state)
{
	solver_setup(state);
	assert_solver(SO(cusolverDnCreateParams)(&params), SUCCESS);
	return 0;
}

static int teardown(void **state)
{
	assert_solver(SO(cusolverDnDestroyParams)(params), SUCCESS);
	return solver_teardown(state);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(wide_functions_solve),
    cmocka_unit_test(wide_pivots_have_64_bits),
    cmocka_unit_test(a_wide_qr_keeps_the_length),
    cmocka_unit_test(a_column_of_many_rows_is_factored),
    cmocka_unit_test(what_lapack_cannot_do_is_refused),
    cmocka_unit_test(a_size_is_told_without_a_matrix),
    cmocka_unit_test(a_handle_keeps_stream_and_mode),
    cmocka_unit_test(its_version_is_one),
};

int main(void)
{
	return cmocka_run_group_tests_name("cusolver-wide", tests, setup,
					   teardown);
}
