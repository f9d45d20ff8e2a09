/* SPDX-License-Identifier: Apache-2.0 */
/* spectrum.c - runs the kernels for singular values and eigenvalues. */
#include "fronts/cusolver/solver.h"

#include <stdlib.h>
#include <string.h>

#define ILLEGAL CUDA_ERROR_ILLEGAL_ADDRESS

/* Returns matrix i of a batch whose matrices are adjacent in memory. */
static void *part_of(struct gpukit_run *run, const struct job *p,
		     const struct matrix *m, int i, int rows, int cols)
{
	struct matrix one = *m;

	one.at = (const char *)m->at +
		 (size_t)i * (size_t)cols * (size_t)m->ld * type_size(p->type);
	return solver_matrix(run, GPUKIT_WRITES, &one, rows, cols, p->type);
}

static void *values_of(struct gpukit_run *run, const struct job *p, int i,
		       int count)
{
	size_t size = real_size(p->type);

	return solver_bytes(run, GPUKIT_WRITES,
			    (const char *)p->values +
				(size_t)i * (size_t)count * size,
			    (size_t)count, size);
}

/* ---- singular values ---- */

struct svd {
	const struct job *p;
	char jobu, jobvt;
	void *a, *s, *u, *vt;
	int ldu, ldvt;
};

/*
 * `work` has `size` elements. If `size` is -1, LAPACK stores the needed size in
 * work[0].
 */
static int lapack_gesvd(const struct svd *d, void *work, int size, void *rwork)
{
	const struct job *p = d->p;
	int info = 0;

	if (type_is_complex(p->type))
		lapack()->complex_gesvd[p->type % 2](
		    &d->jobu, &d->jobvt, &p->m, &p->n, d->a, &p->a.ld, d->s,
		    d->u, &d->ldu, d->vt, &d->ldvt, work, &size, rwork, &info,
		    1, 1);
	else
		lapack()->real_gesvd[p->type](
		    &d->jobu, &d->jobvt, &p->m, &p->n, d->a, &p->a.ld, d->s,
		    d->u, &d->ldu, d->vt, &d->ldvt, work, &size, &info, 1, 1);
	return info;
}

/* Reads a size that LAPACK has returned as an element of the matrix's type. */
static int told_size(const struct job *p, const void *number)
{
	return p->type == TYPE_S || p->type == TYPE_C
		   ? (int)*(const float *)number
		   : (int)*(const double *)number;
}

