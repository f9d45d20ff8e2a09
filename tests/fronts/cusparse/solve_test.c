/* SPDX-License-Identifier: Apache-2.0 */
/*
 * solve_test.c - checks SpSV and SpSM: the result times the triangle is the
 * right side.
 */
#include "fronts/cusparse/sparse_test.h"

static const cudaDataType types[] = {CUDA_R_32F, CUDA_R_64F, CUDA_C_32F,
				     CUDA_C_64F};
static const cusparseFormat_t formats[] = {
    CUSPARSE_FORMAT_CSR, CUSPARSE_FORMAT_CSC, CUSPARSE_FORMAT_COO};

struct system {
	struct model a, x, b; /* a is stored; op(triangle of a) x = alpha b */
	cusparseFillMode_t fill;
	cusparseDiagType_t diag;
	cusparseOperation_t op;
	double complex alpha;
	struct sparse_kind kind;
};

/* The part of a with which the system is solved. */
static struct model triangle_of(const struct system *s)
{
	struct model t = s->a;

	for (int i = 0; i < t.rows; i++)
		for (int j = 0; j < t.cols; j++) {
			if (s->fill == CUSPARSE_FILL_MODE_LOWER ? j > i : j < i)
				t.at[i][j] = 0;
			if (i == j && s->diag == CUSPARSE_DIAG_TYPE_UNIT)
				t.at[i][j] = 1;
		}
	return t;
}

/*
 * b = op(t) x / alpha: alpha is a power of two, so that everything stays exact.
 */
static void make_right_side(struct system *s)
{
	struct model t = triangle_of(s), op = model_op(&t, s->op);

	s->b = model_product(1 / s->alpha, &op, &s->x, 0, NULL);
}

static void any_system(struct system *s, cudaDataType type, int columns)
{
	int n = throw_dice(8);

	s->fill = (cusparseFillMode_t)throw_dice(2);
	s->diag = (cusparseDiagType_t)throw_dice(2);
	s->op = any_operation();
	s->alpha = throw_dice(2) ? 1 : -2;
	s->kind = (struct sparse_kind){
	    .format = formats[throw_dice(3)],
	    .index = throw_dice(2) ? CUSPARSE_INDEX_32I : CUSPARSE_INDEX_64I,
	    .base = throw_dice(2)};
	model_random(&s->a, n, n, type, 2);
	for (int i = 0; i < n; i++)
		s->a.at[i][i] = throw_dice(2) ? 2 : -1;
	model_random(&s->x, n, columns, type, 1);
	make_right_side(s);
}

static void set_attributes(cusparseSpMatDescr_t a, const struct system *s)
{
	cusparseFillMode_t fill = s->fill;
	cusparseDiagType_t diag = s->diag;

	assert_sparse(SP(cusparseSpMatSetAttribute)(a, CUSPARSE_SPMAT_FILL_MODE,
						    &fill, sizeof fill),
		      SUCCESS);
	assert_sparse(SP(cusparseSpMatSetAttribute)(a, CUSPARSE_SPMAT_DIAG_TYPE,
						    &diag, sizeof diag),
		      SUCCESS);
}

/* The result is exact in `type`. */
static void check_spsm(cudaDataType type)
{
	static struct system s;
	static struct model stored, c;
	bool transposed = throw_dice(2);
	cusparseOperation_t op_b =
	    transposed ? CUSPARSE_OPERATION_TRANSPOSE : 0;
	struct sparse_matrix a;
	struct dense_matrix db, dc;
	struct number alpha;
	cusparseSpSMDescr_t solver;
	size_t size = 0;
	void *buffer;

	any_system(&s, type, throw_dice(5));
	stored = model_op(&s.b, op_b);
	c = (struct model){.rows = s.x.rows, .cols = s.x.cols};
	a = sparse_make(&s.a, type, s.kind);
	set_attributes(a.descr, &s);
	db = dense_make(&stored, type, throw_dice(2), throw_dice(3));
	dc = dense_make(&c, type, throw_dice(2), throw_dice(3));
	alpha = number_of(type, s.alpha);
#define SYSTEM                                                                 \
	sparse, s.op, op_b, alpha.bytes, a.descr, db.descr, dc.descr, type, 0
	assert_sparse(SP(cusparseSpSM_createDescr)(&solver), SUCCESS);
	assert_sparse(SP(cusparseSpSM_solve)(SYSTEM, solver), INVALID_VALUE);
	assert_sparse(SP(cusparseSpSM_bufferSize)(SYSTEM, solver, &size),
		      SUCCESS);
	buffer = (void *)(uintptr_t)device_alloc(size);
	assert_sparse(SP(cusparseSpSM_analysis)(SYSTEM, solver, NULL),
		      INVALID_VALUE);
	assert_sparse(SP(cusparseSpSM_analysis)(SYSTEM, solver, buffer),
		      SUCCESS);
	assert_sparse(SP(cusparseSpSM_solve)(SYSTEM, solver), SUCCESS);
	dense_is(&dc, &s.x);
	assert_sparse(SP(cusparseSpSM_destroyDescr)(solver), SUCCESS);
	sparse_drop(&a);
	dense_drop(&db);
	dense_drop(&dc);
	drop(buffer);
}

