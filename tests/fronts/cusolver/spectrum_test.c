/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spectrum_test.c - checks singular values and eigenvalues: with their vectors
 * they give the matrix again.
 */
#include "fronts/cusolver/solver_test.h"

static bool wide; /* use the 64-bit functions instead of those of four types */
static cusolverDnParams_t params;

struct problem {
	void *work, *info, *values;
	int lwork;
};

static struct problem problem_begin(void)
{
	return (struct problem){room(4096), room(256), room(4096), 0};
}

static void problem_end(struct problem *p)
{
	drop(p->work);
	drop(p->info);
	drop(p->values);
}

/* U diag(s) V^H, from the available columns. */
static struct model put_together(const struct model *u, const double *s,
				 const struct model *vt)
{
	struct model r = {.rows = u->rows, .cols = vt->cols};

	for (int i = 0; i < r.rows; i++)
		for (int j = 0; j < r.cols; j++)
			for (int k = 0; k < u->cols && k < vt->rows; k++)
				r.at[i][j] += u->at[i][k] * s[k] * vt->at[k][j];
	return r;
}

static void is_orthogonal(enum type t, const struct model *u)
{
	struct model h = adjoint_of(u), got = product(&h, u),
		     one = identity(u->cols);

	same(t, &got, &one);
}

static void values_go_down(const double *s, int n)
{
	for (int i = 0; i < n; i++)
		assert_true(s[i] >= 0 && (i == 0 || s[i] <= s[i - 1]));
}

static void call_svd(enum type t, struct problem *p, char jobu, char jobv,
		     struct array *a, struct array *u, struct array *vt)
{
	int m = a->rows, n = a->cols;
	size_t device = 0, host = 0;

	if (!wide) {
		assert_solver(
		    FOUR(t, gesvd_bufferSize, solver, m, n, &p->lwork),
		    SUCCESS);
		assert_solver(FOUR(t, gesvd, solver, jobu, jobv, m, n, a->at,
				   a->ld, p->values, u->at, u->ld, vt->at,
				   vt->ld, p->work, p->lwork, NULL, p->info),
			      SUCCESS);
		return;
	}
	assert_solver(SO(cusolverDnXgesvd_bufferSize)(
			  solver, params, jobu, jobv, m, n, data_type(t), a->at,
			  a->ld, real_data_type(t), p->values, data_type(t),
			  u->at, u->ld, data_type(t), vt->at, vt->ld,
			  data_type(t), &device, &host),
		      SUCCESS);
	assert_true(device <= 4096);
	assert_solver(SO(cusolverDnXgesvd)(
			  solver, params, jobu, jobv, m, n, data_type(t), a->at,
			  a->ld, real_data_type(t), p->values, data_type(t),
			  u->at, u->ld, data_type(t), vt->at, vt->ld,
			  data_type(t), p->work, device, NULL, 0, p->info),
		      SUCCESS);
}

static void check_svd(enum type t, int m, int n, char job)
{
	struct model a = random_model(t, m, n), u, vt, got;
	struct problem p = problem_begin();
	struct array da = upload(t, &a, 1),
		     du = empty(t, m, job == 'A' ? m : n), dvt = empty(t, n, n);
	double s[SIDE];

	call_svd(t, &p, job, job, &da, &du, &dvt);
	assert_int_equal(info_at(p.info), 0);
	reals(t, p.values, n, s);
	values_go_down(s, n);
	if (job != 'N') {
		u = download(&du), vt = download(&dvt);
		is_orthogonal(t, &u);
		vt = adjoint_of(&vt);
		is_orthogonal(t, &vt);
		vt = adjoint_of(&vt);
		got = put_together(&u, s, &vt);
		same(t, &got, &a);
	}
	drop(da.at);
	drop(du.at);
	drop(dvt.at);
	problem_end(&p);
}

static void check_all_svd(void)
{
	static const int sides[][2] = {
	    {0, 0}, {1, 1}, {3, 1}, {6, 4}, {20, 20}};

	for (enum type t = S; t <= Z; t++)
		for (int i = 0; i < 15; i++)
			check_svd(t, sides[i / 3][0], sides[i / 3][1],
				  "ASN"[i % 3]);
}

static void singular_vectors_make_the_matrix_again(void **state)
{
	(void)state;
	wide = false;
	check_all_svd();
}