static CUresult decompose_matrix(const struct svd *d, int *ret_info)
{
	const struct job *p = d->p;
	double first[2] = {0};
	void *rwork =
	    malloc((5 * (size_t)smaller(p->m, p->n) + 1) * real_size(p->type));
	void *work = NULL;
	int size;

	if (rwork)
		lapack_gesvd(d, first, -1, rwork);
	/* LAPACK may have rounded a large size down to a float. */
	size = told_size(p, first) + told_size(p, first) / 1024 + 64;
	if (rwork)
		work = malloc((size_t)size * type_size(p->type));
	if (work)
		*ret_info = lapack_gesvd(d, work, size, rwork);
	free(work);
	free(rwork);
	return work ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

/* Returns the number of columns of U, or of rows of V^H, for a job letter. */
static int vectors_of(char job, int all, int few)
{
	return job == 'A' ? all : job == 'S' ? few : 0;
}

static void count_svd(struct gpukit_run *run, const struct job *p)
{
	double m = p->m, n = p->n;

	run->operations += (uint64_t)(4 * m * n * smaller(p->m, p->n) *
				      (type_is_complex(p->type) ? 4 : 1));
}

CUresult run_gesvd(struct gpukit_run *run)
{
	const struct job *p = run->params;
	int few = smaller(p->m, p->n), cols = vectors_of(p->jobu, p->m, few),
	    rows = vectors_of(p->jobv, p->n, few);
	int *info = solver_bytes(run, GPUKIT_WRITES, p->info, 1, sizeof *info);
	struct svd d = {
	    .p = p,
	    .jobu = p->jobu,
	    .jobvt = p->jobv,
	    .a = solver_matrix(run, GPUKIT_WRITES, &p->a, p->m, p->n, p->type),
	    .s = values_of(run, p, 0, few),
	    .u = solver_matrix(run, GPUKIT_WRITES, &p->u, p->m, cols, p->type),
	    .vt = solver_matrix(run, GPUKIT_WRITES, &p->v, rows, p->n, p->type),
	    .ldu = at_least_1(p->u.ld),
	    .ldvt = at_least_1(p->v.ld)};

	if (!info || !d.a || !d.s || (cols && !d.u) || (rows && !d.vt))
		return ILLEGAL;
	*info = 0;
	count_svd(run, p);
	return few ? decompose_matrix(&d, info) : CUDA_SUCCESS;
}

static void copy_part(enum lapack_type type, void *to, const void *from,
		      bool negate)
{
	if (type == TYPE_S || type == TYPE_C)
		*(float *)to =
		    negate ? -*(const float *)from : *(const float *)from;
	else
		*(double *)to =
		    negate ? -*(const double *)from : *(const double *)from;
}

/* Computes V = (V^H)^H: the conjugated rows of vt become columns of v. */
static void turn_vectors(const struct job *p, const char *vt, int ldvt, char *v,
			 int count)
{
	size_t size = type_size(p->type), part = real_size(p->type);

	for (int i = 0; i < count; i++)
		for (int j = 0; j < p->n; j++) {
			const char *from =
			    vt + ((size_t)j * (size_t)ldvt + (size_t)i) * size;
			char *to =
			    v +
			    ((size_t)i * (size_t)p->v.ld + (size_t)j) * size;

			copy_part(p->type, to, from, false);
			if (type_is_complex(p->type))
				copy_part(p->type, to + part, from + part,
					  true);
		}
}

/* The numbers of columns of U and V; 0: not requested. */
struct sides {
	int u, v;
};

static struct sides sides_of(const struct job *p)
{
	int few = smaller(p->m, p->n);

	if (p->jobu == 'N')
		return (struct sides){0, 0};
	return p->economic ? (struct sides){few, few}
			   : (struct sides){p->m, p->n};
}

static CUresult run_one_gesvdj(struct gpukit_run *run, const struct job *p,
			       int i, int *info)
{
	int few = smaller(p->m, p->n);
	struct sides sides = sides_of(p);
	char job = p->jobu == 'N' ? 'N' : p->economic ? 'S' : 'A';
	void *v = part_of(run, p, &p->v, i, p->n, sides.v);
	struct svd d = {.p = p,
			.jobu = job,
			.jobvt = job,
			.a = part_of(run, p, &p->a, i, p->m, p->n),
			.s = values_of(run, p, i, few),
			.u = part_of(run, p, &p->u, i, p->m, sides.u),
			.ldu = at_least_1(p->u.ld),
			.ldvt = at_least_1(sides.v)};
	CUresult r = ILLEGAL;

	d.vt =
	    malloc(((size_t)sides.v * (size_t)p->n + 1) * type_size(p->type));
	*info = 0;
	if (!d.vt)
		r = CUDA_ERROR_OUT_OF_MEMORY;
	else if (d.a && d.s && (!sides.u || (d.u && v)))
		r = few ? decompose_matrix(&d, info) : CUDA_SUCCESS;
	if (!r && few && sides.v)
		turn_vectors(p, d.vt, d.ldvt, v, sides.v);
	free(d.vt);
	count_svd(run, p);
	return r;
}

CUresult run_gesvdj(struct gpukit_run *run)
{
	const struct job *p = run->params;
	int *info = solver_bytes(run, GPUKIT_WRITES, p->info, (size_t)p->batch,
				 sizeof *info);
	CUresult r = info ? CUDA_SUCCESS : ILLEGAL;

	for (int i = 0; !r && i < p->batch; i++)
		r = run->stopped() ? CUDA_ERROR_LAUNCH_FAILED
				   : run_one_gesvdj(run, p, i, &info[i]);
	return r;
}

/* ---- eigenvalues ---- */

/* Workspaces for syevd and heevd, of the largest sizes that they may need. */
struct eigen_work {
	void *work, *rwork;
	int *iwork, lwork, lrwork, liwork;
};

static bool eigen_work_open(struct eigen_work *w, const struct job *p)
{
	size_t n = (size_t)p->n, all = 1 + 6 * n + 2 * n * n;

	*w = (struct eigen_work){.liwork = 3 + 5 * p->n};
	if (all > INT32_MAX)
		return false;
	w->lwork = w->lrwork = (int)all;
	w->work = malloc(all * type_size(p->type));
	w->rwork = malloc(all * real_size(p->type));
	w->iwork = malloc((3 + 5 * n) * sizeof(int));
	return w->work && w->rwork && w->iwork;
}

static void eigen_work_close(struct eigen_work *w)
{
	free(w->work);
	free(w->rwork);
	free(w->iwork);
}

static int lapack_syevd(const struct job *p, void *a, void *values,
			struct eigen_work *w)
{
	int info = 0;

	if (type_is_complex(p->type))
		lapack()->complex_heevd[p->type % 2](
		    &p->jobu, &p->uplo, &p->n, a, &p->a.ld, values, w->work,
		    &w->lwork, w->rwork, &w->lrwork, w->iwork, &w->liwork,
		    &info, 1, 1);
	else
		lapack()->real_syevd[p->type](
		    &p->jobu, &p->uplo, &p->n, a, &p->a.ld, values, w->work,
		    &w->lwork, w->iwork, &w->liwork, &info, 1, 1);
	return info;
}

CUresult run_syevd(struct gpukit_run *run)
{
	const struct job *p = run->params;
	int *info = solver_bytes(run, GPUKIT_WRITES, p->info, (size_t)p->batch,
				 sizeof *info);
	struct eigen_work w;
	bool room = eigen_work_open(&w, p);
	CUresult r = !info  ? ILLEGAL
		     : room ? CUDA_SUCCESS
			    : CUDA_ERROR_OUT_OF_MEMORY;

	for (int i = 0; !r && i < p->batch; i++) {
		void *a = part_of(run, p, &p->a, i, p->n, p->n),
		     *values = values_of(run, p, i, p->n);

		if (!a || !values)
			r = ILLEGAL;
		else
			info[i] = p->n ? lapack_syevd(p, a, values, &w) : 0;
		run->operations += (uint64_t)(9.0 * p->n * p->n * p->n);
		if (!r && run->stopped())
			r = CUDA_ERROR_LAUNCH_FAILED;
	}
	eigen_work_close(&w);
	return r;
}
