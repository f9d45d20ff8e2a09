/* SPDX-License-Identifier: Apache-2.0 */
/* factor.c - runs the kernels for LU, Cholesky and QR. */
#include "fronts/cusolver/solver.h"

#include <complex.h>
#include <limits.h>
#include <stdlib.h>

#define ILLEGAL CUDA_ERROR_ILLEGAL_ADDRESS

/* Returns the memory of a job's info, or NULL if it is not accessible. */
static int *info_of(struct gpukit_run *run, const struct job *p)
{
	return solver_bytes(run, GPUKIT_WRITES, p->info, (size_t)p->batch,
			    sizeof(int));
}

/* Adds the approximate cost of a factorisation. */
static void count_operations(struct gpukit_run *run, double operations,
			     enum lapack_type type)
{
	run->operations +=
	    (uint64_t)(operations * (type_is_complex(type) ? 4 : 1));
}

/* ---- LU ---- */

/*
 * LU without pivoting, for callers who pass no array of pivots. Returns 1 + the
 * index of the first zero pivot, or 0.
 */
#define PLAIN_LU(name, T)                                                      \
	static int name(int m, int n, T *a, size_t lda)                        \
	{                                                                      \
		int zero = 0;                                                  \
                                                                               \
		for (size_t k = 0; k < (size_t)smaller(m, n); k++) {           \
			T pivot = a[k * lda + k];                              \
                                                                               \
			if (pivot == 0 && !zero)                               \
				zero = (int)k + 1;                             \
			for (size_t i = k + 1; i < (size_t)m; i++)             \
				a[k * lda + i] /= pivot;                       \
			for (size_t j = k + 1; j < (size_t)n; j++)             \
				for (size_t i = k + 1; i < (size_t)m; i++)     \
					a[j * lda + i] -=                      \
					    a[k * lda + i] * a[j * lda + k];   \
		}                                                              \
		return zero;                                                   \
	}
PLAIN_LU(plain_lu_s, float)
PLAIN_LU(plain_lu_d, double)
PLAIN_LU(plain_lu_c, float complex)
PLAIN_LU(plain_lu_z, double complex)

static int factor_plainly(const struct job *p, void *a)
{
	size_t lda = (size_t)p->a.ld;

	if (p->type == TYPE_S)
		return plain_lu_s(p->m, p->n, a, lda);
	if (p->type == TYPE_D)
		return plain_lu_d(p->m, p->n, a, lda);
	return p->type == TYPE_C ? plain_lu_c(p->m, p->n, a, lda)
				 : plain_lu_z(p->m, p->n, a, lda);
}

static void store_pivots(const struct job *p, void *to, const int *from, int n)
{
	for (int i = 0; i < n; i++) {
		if (p->wide_pivots)
			((int64_t *)to)[i] = from[i];
		else
			((int *)to)[i] = from[i];
	}
}

/* Loads the job's pivots. If there are none, they are set to swap no rows. */
static void load_pivots(const struct job *p, int *to, const void *from, int n)
{
	for (int i = 0; i < n; i++) {
		to[i] = i + 1;
		if (p->pivots)
			to[i] = p->wide_pivots ? (int)((const int64_t *)from)[i]
					       : ((const int *)from)[i];
	}
}

static size_t pivot_size(const struct job *p)
{
	return p->wide_pivots ? 8 : 4;
}

CUresult run_getrf(struct gpukit_run *run)
{
	const struct job *p = run->params;
	int n = smaller(p->m, p->n), *info = info_of(run, p), *pivots;
	void *a = solver_matrix(run, GPUKIT_WRITES, &p->a, p->m, p->n, p->type);
	void *to = p->pivots ? solver_bytes(run, GPUKIT_WRITES, p->pivots,
					    (size_t)n, pivot_size(p))
			     : info;

	if (!info || !a || !to)
		return ILLEGAL;
	pivots = malloc(((size_t)n + 1) * sizeof *pivots);
	if (!pivots)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*info = 0;
	if (!p->pivots)
		*info = factor_plainly(p, a);
	else if (n)
		lapack()->getrf[p->type](&p->m, &p->n, a, &p->a.ld, pivots,
					 info);
	if (p->pivots)
		store_pivots(p, to, pivots, n);
	free(pivots);
	count_operations(run, 2.0 / 3 * p->m * p->n * n, p->type);
	return CUDA_SUCCESS;
}

