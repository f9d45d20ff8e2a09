/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lt_matmul.c - cublasLtMatmul(): checks a product and launches it as one
 * kernel.
 */
#include "fronts/cublas/lt/lt_algo.h"
#include "fronts/cublas/lt/lt_launch.h"
#include "fronts/cublas/lt/lt_run.h"

#include <string.h>

#define WORKSPACE_ALIGNMENT 256

static bool reads_vector(int32_t mode)
{
	return mode >= CUBLASLT_POINTER_MODE_DEVICE_VECTOR;
}

/*
 * Sets *ret to alpha or beta, according to the pointer mode. In some modes
 * alpha is on the device while beta is on the host or is 0.
 */
static void take_factor(const struct lt_problem *p, const void *pointer,
			bool is_beta, struct lt_factor *ret)
{
	int32_t mode = p->op.pointer_mode;
	bool host =
	    mode == CUBLASLT_POINTER_MODE_HOST ||
	    (is_beta &&
	     mode == CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_HOST);
	bool zero = is_beta &&
		    mode == CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_ZERO;

	*ret = (struct lt_factor){0};
	if (zero)
		return;
	if (host) {
		element_get(pointer, (enum element)p->op.scale_type,
			    ret->value);
		return;
	}
	ret->address = (uint64_t)(uintptr_t)pointer;
	ret->vector = reads_vector(mode);
}

static bool is_aligned(const struct lt_problem *p, const void *pointer,
		       uint32_t type)
{
	return (uintptr_t)pointer % lt_alignment(p->a.type, type) == 0;
}

static bool is_known_zero(const struct lt_factor *f)
{
	return !f->address && f->value[0] == 0 && f->value[1] == 0;
}

/*
 * C and D may be the same memory only if their layouts agree; otherwise writing
 * D would overwrite parts of C that are still needed.
 */
static bool are_in_place(const struct lt_job *job)
{
	const struct lt_layout *c = &job->p.c, *d = &job->p.d;

	return c->type == d->type && c->ld == d->ld &&
	       c->batch_stride == d->batch_stride;
}

/* Checks the pointers, which are not part of the problem's descriptors. */
static cublasStatus_t check_pointers(const struct lt_job *job,
				     const void *workspace, size_t size,
				     const char **why)
{
	const struct lt_problem *p = &job->p;
	bool empty = !p->m || !p->n;

	*why = "a matrix is missing";
	if (!empty && (!job->d || (p->k && (!job->a || !job->b)) ||
		       (!job->c && !is_known_zero(&job->beta))))
		return CUBLAS_STATUS_INVALID_VALUE;
	*why = "D is C with another layout";
	if (job->c == job->d && !is_known_zero(&job->beta) &&
	    !are_in_place(job))
		return CUBLAS_STATUS_INVALID_VALUE;
	*why = "a matrix or the workspace is not aligned";
	if (size && (uintptr_t)workspace % WORKSPACE_ALIGNMENT)
		return CUBLAS_STATUS_INVALID_VALUE;
	if (!is_aligned(p, (void *)(uintptr_t)job->a, p->a.type) ||
	    !is_aligned(p, (void *)(uintptr_t)job->b, p->b.type) ||
	    !is_aligned(p, (void *)(uintptr_t)job->c, p->c.type) ||
	    !is_aligned(p, (void *)(uintptr_t)job->d, p->d.type))
		return CUBLAS_STATUS_NOT_SUPPORTED;
	return CUBLAS_STATUS_SUCCESS;
}

/* For integers in tiled orders, alpha and beta may only be 0 or 1. */
static cublasStatus_t check_factors(const struct lt_job *job, const char **why)
{
	double alpha = job->alpha.value[0], beta = job->beta.value[0];

	*why = "a factor other than 0 and 1 with such orders";
	if (job->p.d.order > CUBLASLT_ORDER_ROW &&
	    job->p.op.scale_type == CUDA_R_32I &&
	    ((alpha != 0 && alpha != 1) || (beta != 0 && beta != 1)))
		return CUBLAS_STATUS_NOT_SUPPORTED;
	return CUBLAS_STATUS_SUCCESS;
}

/* Returns the program's emulation descriptor, in host memory, or NULL. */
static const struct lt_emulation *emulation_of(const struct lt_problem *p)
{
	return (const void *)(uintptr_t)p->op.emulation;
}

static cublasStatus_t check_all(struct lt_job *job,
				const struct lt_request *request,
				const void *alpha, const void *beta,
				const cublasLtMatmulAlgo_t *algo,
				const char **why)
{
	struct lt_device device;
	cublasStatus_t r = lt_find_device(&device);

	*why = "no GPU";
	if (!r)
		r = lt_problem_of(request, &device, true, &job->p, why);
	if (!r && algo) {
		*why = "the algorithm is none for this product";
		r = lt_check_algo(algo, &job->p);
	}
	if (r)
		return r;
	*why = "alpha or beta is missing";
	if (!alpha ||
	    (!beta && job->p.op.pointer_mode !=
			  CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_ZERO))
		return CUBLAS_STATUS_INVALID_VALUE;
	if (job->p.op.emulation)
		job->emulated_bits = emulation_of(&job->p)->bits_told;
	take_factor(&job->p, alpha, false, &job->alpha);
	take_factor(&job->p, beta, true, &job->beta);
	return check_factors(job, why);
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t lightHandle,
			      cublasLtMatmulDesc_t computeDesc,
			      const void *alpha, const void *A,
			      cublasLtMatrixLayout_t Adesc, const void *B,
			      cublasLtMatrixLayout_t Bdesc, const void *beta,
			      const void *C, cublasLtMatrixLayout_t Cdesc,
			      void *D, cublasLtMatrixLayout_t Ddesc,
			      const cublasLtMatmulAlgo_t *algo, void *workspace,
			      size_t workspaceSizeInBytes, cudaStream_t stream)
{
	struct lt_request request = {(const void *)computeDesc,
				     (const void *)Adesc, (const void *)Bdesc,
				     (const void *)Cdesc, (const void *)Ddesc};
	struct lt_job job = {.a = (uint64_t)(uintptr_t)A,
			     .b = (uint64_t)(uintptr_t)B,
			     .c = (uint64_t)(uintptr_t)C,
			     .d = (uint64_t)(uintptr_t)D};
	const char *why;
	cublasStatus_t r;

	if (!lt_is_handle(lightHandle))
		return lt_end(__func__, CUBLAS_STATUS_NOT_INITIALIZED);
	r = check_all(&job, &request, alpha, beta, algo, &why);
	if (!r)
		r = check_pointers(&job, workspace, workspaceSizeInBytes, &why);
	if (r)
		return lt_refuse(__func__, r, why);
	lt_log(LT_TRACE, __func__, "m=%lld n=%lld k=%lld batches=%d",
	       (long long)job.p.m, (long long)job.p.n, (long long)job.p.k,
	       (int)job.p.batches);
	return lt_launch(__func__, LT_KERNEL_MATMUL, stream, &job);
}