static void triangles_are_solved_with_every_operation(void **state)
{
	(void)state;
	for (int t = 0; t < 4; t++)
		for (int i = 0; i < 60; i++)
			check_spsm(types[t]);
}

struct vector_run {
	struct system s;
	struct sparse_matrix a;
	struct dense_matrix b, x;
	cusparseDnVecDescr_t vb, vx;
	cusparseSpSVDescr_t solver;
	struct number alpha;
	void *buffer;
};

#define VECTORS(r)                                                             \
	sparse, (r)->s.op, (r)->alpha.bytes, (r)->a.descr, (r)->vb, (r)->vx,   \
	    CUDA_C_64F, 0, (r)->solver

static void vector_begin(struct vector_run *r)
{
	size_t size = 0;
	static struct model zero;

	zero = (struct model){.rows = r->s.x.rows, .cols = 1};
	r->a = sparse_make(&r->s.a, CUDA_C_64F, r->s.kind);
	set_attributes(r->a.descr, &r->s);
	r->b = dense_make(&r->s.b, CUDA_C_64F, true, 0);
	r->x = dense_make(&zero, CUDA_C_64F, true, 0);
	r->alpha = number_of(CUDA_C_64F, r->s.alpha);
	assert_sparse(
	    SP(cusparseCreateDnVec)(&r->vb, r->b.rows, r->b.at, CUDA_C_64F),
	    SUCCESS);
	assert_sparse(
	    SP(cusparseCreateDnVec)(&r->vx, r->x.rows, r->x.at, CUDA_C_64F),
	    SUCCESS);
	assert_sparse(SP(cusparseSpSV_createDescr)(&r->solver), SUCCESS);
	assert_sparse(SP(cusparseSpSV_bufferSize)(VECTORS(r), &size), SUCCESS);
	r->buffer = (void *)(uintptr_t)device_alloc(size);
	assert_sparse(SP(cusparseSpSV_analysis)(VECTORS(r), r->buffer),
		      SUCCESS);
}

static void vector_end(struct vector_run *r)
{
	assert_sparse(SP(cusparseSpSV_destroyDescr)(r->solver), SUCCESS);
	assert_sparse(SP(cusparseDestroyDnVec)(r->vb), SUCCESS);
	assert_sparse(SP(cusparseDestroyDnVec)(r->vx), SUCCESS);
	sparse_drop(&r->a);
	dense_drop(&r->b);
	dense_drop(&r->x);
	drop(r->buffer);
}

static void a_vector_is_solved_for(void **state)
{
	static struct vector_run r;

	(void)state;
	for (int i = 0; i < 60; i++) {
		any_system(&r.s, CUDA_C_64F, 1);
		vector_begin(&r);
		assert_sparse(SP(cusparseSpSV_solve)(VECTORS(&r)), SUCCESS);
		dense_is(&r.x, &r.s.x);
		vector_end(&r);
	}
}