/*
 * LAPACK does not check pivots; with an invalid one it would write outside the
 * matrix.
 */
static bool check_pivots(const int *pivots, int n)
{
	for (int i = 0; i < n; i++)
		if (pivots[i] < 1 || pivots[i] > n)
			return false;
	return true;
}

CUresult run_getrs(struct gpukit_run *run)
{
	const struct job *p = run->params;
	int *info = info_of(run, p), *pivots;
	void *a = solver_matrix(run, GPUKIT_READS, &p->a, p->n, p->n, p->type),
	     *b = solver_matrix(run, GPUKIT_WRITES, &p->b, p->n, p->k, p->type);
	void *from = p->pivots ? solver_bytes(run, GPUKIT_READS, p->pivots,
					      (size_t)p->n, pivot_size(p))
			       : info;
	CUresult r = CUDA_SUCCESS;

	if (!info || !a || !b || !from)
		return ILLEGAL;
	pivots = malloc(((size_t)p->n + 1) * sizeof *pivots);
	if (!pivots)
		return CUDA_ERROR_OUT_OF_MEMORY;
	load_pivots(p, pivots, from, p->n);
	*info = 0;
	if (!check_pivots(pivots, p->n))
		r = ILLEGAL;
	else if (p->n && p->k)
		lapack()->getrs[p->type](&p->trans, &p->n, &p->k, a, &p->a.ld,
					 pivots, b, &p->b.ld, info, 1);
	free(pivots);
	count_operations(run, 2.0 * p->n * p->n * p->k, p->type);
	return r;
}

/* ---- Cholesky ---- */

/*
 * Returns matrix i of a batch. If p->pointers is set, its address is read from
 * device memory.
 */
static void *matrix_at(struct gpukit_run *run, enum gpukit_access access,
		       const struct job *p, const struct matrix *m, int i,
		       int cols)
{
	struct matrix one = *m;
	void *const *addresses;

	if (p->pointers) {
		addresses = solver_bytes(run, GPUKIT_READS, m->at,
					 (size_t)p->batch, sizeof *addresses);
		if (!addresses)
			return NULL;
		one.at = addresses[i];
	}
	return solver_matrix(run, access, &one, p->n, cols, p->type);
}

CUresult run_potrf(struct gpukit_run *run)
{
	const struct job *p = run->params;
	int *info = info_of(run, p);

	for (int i = 0; info && i < p->batch; i++) {
		void *a = matrix_at(run, GPUKIT_WRITES, p, &p->a, i, p->n);

		if (!a)
			return ILLEGAL;
		info[i] = 0;
		if (p->n)
			lapack()->potrf[p->type](&p->uplo, &p->n, a, &p->a.ld,
						 &info[i], 1);
		count_operations(run, 1.0 / 3 * p->n * p->n * p->n, p->type);
	}
	return info ? CUDA_SUCCESS : ILLEGAL;
}

/*
 * Writes one info for the whole batch, which says whether the parameters were
 * valid.
 */
CUresult run_potrs(struct gpukit_run *run)
{
	const struct job *p = run->params;
	int *info = solver_bytes(run, GPUKIT_WRITES, p->info, 1, sizeof *info);

	if (!info)
		return ILLEGAL;
	*info = 0;
	for (int i = 0; i < p->batch; i++) {
		void *a = matrix_at(run, GPUKIT_READS, p, &p->a, i, p->n),
		     *b = matrix_at(run, GPUKIT_WRITES, p, &p->b, i, p->k);

		if (!a || !b)
			return ILLEGAL;
		if (p->n && p->k)
			lapack()->potrs[p->type](&p->uplo, &p->n, &p->k, a,
						 &p->a.ld, b, &p->b.ld, info,
						 1);
		count_operations(run, 2.0 * p->n * p->n * p->k, p->type);
	}
	return CUDA_SUCCESS;
}