/* The values of diag(3, -2) are known. */
static void singular_values_are_those_of_a_known_matrix(void **state)
{
	struct model a = {3, 2, {{0, 3}, {-2, 0}, {0, 0}}};
	struct problem p = problem_begin();
	struct array da = upload(D, &a, 0), none = empty(D, 1, 1);
	double s[2];

	(void)state;
	wide = false;
	call_svd(D, &p, 'N', 'N', &da, &none, &none);
	reals(D, p.values, 2, s);
	assert_true(fabs(s[0] - 3) < 1e-12 && fabs(s[1] - 2) < 1e-12);
	assert_solver(SO(cusolverDnDgesvd)(solver, 'N', 'N', 2, 3, da.at, da.ld,
					   p.values, NULL, 1, NULL, 1, p.work,
					   256, NULL, p.info),
		      INVALID_VALUE);
	assert_solver(SO(cusolverDnDgesvd)(solver, 'X', 'N', 3, 2, da.at, da.ld,
					   p.values, NULL, 1, NULL, 1, p.work,
					   256, NULL, p.info),
		      INVALID_VALUE);
	drop(da.at);
	drop(none.at);
	problem_end(&p);
}

static void check_gesvdj(enum type t, int m, int n, bool economic,
			 gesvdjInfo_t info)
{
	int few = m < n ? m : n;
	struct model a = random_model(t, m, n), u, v, got;
	struct problem p = problem_begin();
	struct array da = upload(t, &a, 1),
		     du = empty(t, m, economic ? few : m),
		     dv = empty(t, n, economic ? few : n);
	double s[SIDE];

	assert_solver(FOUR(t, gesvdj_bufferSize, solver,
			   CUSOLVER_EIG_MODE_VECTOR, economic, m, n, da.at,
			   da.ld, p.values, du.at, du.ld, dv.at, dv.ld,
			   &p.lwork, info),
		      SUCCESS);
	assert_solver(FOUR(t, gesvdj, solver, CUSOLVER_EIG_MODE_VECTOR,
			   economic, m, n, da.at, da.ld, p.values, du.at, du.ld,
			   dv.at, dv.ld, p.work, p.lwork, p.info, info),
		      SUCCESS);
	assert_int_equal(info_at(p.info), 0);
	reals(t, p.values, few, s);
	values_go_down(s, few);
	u = download(&du), v = download(&dv);
	is_orthogonal(t, &u);
	is_orthogonal(t, &v);
	v = adjoint_of(&v);
	got = put_together(&u, s, &v);
	same(t, &got, &a);
	drop(da.at);
	drop(du.at);
	drop(dv.at);
	problem_end(&p);
}

static void jacobis_vectors_are_columns(void **state)
{
	static const int sides[][2] = {{1, 1}, {2, 5}, {5, 2}, {6, 6}};
	gesvdjInfo_t info;
	int sweeps = -1;

	(void)state;
	assert_solver(SO(cusolverDnCreateGesvdjInfo)(&info), SUCCESS);
	assert_solver(SO(cusolverDnXgesvdjSetTolerance)(info, 1e-7), SUCCESS);
	assert_solver(SO(cusolverDnXgesvdjSetMaxSweeps)(info, 15), SUCCESS);
	assert_solver(SO(cusolverDnXgesvdjSetSortEig)(info, 1), SUCCESS);
	for (enum type t = S; t <= Z; t++)
		for (int i = 0; i < 8; i++)
			check_gesvdj(t, sides[i / 2][0], sides[i / 2][1], i % 2,
				     info);
	assert_solver(SO(cusolverDnXgesvdjGetSweeps)(solver, info, &sweeps),
		      SUCCESS);
	assert_int_equal(sweeps, 0);
	assert_solver(SO(cusolverDnXgesvdjSetTolerance)(NULL, 1),
		      INVALID_VALUE);
	assert_solver(SO(cusolverDnDestroyGesvdjInfo)(info), SUCCESS);
}

