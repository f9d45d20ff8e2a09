/* SPDX-License-Identifier: Apache-2.0 */
/*
 * solver_test.h - the drop-in libcusolver on a fake machine, and small matrices
 * to check what its results must fulfil, with loops of our own and no LAPACK.
 * Columns are separated by a gap that must not be written.
 */
#ifndef TESTS_CUSOLVER_H
#define TESTS_CUSOLVER_H

#include "abi/libraries/cusolver_abi.h"
#include "fronts/cuda/memory_fixture.h"

#include <complex.h>
#include <math.h>

/* SO(cusolverDnCreate)(&handle) calls it with the type from its row. */
#define SO(symbol) ((__typeof__(&symbol))solver_symbol(#symbol))
#define assert_solver(call, status)                                            \
	assert_int_equal((call), CUSOLVER_STATUS_##status)

#define SIDE 34 /* no matrix is larger */
#define GAP  77

static void *solver_library;
static cusolverDnHandle_t solver;
static uint64_t dice = 88172645463325252u;

static inline void *solver_symbol(const char *name)
{
	void *at = dlsym(solver_library, name);

	if (!at)
		fail_msg("no %s", name);
	return at;
}

static inline int solver_setup(void **state)
{
	memory_setup(state);
	solver_library =
	    dlopen(FAKE_DIR "/libcusolver.so.12", RTLD_NOW | RTLD_LOCAL);
	assert_non_null(solver_library);
	assert_solver(SO(cusolverDnCreate)(&solver), SUCCESS);
	return 0;
}

static inline int solver_teardown(void **state)
{
	assert_solver(SO(cusolverDnDestroy)(solver), SUCCESS);
	return memory_teardown(state);
}

enum type { S, D, C, Z };

static inline size_t type_size(enum type t)
{
	return t == S ? 4 : t == Z ? 16 : 8;
}

static inline cudaDataType data_type(enum type t)
{
	static const cudaDataType types[] = {CUDA_R_32F, CUDA_R_64F, CUDA_C_32F,
					     CUDA_C_64F};

	return types[t];
}

static inline cudaDataType real_data_type(enum type t)
{
	return t % 2 ? CUDA_R_64F : CUDA_R_32F;
}

static inline double tolerance(enum type t)
{
	return t % 2 ? 1e-11 : 1e-3;
}

/*
 * For complex types the adjoint of an orthogonal factor is not op "T" but the
 * conjugate.
 */
static inline cublasOperation_t adjoint(enum type t)
{
	return t >= C ? CUBLAS_OP_C : CUBLAS_OP_T;
}

static inline void put_part(enum type t, void *to, size_t i, double v)
{
	if (t % 2)
		((double *)to)[i] = v;
	else
		((float *)to)[i] = (float)v;
}

static inline double get_part(enum type t, const void *from, size_t i)
{
	return t % 2 ? ((const double *)from)[i]
		     : (double)((const float *)from)[i];
}

static inline void put(enum type t, void *to, size_t i, double complex v)
{
	if (t < C) {
		put_part(t, to, i, creal(v));
		return;
	}
	put_part(t, to, 2 * i, creal(v));
	put_part(t, to, 2 * i + 1, cimag(v));
}

static inline double complex get(enum type t, const void *from, size_t i)
{
	return t < C ? __builtin_complex(get_part(t, from, i), 0.0)
		     : __builtin_complex(get_part(t, from, 2 * i),
					 get_part(t, from, 2 * i + 1));
}

/* A number in [-1, 1), with an imaginary part for complex types. */
static inline double complex any_number(enum type t)
{
	double re = (double)(next_random(&dice) >> 40) / (1 << 23) - 1,
	       im = (double)(next_random(&dice) >> 40) / (1 << 23) - 1;

	return __builtin_complex(re, t < C ? 0.0 : im);
}

struct model {
	int rows, cols;
	double complex at[SIDE][SIDE];
};

static inline struct model random_model(enum type t, int rows, int cols)
{
	struct model m = {.rows = rows, .cols = cols};

	for (int i = 0; i < rows; i++)
		for (int j = 0; j < cols; j++)
			m.at[i][j] = any_number(t);
	return m;
}

static inline struct model product(const struct model *a, const struct model *b)
{
	struct model r = {.rows = a->rows, .cols = b->cols};

	for (int i = 0; i < r.rows; i++)
		for (int j = 0; j < r.cols; j++)
			for (int k = 0; k < a->cols; k++)
				r.at[i][j] += a->at[i][k] * b->at[k][j];
	return r;
}

static inline struct model adjoint_of(const struct model *m)
{
	struct model r = {.rows = m->cols, .cols = m->rows};

	for (int i = 0; i < r.rows; i++)
		for (int j = 0; j < r.cols; j++)
			r.at[i][j] = conj(m->at[j][i]);
	return r;
}

static inline struct model transposed(const struct model *m)
{
	struct model r = {.rows = m->cols, .cols = m->rows};

	for (int i = 0; i < r.rows; i++)
		for (int j = 0; j < r.cols; j++)
			r.at[i][j] = m->at[j][i];
	return r;
}

static inline struct model identity(int n)
{
	struct model r = {.rows = n, .cols = n};

	for (int i = 0; i < n; i++)
		r.at[i][i] = 1;
	return r;
}

/* Hermitian; with `definite` all its eigenvalues are above 0. */
static inline struct model hermitian(enum type t, int n, bool definite)
{
	struct model m = random_model(t, n, n), h = adjoint_of(&m), r;

	if (definite) {
		r = product(&m, &h);
		for (int i = 0; i < n; i++)
			r.at[i][i] += 1;
		return r;
	}
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
			h.at[i][j] += m.at[i][j];
	return h;
}

/* lower: keeps what is not above the diagonal, else what is not below it. */
static inline struct model triangle(const struct model *m, bool lower)
{
	struct model r = *m;

	for (int i = 0; i < m->rows; i++)
		for (int j = 0; j < m->cols; j++)
			if (lower ? j > i : j < i)
				r.at[i][j] = 0;
	return r;
}

static inline void same(enum type t, const struct model *a,
			const struct model *b)
{
	assert_int_equal(a->rows, b->rows);
	assert_int_equal(a->cols, b->cols);
	for (int i = 0; i < a->rows; i++)
		for (int j = 0; j < a->cols; j++)
			if (!(cabs(a->at[i][j] - b->at[i][j]) <
			      tolerance(t) * SIDE))
				fail_msg("type %d (%d, %d): %g%+gi, not %g%+gi",
					 t, i, j, creal(a->at[i][j]),
					 cimag(a->at[i][j]), creal(b->at[i][j]),
					 cimag(b->at[i][j]));
}

/* ---- on the device ---- */

struct array {
	enum type type;
	int rows, cols, ld;
	void *at;
};

static inline void *room(size_t size)
{
	CUdeviceptr p = device_alloc(size + 1);

	assert_cuda(CU(cuMemsetD8_v2)(p, 0x55, size + 1), SUCCESS);
	return (void *)(uintptr_t)p;
}

static inline void drop(void *p)
{
	device_free((uintptr_t)p);
}

static inline void fetch(void *to, const void *from, size_t size)
{
	assert_cuda(CU(cuCtxSynchronize)(), SUCCESS);
	assert_cuda(CU(cuMemcpyDtoH_v2)(to, (uintptr_t)from, size), SUCCESS);
}

static inline struct array upload(enum type t, const struct model *m, int gap)
{
	struct array a = {t, m->rows, m->cols, m->rows + gap, NULL};
	size_t count = (size_t)a.ld * (size_t)m->cols;
	char *host = calloc(count + 1, 16);

	for (size_t i = 0; i < count; i++)
		put(t, host, i, GAP);
	for (int i = 0; i < m->rows; i++)
		for (int j = 0; j < m->cols; j++)
			put(t, host, (size_t)(j * a.ld + i), m->at[i][j]);
	a.at = room(count * type_size(t));
	if (count)
		assert_cuda(CU(cuMemcpyHtoD_v2)((uintptr_t)a.at, host,
						count * type_size(t)),
			    SUCCESS);
	if (!a.ld)
		a.ld = 1;
	free(host);
	return a;
}

static inline struct array empty(enum type t, int rows, int cols)
{
	struct model m = {.rows = rows, .cols = cols};

	return upload(t, &m, 2);
}

static inline struct model download(const struct array *a)
{
	struct model m = {.rows = a->rows, .cols = a->cols};
	size_t count = (size_t)a->ld * (size_t)a->cols;
	char *host = calloc(count + 1, 16);

	fetch(host, a->at, count * type_size(a->type));
	for (int j = 0; j < a->cols; j++) {
		for (int i = 0; i < a->rows; i++)
			m.at[i][j] =
			    get(a->type, host, (size_t)(j * a->ld + i));
		for (int i = a->rows; a->rows && i < a->ld; i++)
			assert_true(
			    get(a->type, host, (size_t)(j * a->ld + i)) == GAP);
	}
	free(host);
	return m;
}

/* The info of a call, whose int is at this address. */
static inline int info_at(const void *at)
{
	int info;

	fetch(&info, at, sizeof info);
	return info;
}

static inline void reals(enum type t, const void *from, int n, double *to)
{
	char host[SIDE * 8];

	fetch(host, from, (size_t)n * (t % 2 ? 8 : 4));
	for (int i = 0; i < n; i++)
		to[i] = get_part(t, host, (size_t)i);
}

/* Calls one of four types, whose pointers differ, through untyped pointers. */
#define FOUR(t, name, ...)                                                     \
	((t) == S   ? FOUR_ONE(S##name, __VA_ARGS__)                           \
	 : (t) == D ? FOUR_ONE(D##name, __VA_ARGS__)                           \
	 : (t) == C ? FOUR_ONE(C##name, __VA_ARGS__)                           \
		    : FOUR_ONE(Z##name, __VA_ARGS__))
#define FOUR_ONE(name, ...) SO(cusolverDn##name)(__VA_ARGS__)

/* The same where real and complex types have different names. */
#define FOUR_NAMED(t, real, complex, ...)                                      \
	((t) == S   ? FOUR_ONE(S##real, __VA_ARGS__)                           \
	 : (t) == D ? FOUR_ONE(D##real, __VA_ARGS__)                           \
	 : (t) == C ? FOUR_ONE(C##complex, __VA_ARGS__)                        \
		    : FOUR_ONE(Z##complex, __VA_ARGS__))

#define SOLVER_MAIN(name, tests)                                               \
	int main(void)                                                         \
	{                                                                      \
		return cmocka_run_group_tests_name(name, tests, solver_setup,  \
						   solver_teardown);           \
	}

#endif