/* [2 0; 1 4]: new values, first all of them, then those of the diagonal. */
static void updated_values_are_solved_with(void **state)
{
	static const double complex all[] = {4, 2, 8}, diagonal[] = {1, 2};
	static struct vector_run r;
	void *values = upload(all, sizeof all),
	     *line = upload(diagonal, sizeof diagonal);
	double complex x[2];

	(void)state;
	r.s = (struct system){.a = {2, 2, {{2}, {1, 4}}},
			      .x = {2, 1, {{3}, {5}}},
			      .alpha = 1,
			      .kind = {.format = CUSPARSE_FORMAT_CSR,
				       .index = CUSPARSE_INDEX_32I}};
	r.s.b = (struct model){2, 1, {{8}, {16}}};
	vector_begin(&r);
	/* Later changes of A's own values do not matter any more. */
	assert_cuda(CU(cuMemsetD8_v2)((uintptr_t)r.a.values, 0, sizeof all),
		    SUCCESS);
	assert_sparse(SP(cusparseSpSV_solve)(VECTORS(&r)), SUCCESS);
	download(x, r.x.at, sizeof x);
	assert_true(x[0] == 4 && x[1] == 3);
	assert_sparse(
	    SP(cusparseSpSV_updateMatrix)(sparse, r.solver, values,
					  CUSPARSE_SPSV_UPDATE_GENERAL),
	    SUCCESS);
	assert_sparse(SP(cusparseSpSV_solve)(VECTORS(&r)), SUCCESS);
	download(x, r.x.at, sizeof x);
	assert_true(x[0] == 2 && x[1] == 1.5);
	assert_sparse(
	    SP(cusparseSpSV_updateMatrix)(sparse, r.solver, line,
					  CUSPARSE_SPSV_UPDATE_DIAGONAL),
	    SUCCESS);
	assert_sparse(SP(cusparseSpSV_solve)(VECTORS(&r)), SUCCESS);
	download(x, r.x.at, sizeof x);
	assert_true(x[0] == 8 && x[1] == 0);
	assert_sparse(SP(cusparseSpSV_updateMatrix)(sparse, r.solver, NULL, 0),
		      INVALID_VALUE);
	assert_sparse(SP(cusparseSpSV_updateMatrix)(sparse, r.solver, line, 2),
		      INVALID_VALUE);
	assert_sparse(SP(cusparseSpSM_updateMatrix)(sparse, NULL, line, 0),
		      INVALID_VALUE);
	vector_end(&r);
	drop(values);
	drop(line);
}

/* A GPU divides by zero too. */
static void a_missing_diagonal_is_infinity(void **state)
{
	static struct vector_run r;
	double complex x[2];

	(void)state;
	r.s = (struct system){.a = {2, 2, {{0}, {1, 4}}},
			      .x = {2, 1, {{0}}},
			      .alpha = 1,
			      .kind = {.format = CUSPARSE_FORMAT_CSR,
				       .index = CUSPARSE_INDEX_32I}};
	r.s.b = (struct model){2, 1, {{8}, {16}}};
	vector_begin(&r);
	assert_sparse(SP(cusparseSpSV_solve)(VECTORS(&r)), SUCCESS);
	download(x, r.x.at, sizeof x);
	assert_true(isinf(creal(x[0])));
	vector_end(&r);
}

static void what_is_no_square_is_not_solved(void **state)
{
	static struct model m, v;
	const float one = 1;
	struct sparse_matrix a;
	struct dense_matrix b;
	cusparseSpSMDescr_t solver;
	size_t size = 7;

	(void)state;
	model_random(&m, 3, 4, CUDA_R_32F, 1);
	model_random(&v, 3, 1, CUDA_R_32F, 1);
	a = sparse_make(&m, CUDA_R_32F,
			(struct sparse_kind){.format = CUSPARSE_FORMAT_CSR,
					     .index = CUSPARSE_INDEX_32I});
	b = dense_make(&v, CUDA_R_32F, true, 0);
	assert_sparse(SP(cusparseSpSM_createDescr)(&solver), SUCCESS);
	assert_sparse(SP(cusparseSpSM_bufferSize)(sparse, 0, 0, &one, a.descr,
						  b.descr, b.descr, CUDA_R_32F,
						  0, solver, &size),
		      INVALID_VALUE);
	assert_int_equal(size, 7);
	assert_sparse(SP(cusparseSpSM_destroyDescr)(solver), SUCCESS);
	sparse_drop(&a);
	dense_drop(&b);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(triangles_are_solved_with_every_operation),
    cmocka_unit_test(a_vector_is_solved_for),
    cmocka_unit_test(updated_values_are_solved_with),
    cmocka_unit_test(a_missing_diagonal_is_infinity),
    cmocka_unit_test(what_is_no_square_is_not_solved),
};

SPARSE_MAIN("cusparse-solve", tests)