/* The arrays of three problems one after the other, as one of many columns. */
static void check_gesvdj_batch(enum type t, int m, int n, gesvdjInfo_t info)
{
	int few = m < n ? m : n, infos[3];
	struct model a = random_model(t, m, 3 * n), u, v;
	struct problem p = problem_begin();
	struct array da = upload(t, &a, 2), du = empty(t, m, 3 * m),
		     dv = empty(t, n, 3 * n);
	double s[SIDE];

#define BATCH                                                                  \
	solver, CUSOLVER_EIG_MODE_VECTOR, m, n, da.at, da.ld, p.values, du.at, \
	    du.ld, dv.at, dv.ld
	assert_solver(
	    FOUR(t, gesvdjBatched_bufferSize, BATCH, &p.lwork, info, 3),
	    SUCCESS);
	assert_solver(
	    FOUR(t, gesvdjBatched, BATCH, p.work, p.lwork, p.info, info, 3),
	    SUCCESS);
	fetch(infos, p.info, sizeof infos);
	assert_true(!infos[0] && !infos[1] && !infos[2]);
	reals(t, p.values, 3 * few, s);
	u = download(&du), v = download(&dv);
	for (int b = 0; b < 3; b++) {
		struct model one_u = {.rows = m, .cols = m},
			     one_v = {.rows = n, .cols = n},
			     one_a = {.rows = m, .cols = n}, got;

		for (int i = 0; i < m; i++)
			for (int j = 0; j < m; j++)
				one_u.at[i][j] = u.at[i][b * m + j];
		for (int i = 0; i < n; i++)
			for (int j = 0; j < n; j++)
				one_v.at[i][j] = v.at[i][b * n + j];
		for (int i = 0; i < m; i++)
			for (int j = 0; j < n; j++)
				one_a.at[i][j] = a.at[i][b * n + j];
		one_v = adjoint_of(&one_v);
		got = put_together(&one_u, s + b * few, &one_v);
		same(t, &got, &one_a);
	}
	drop(da.at);
	drop(du.at);
	drop(dv.at);
	problem_end(&p);
}

static void batches_are_decomposed_each(void **state)
{
	gesvdjInfo_t info;
	int lwork;

	(void)state;
	assert_solver(SO(cusolverDnCreateGesvdjInfo)(&info), SUCCESS);
	for (enum type t = S; t <= Z; t++) {
		check_gesvdj_batch(t, 3, 5, info);
		check_gesvdj_batch(t, 4, 2, info);
	}
	assert_solver(SO(cusolverDnSgesvdjBatched_bufferSize)(
			  solver, 0, 33, 2, NULL, 33, NULL, NULL, 33, NULL, 2,
			  &lwork, info, 1),
		      INVALID_VALUE);
	assert_solver(SO(cusolverDnDestroyGesvdjInfo)(info), SUCCESS);
}

enum way { DIVIDE, JACOBI, WIDE };

static void call_eigen(enum type t, enum way way, struct problem *p,
		       cusolverEigMode_t mode, cublasFillMode_t uplo,
		       struct array *a)
{
	size_t device = 0, host = 0;
	syevjInfo_t info;

	if (way == DIVIDE) {
		assert_solver(FOUR_NAMED(t, syevd_bufferSize, heevd_bufferSize,
					 solver, mode, uplo, a->rows, a->at,
					 a->ld, p->values, &p->lwork),
			      SUCCESS);
		assert_solver(FOUR_NAMED(t, syevd, heevd, solver, mode, uplo,
					 a->rows, a->at, a->ld, p->values,
					 p->work, p->lwork, p->info),
			      SUCCESS);
	} else if (way == JACOBI) {
		assert_solver(SO(cusolverDnCreateSyevjInfo)(&info), SUCCESS);
		assert_solver(FOUR_NAMED(t, syevj_bufferSize, heevj_bufferSize,
					 solver, mode, uplo, a->rows, a->at,
					 a->ld, p->values, &p->lwork, info),
			      SUCCESS);
		assert_solver(FOUR_NAMED(t, syevj, heevj, solver, mode, uplo,
					 a->rows, a->at, a->ld, p->values,
					 p->work, p->lwork, p->info, info),
			      SUCCESS);
		assert_solver(SO(cusolverDnDestroySyevjInfo)(info), SUCCESS);
	} else {
		assert_solver(SO(cusolverDnXsyevd_bufferSize)(
				  solver, params, mode, uplo, a->rows,
				  data_type(t), a->at, a->ld, real_data_type(t),
				  p->values, data_type(t), &device, &host),
			      SUCCESS);
		assert_solver(SO(cusolverDnXsyevd)(
				  solver, params, mode, uplo, a->rows,
				  data_type(t), a->at, a->ld, real_data_type(t),
				  p->values, data_type(t), p->work, device,
				  NULL, 0, p->info),
			      SUCCESS);
	}
}

