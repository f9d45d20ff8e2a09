/* SPDX-License-Identifier: Apache-2.0 */
/*
 * factor_test.c - checks LU, Cholesky and QR: products of the factors, and the
 * systems that they solve.
 */
#include "fronts/cusolver/solver_test.h"

struct problem {
	enum type t;
	void *work, *info, *pivots;
	int lwork;
};

static struct problem problem_of(enum type t)
{
	return (struct problem){t, room(4096), room(256), room(256), 0};
}

static void problem_end(struct problem *p)
{
	drop(p->work);
	drop(p->info);
	drop(p->pivots);
}

static const int sides[][2] = {{0, 0}, {1, 1}, {2, 5},
			       {5, 2}, {7, 7}, {33, 33}};
#define SIDES (sizeof sides / sizeof *sides)

/* Rows after a sequence of 1-based swaps. */
static struct model swapped(const struct model *m, const int *pivots, int n)
{
	struct model r = *m;

	for (int i = 0; i < n; i++)
		for (int j = 0; j < r.cols; j++) {
			double complex v = r.at[i][j];

			r.at[i][j] = r.at[pivots[i] - 1][j];
			r.at[pivots[i] - 1][j] = v;
		}
	return r;
}

/* L with ones on its diagonal times U. */
static struct model l_times_u(const struct model *lu)
{
	int few = lu->rows < lu->cols ? lu->rows : lu->cols;
	struct model l = triangle(lu, true), u = triangle(lu, false);

	l.cols = u.rows = few;
	for (int i = 0; i < few; i++)
		l.at[i][i] = 1;
	return product(&l, &u);
}

static void check_lu(enum type t, int m, int n, bool pivoting)
{
	struct model a = random_model(t, m, n), lu, got, expected = a;
	int pivots[SIDE], few = m < n ? m : n;
	struct problem p = problem_of(t);
	struct array d;

	for (int i = 0; !pivoting && i < few; i++)
		a.at[i][i] += 9;
	expected = a;
	d = upload(t, &a, 3);
	assert_solver(
	    FOUR(t, getrf_bufferSize, solver, m, n, d.at, d.ld, &p.lwork),
	    SUCCESS);
	assert_true(p.lwork > 0 && p.lwork <= 256);
	assert_solver(FOUR(t, getrf, solver, m, n, d.at, d.ld, p.work,
			   pivoting ? p.pivots : NULL, p.info),
		      SUCCESS);
	assert_int_equal(info_at(p.info), 0);
	lu = download(&d);
	fetch(pivots, p.pivots, sizeof pivots);
	if (pivoting)
		expected = swapped(&a, pivots, few);
	got = l_times_u(&lu);
	same(t, &got, &expected);
	drop(d.at);
	problem_end(&p);
}

static void lower_times_upper_is_the_matrix(void **state)
{
	(void)state;
	for (enum type t = S; t <= Z; t++)
		for (size_t i = 0; i < SIDES; i++) {
			check_lu(t, sides[i][0], sides[i][1], true);
			check_lu(t, sides[i][0], sides[i][1], false);
		}
}

static void check_solving(enum type t, int n, cublasOperation_t op,
			  bool pivoting)
{
	struct model a = random_model(t, n, n), x = random_model(t, n, 3), b,
		     got, turned;
	struct problem p = problem_of(t);
	void *pivots = pivoting ? p.pivots : NULL;
	struct array da, db;

	for (int i = 0; i < n; i++)
		a.at[i][i] += 9;
	turned = op == CUBLAS_OP_N   ? a
		 : op == CUBLAS_OP_T ? transposed(&a)
				     : adjoint_of(&a);
	b = product(&turned, &x);
	da = upload(t, &a, 1), db = upload(t, &b, 2);
	assert_solver(
	    FOUR(t, getrf, solver, n, n, da.at, da.ld, p.work, pivots, p.info),
	    SUCCESS);
	assert_solver(FOUR(t, getrs, solver, op, n, 3, da.at, da.ld, pivots,
			   db.at, db.ld, p.info),
		      SUCCESS);
	assert_int_equal(info_at(p.info), 0);
	got = download(&db);
	same(t, &got, &x);
	drop(da.at);
	drop(db.at);
	problem_end(&p);
}