CUresult run_potri(struct gpukit_run *run)
{
	const struct job *p = run->params;
	int *info = info_of(run, p);
	void *a = solver_matrix(run, GPUKIT_WRITES, &p->a, p->n, p->n, p->type);

	if (!info || !a)
		return ILLEGAL;
	*info = 0;
	if (p->n)
		lapack()->potri[p->type](&p->uplo, &p->n, a, &p->a.ld, info, 1);
	count_operations(run, 2.0 / 3 * p->n * p->n * p->n, p->type);
	return CUDA_SUCCESS;
}

/* ---- QR ---- */

/*
 * Returns the size of LAPACK's workspace, in elements: enough for blocks of 64
 * columns (rows if Q is on the right) and for ormqr's own block. LAPACK also
 * works with less.
 */
static int work_size(const struct job *p)
{
	int64_t all = 64 * ((int64_t)(p->side == 'R' ? p->m : p->n) + 65);

	return all < INT_MAX ? (int)all : INT_MAX;
}

static void *work_new(const struct job *p)
{
	return malloc((size_t)work_size(p) * type_size(p->type));
}

CUresult run_geqrf(struct gpukit_run *run)
{
	const struct job *p = run->params;
	int *info = info_of(run, p), lwork = work_size(p);
	void *a = solver_matrix(run, GPUKIT_WRITES, &p->a, p->m, p->n, p->type);
	void *tau =
	    solver_bytes(run, GPUKIT_WRITES, p->tau,
			 (size_t)smaller(p->m, p->n), type_size(p->type));
	void *work;

	if (!info || !a || !tau)
		return ILLEGAL;
	work = work_new(p);
	if (!work)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*info = 0;
	if (p->m && p->n)
		lapack()->geqrf[p->type](&p->m, &p->n, a, &p->a.ld, tau, work,
					 &lwork, info);
	free(work);
	count_operations(run, 2.0 * p->m * p->n * smaller(p->m, p->n), p->type);
	return CUDA_SUCCESS;
}

CUresult run_orgqr(struct gpukit_run *run)
{
	const struct job *p = run->params;
	int *info = info_of(run, p), lwork = work_size(p);
	void *a = solver_matrix(run, GPUKIT_WRITES, &p->a, p->m, p->n, p->type);
	void *tau = solver_bytes(run, GPUKIT_READS, p->tau, (size_t)p->k,
				 type_size(p->type));
	void *work;

	if (!info || !a || !tau)
		return ILLEGAL;
	work = work_new(p);
	if (!work)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*info = 0;
	if (p->m && p->n)
		lapack()->orgqr[p->type](&p->m, &p->n, &p->k, a, &p->a.ld, tau,
					 work, &lwork, info);
	free(work);
	count_operations(run, 4.0 * p->m * p->n * p->k, p->type);
	return CUDA_SUCCESS;
}

/* Multiplies b in place by Q, which a and tau describe. */
CUresult run_ormqr(struct gpukit_run *run)
{
	const struct job *p = run->params;
	int *info = info_of(run, p), lwork = work_size(p);
	int order = p->side == 'L' ? p->m : p->n;
	void *a = solver_matrix(run, GPUKIT_READS, &p->a, order, p->k, p->type),
	     *c = solver_matrix(run, GPUKIT_WRITES, &p->b, p->m, p->n, p->type);
	void *tau = solver_bytes(run, GPUKIT_READS, p->tau, (size_t)p->k,
				 type_size(p->type));
	void *work;

	if (!info || !a || !c || !tau)
		return ILLEGAL;
	work = work_new(p);
	if (!work)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*info = 0;
	if (p->m && p->n && p->k)
		lapack()->ormqr[p->type](&p->side, &p->trans, &p->m, &p->n,
					 &p->k, a, &p->a.ld, tau, c, &p->b.ld,
					 work, &lwork, info, 1, 1);
	free(work);
	count_operations(run, 4.0 * p->m * p->n * p->k, p->type);
	return CUDA_SUCCESS;
}