/* The triangle that is not used contains nonsense. */
static void check_eigen(enum type t, enum way way, int n,
			cusolverEigMode_t mode, cublasFillMode_t uplo)
{
	struct model a = hermitian(t, n, false), half = a, v, h, got;
	struct problem p = problem_begin();
	struct array da;
	double w[SIDE];

	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
			if (uplo == CUBLAS_FILL_MODE_LOWER ? j > i : j < i)
				half.at[i][j] = 1000;
	da = upload(t, &half, 2);
	call_eigen(t, way, &p, mode, uplo, &da);
	assert_int_equal(info_at(p.info), 0);
	reals(t, p.values, n, w);
	for (int i = 1; i < n; i++)
		assert_true(w[i] >= w[i - 1]);
	if (mode == CUSOLVER_EIG_MODE_VECTOR) {
		v = download(&da);
		is_orthogonal(t, &v);
		h = adjoint_of(&v);
		got = put_together(&v, w, &h);
		same(t, &got, &a);
	}
	drop(da.at);
	problem_end(&p);
}

static void eigenvectors_make_the_matrix_again(void **state)
{
	static const int n[] = {0, 1, 2, 9};

	(void)state;
	for (enum type t = S; t <= Z; t++)
		for (int i = 0; i < 48; i++)
			check_eigen(t, (enum way)(i % 3), n[i / 3 % 4],
				    (cusolverEigMode_t)(i / 12 % 2),
				    (cublasFillMode_t)(i / 24));
}

/* [2 1; 1 2] has 1 and 3; three of them, doubled and tripled. */
static void batches_have_eigenvalues_each(void **state)
{
	struct model a = {2, 6, {{2, 1, 4, 2, 6, 3}, {1, 2, 2, 4, 3, 6}}};
	double w[6];
	syevjInfo_t info;
	int infos[3], sweeps;

	(void)state;
	assert_solver(SO(cusolverDnCreateSyevjInfo)(&info), SUCCESS);
	assert_solver(SO(cusolverDnXsyevjSetTolerance)(info, 1e-7), SUCCESS);
	assert_solver(SO(cusolverDnXsyevjSetMaxSweeps)(info, 15), SUCCESS);
	assert_solver(SO(cusolverDnXsyevjSetSortEig)(info, 1), SUCCESS);
	for (int i = 0; i < 8; i++) {
		enum type t = (enum type)(i / 2);
		struct problem p = problem_begin();
		struct array da = upload(t, &a, 1);
		size_t device = 0, host = 0;

#define SMALL solver, CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_UPPER, 2
#define LARGE                                                                  \
	solver, params, CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_UPPER, 2,   \
	    data_type(t), da.at, da.ld, real_data_type(t), p.values,           \
	    data_type(t)
		if (i % 2) {
			assert_solver(SO(cusolverDnXsyevBatched_bufferSize)(
					  LARGE, &device, &host, 3),
				      SUCCESS);
			assert_solver(SO(cusolverDnXsyevBatched)(LARGE, p.work,
								 device, NULL,
								 0, p.info, 3),
				      SUCCESS);
		} else {
			assert_solver(FOUR_NAMED(t, syevjBatched_bufferSize,
						 heevjBatched_bufferSize, SMALL,
						 da.at, da.ld, p.values,
						 &p.lwork, info, 3),
				      SUCCESS);
			assert_solver(FOUR_NAMED(t, syevjBatched, heevjBatched,
						 SMALL, da.at, da.ld, p.values,
						 p.work, p.lwork, p.info, info,
						 3),
				      SUCCESS);
		}
		fetch(infos, p.info, sizeof infos);
		assert_true(!infos[0] && !infos[1] && !infos[2]);
		reals(t, p.values, 6, w);
		for (int b = 0; b < 3; b++) {
			assert_true(fabs(w[2 * b] - (b + 1)) < 1e-5);
			assert_true(fabs(w[2 * b + 1] - 3 * (b + 1)) < 1e-5);
		}
		drop(da.at);
		problem_end(&p);
	}
	assert_solver(SO(cusolverDnXsyevjGetSweeps)(solver, info, &sweeps),
		      SUCCESS);
	assert_int_equal(sweeps, 0);
	assert_solver(SO(cusolverDnDestroySyevjInfo)(info), SUCCESS);
}

static void wide_functions_decompose_too(void **state)
{
	(void)state;
	wide = true;
	check_all_svd();
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
    cmocka_unit_test(singular_vectors_make_the_matrix_again),
    cmocka_unit_test(singular_values_are_those_of_a_known_matrix),
    cmocka_unit_test(jacobis_vectors_are_columns),
    cmocka_unit_test(batches_are_decomposed_each),
    cmocka_unit_test(eigenvectors_make_the_matrix_again),
    cmocka_unit_test(batches_have_eigenvalues_each),
    cmocka_unit_test(wide_functions_decompose_too),
};

int main(void)
{
	return cmocka_run_group_tests_name("cusolver-spectrum", tests, setup,
					   teardown);
}