static void systems_are_solved_with_every_operation(void **state)
{
	static const int n[] = {0, 1, 6, 20};

	(void)state;
	for (enum type t = S; t <= Z; t++)
		for (int i = 0; i < 4; i++)
			for (int op = 0; op < 3; op++)
				check_solving(t, n[i], (cublasOperation_t)op,
					      (i + op) % 2);
}

/* The second row is twice the first: the second pivot is 0. */
static void a_singular_matrix_is_told(void **state)
{
	struct model a = {2, 2, {{1, 2}, {2, 4}}};
	struct problem p = problem_of(D);
	struct array d = upload(D, &a, 0);

	(void)state;
	assert_solver(SO(cusolverDnDgetrf)(solver, 2, 2, d.at, 2, p.work,
					   p.pivots, p.info),
		      SUCCESS);
	assert_int_equal(info_at(p.info), 2);
	drop(d.at);
	d = upload(D, &a, 0);
	assert_solver(
	    SO(cusolverDnDgetrf)(solver, 2, 2, d.at, 2, p.work, NULL, p.info),
	    SUCCESS);
	assert_int_equal(info_at(p.info), 2);
	drop(d.at);
	problem_end(&p);
}

/* L L^H or U^H U from the requested triangle. */
static struct model square_of(const struct model *factor, bool lower)
{
	struct model f = triangle(factor, lower), h = adjoint_of(&f);

	return lower ? product(&f, &h) : product(&h, &f);
}

static void check_cholesky(enum type t, int n, cublasFillMode_t uplo)
{
	struct model a = hermitian(t, n, true), x = random_model(t, n, 2),
		     b = product(&a, &x), got, one = identity(n), inverse;
	bool lower = uplo == CUBLAS_FILL_MODE_LOWER;
	struct problem p = problem_of(t);
	struct array da = upload(t, &a, 3), db = upload(t, &b, 1);

	assert_solver(
	    FOUR(t, potrf_bufferSize, solver, uplo, n, da.at, da.ld, &p.lwork),
	    SUCCESS);
	assert_solver(FOUR(t, potrf, solver, uplo, n, da.at, da.ld, p.work,
			   p.lwork, p.info),
		      SUCCESS);
	assert_int_equal(info_at(p.info), 0);
	got = download(&da);
	got = square_of(&got, lower);
	same(t, &got, &a);
	assert_solver(FOUR(t, potrs, solver, uplo, n, 2, da.at, da.ld, db.at,
			   db.ld, p.info),
		      SUCCESS);
	got = download(&db);
	same(t, &got, &x);
	assert_solver(
	    FOUR(t, potri_bufferSize, solver, uplo, n, da.at, da.ld, &p.lwork),
	    SUCCESS);
	assert_solver(FOUR(t, potri, solver, uplo, n, da.at, da.ld, p.work,
			   p.lwork, p.info),
		      SUCCESS);
	inverse = download(&da);
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
			if (lower ? j > i : j < i)
				inverse.at[i][j] = conj(inverse.at[j][i]);
	got = product(&inverse, &a);
	same(t, &got, &one);
	drop(da.at);
	drop(db.at);
	problem_end(&p);
}

static void definite_matrices_have_a_root(void **state)
{
	static const int n[] = {0, 1, 2, 9};

	(void)state;
	for (enum type t = S; t <= Z; t++)
		for (int i = 0; i < 8; i++)
			check_cholesky(t, n[i / 2], (cublasFillMode_t)(i % 2));
}

static void what_is_not_definite_is_told(void **state)
{
	struct model a = {2, 2, {{1, 2}, {2, 1}}};
	struct problem p = problem_of(S);
	struct array d = upload(S, &a, 0);

	(void)state;
	assert_solver(SO(cusolverDnSpotrf)(solver, CUBLAS_FILL_MODE_LOWER, 2,
					   d.at, 2, p.work, 256, p.info),
		      SUCCESS);
	assert_int_equal(info_at(p.info), 2);
	drop(d.at);
	problem_end(&p);
}

/* Three matrices anywhere in memory; the second is not definite. */
static void check_cholesky_batch(enum type t)
{
	struct problem p = problem_of(t);
	struct model a[3], x[3], got;
	struct array da[3], db[3];
	void *at[6], *addresses;
	int info[3];

	for (int i = 0; i < 3; i++) {
		struct model b;

		a[i] = hermitian(t, 4, true), x[i] = random_model(t, 4, 1);
		b = product(&a[i], &x[i]);
		if (i == 1)
			a[i].at[0][0] = -1;
		da[i] = upload(t, &a[i], 1), db[i] = upload(t, &b, 2);
		at[i] = da[i].at, at[3 + i] = db[i].at;
	}
	addresses = room(sizeof at);
	assert_cuda(CU(cuMemcpyHtoD_v2)((uintptr_t)addresses, at, sizeof at),
		    SUCCESS);
	assert_solver(FOUR(t, potrfBatched, solver, CUBLAS_FILL_MODE_LOWER, 4,
			   addresses, da[0].ld, p.info, 3),
		      SUCCESS);
	fetch(info, p.info, sizeof info);
	assert_true(info[0] == 0 && info[1] == 1 && info[2] == 0);
	assert_solver(FOUR(t, potrsBatched, solver, CUBLAS_FILL_MODE_LOWER, 4,
			   1, addresses, da[0].ld,
			   (void *)((uintptr_t)addresses + 24), db[0].ld,
			   p.info, 3),
		      SUCCESS);
	for (int i = 0; i < 3; i += 2) {
		got = download(&db[i]);
		same(t, &got, &x[i]);
	}
	assert_solver(FOUR(t, potrsBatched, solver, CUBLAS_FILL_MODE_LOWER, 4,
			   2, addresses, da[0].ld, addresses, db[0].ld, p.info,
			   3),
		      INVALID_VALUE);
	for (int i = 0; i < 3; i++) {
		drop(da[i].at);
		drop(db[i].at);
	}
	drop(addresses);
	problem_end(&p);
}

static void batches_of_addresses_have_a_root_each(void **state)
{
	(void)state;
	for (enum type t = S; t <= Z; t++)
		check_cholesky_batch(t);
}

/* Q is orthogonal, Q R is A, and Q^H A is R. */
static void check_qr(enum type t, int m, int n)
{
	int k = m < n ? m : n;
	struct model a = random_model(t, m, n), one = identity(k), q, r, got, h;
	struct problem p = problem_of(t);
	struct array da = upload(t, &a, 2), dc = upload(t, &a, 1), dq;
	void *tau = room(SIDE * 16);

	assert_solver(
	    FOUR(t, geqrf_bufferSize, solver, m, n, da.at, da.ld, &p.lwork),
	    SUCCESS);
	assert_solver(FOUR(t, geqrf, solver, m, n, da.at, da.ld, tau, p.work,
			   p.lwork, p.info),
		      SUCCESS);
	assert_int_equal(info_at(p.info), 0);
	q = r = download(&da);
	r = triangle(&r, false);
	assert_solver(FOUR_NAMED(t, ormqr_bufferSize, unmqr_bufferSize, solver,
				 CUBLAS_SIDE_LEFT, adjoint(t), m, n, k, da.at,
				 da.ld, tau, dc.at, dc.ld, &p.lwork),
		      SUCCESS);
	assert_solver(FOUR_NAMED(t, ormqr, unmqr, solver, CUBLAS_SIDE_LEFT,
				 adjoint(t), m, n, k, da.at, da.ld, tau, dc.at,
				 dc.ld, p.work, p.lwork, p.info),
		      SUCCESS);
	got = download(&dc);
	same(t, &got, &r);
	q.cols = k;
	dq = upload(t, &q, 3);
	assert_solver(FOUR_NAMED(t, orgqr_bufferSize, ungqr_bufferSize, solver,
				 m, k, k, dq.at, dq.ld, tau, &p.lwork),
		      SUCCESS);
	assert_solver(FOUR_NAMED(t, orgqr, ungqr, solver, m, k, k, dq.at, dq.ld,
				 tau, p.work, p.lwork, p.info),
		      SUCCESS);
	q = download(&dq);
	h = adjoint_of(&q);
	got = product(&h, &q);
	same(t, &got, &one);
	r.rows = k;
	got = product(&q, &r);
	same(t, &got, &a);
	drop(da.at);
	drop(dc.at);
	drop(dq.at);
	drop(tau);
	problem_end(&p);
}

static void an_orthogonal_times_an_upper_is_the_matrix(void **state)
{
	(void)state;
	for (enum type t = S; t <= Z; t++)
		for (size_t i = 0; i < SIDES; i++)
			check_qr(t, sides[i][0], sides[i][1]);
}

/* C Q^H from the right, with fewer reflectors than rows. */
static void factors_are_applied_from_the_right(void **state)
{
	struct model a = random_model(Z, 5, 2), c = random_model(Z, 3, 5), q,
		     got, expected, h;
	struct problem p = problem_of(Z);
	struct array da = upload(Z, &a, 0), dc = upload(Z, &c, 0), dq;
	void *tau = room(64);

	(void)state;
	assert_solver(SO(cusolverDnZgeqrf)(solver, 5, 2, da.at, da.ld, tau,
					   p.work, 256, p.info),
		      SUCCESS);
	q = download(&da);
	q.cols = 5;
	dq = upload(Z, &q, 0);
	assert_solver(SO(cusolverDnZungqr)(solver, 5, 5, 2, dq.at, dq.ld, tau,
					   p.work, 256, p.info),
		      SUCCESS);
	q = download(&dq);
	h = adjoint_of(&q);
	expected = product(&c, &h);
	assert_solver(SO(cusolverDnZunmqr)(
			  solver, CUBLAS_SIDE_RIGHT, CUBLAS_OP_C, 3, 5, 2,
			  da.at, da.ld, tau, dc.at, dc.ld, p.work, 256, p.info),
		      SUCCESS);
	got = download(&dc);
	same(Z, &got, &expected);
	assert_solver(SO(cusolverDnZunmqr)(
			  solver, CUBLAS_SIDE_RIGHT, CUBLAS_OP_T, 3, 5, 2,
			  da.at, da.ld, tau, dc.at, dc.ld, p.work, 256, p.info),
		      INVALID_VALUE);
	drop(da.at);
	drop(dc.at);
	drop(dq.at);
	drop(tau);
	problem_end(&p);
}

static void wrong_sizes_are_told(void **state)
{
	struct model a = random_model(S, 3, 3);
	struct problem p = problem_of(S);
	struct array d = upload(S, &a, 0);
	int size = 7;

	(void)state;
#define LU(h, m, n, at, ld, info)                                              \
	SO(cusolverDnSgetrf)(h, m, n, at, ld, p.work, p.pivots, info)
	assert_solver(LU(solver, -1, 3, d.at, 3, p.info), INVALID_VALUE);
	assert_solver(LU(solver, 3, -1, d.at, 3, p.info), INVALID_VALUE);
	assert_solver(LU(solver, 3, 3, d.at, 2, p.info), INVALID_VALUE);
	assert_solver(LU(solver, 3, 3, NULL, 3, p.info), INVALID_VALUE);
	assert_solver(LU(solver, 3, 3, d.at, 3, NULL), INVALID_VALUE);
	assert_solver(LU(NULL, 3, 3, d.at, 3, p.info), NOT_INITIALIZED);
	assert_solver(
	    SO(cusolverDnSgetrf_bufferSize)(solver, 3, 3, d.at, 2, &size),
	    INVALID_VALUE);
	assert_solver(
	    SO(cusolverDnSpotrf)(solver, 2, 3, d.at, 3, p.work, 256, p.info),
	    INVALID_VALUE);
	assert_solver(
	    SO(cusolverDnSpotrf)(solver, 0, 3, d.at, 3, p.work, 0, p.info),
	    INVALID_VALUE);
	assert_solver(SO(cusolverDnSorgqr)(solver, 2, 3, 2, d.at, 3, d.at,
					   p.work, 256, p.info),
		      INVALID_VALUE);
	assert_int_equal(size, 7);
	{
		struct model got = download(&d);

		same(S, &got, &a);
	}
	drop(d.at);
	problem_end(&p);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(lower_times_upper_is_the_matrix),
    cmocka_unit_test(systems_are_solved_with_every_operation),
    cmocka_unit_test(a_singular_matrix_is_told),
    cmocka_unit_test(definite_matrices_have_a_root),
    cmocka_unit_test(what_is_not_definite_is_told),
    cmocka_unit_test(batches_of_addresses_have_a_root_each),
    cmocka_unit_test(an_orthogonal_times_an_upper_is_the_matrix),
    cmocka_unit_test(factors_are_applied_from_the_right),
    cmocka_unit_test(wrong_sizes_are_told),
};

SOLVER_MAIN("cusolver-factor", tests)
