/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gemm_launch.c - owns the table of supported types, launches products, and
 * runs their kernel.
 */
#include "fronts/cublas/level/compact.h"
#include "fronts/cublas/gemm/gemm_calls.h"

#include <stdlib.h>

/* The values of cublasComputeType_t that we compute in different ways. */
enum { COMPUTE_16F = 64, COMPUTE_32F = 68, COMPUTE_64F = 70, COMPUTE_32I = 72 };

/* Pedantic, fast and emulated computations are treated like exact ones. */
static const struct {
	int given, alike;
	bool narrows; /* allowed for float matrices only */
} computes[] = {
    {64, COMPUTE_16F, false}, {65, COMPUTE_16F, false},
    {68, COMPUTE_32F, false}, {69, COMPUTE_32F, false},
    {74, COMPUTE_32F, true},  {75, COMPUTE_32F, true},
    {77, COMPUTE_32F, true},  {78, COMPUTE_32F, true},
    {70, COMPUTE_64F, false}, {71, COMPUTE_64F, false},
    {79, COMPUTE_64F, false}, {72, COMPUTE_32I, false},
    {73, COMPUTE_32I, false},
};

static const struct {
	int compute;
	struct gemm_types types;
} sets[] = {
    {COMPUTE_16F, {R_16F, R_16F, R_16F, R_32F}},
    {COMPUTE_32I, {R_8I, R_32I, R_32I, R_32I}},
    {COMPUTE_32F, {R_16BF, R_16BF, R_32F, R_32F}},
    {COMPUTE_32F, {R_16F, R_16F, R_32F, R_32F}},
    {COMPUTE_32F, {R_8I, R_32F, R_32F, R_32F}},
    {COMPUTE_32F, {R_16BF, R_32F, R_32F, R_32F}},
    {COMPUTE_32F, {R_16F, R_32F, R_32F, R_32F}},
    {COMPUTE_32F, {R_32F, R_32F, R_32F, R_32F}},
    {COMPUTE_32F, {C_8I, C_32F, C_32F, R_32F}},
    {COMPUTE_32F, {C_32F, C_32F, C_32F, R_32F}},
    {COMPUTE_64F, {R_64F, R_64F, R_64F, R_64F}},
    {COMPUTE_64F, {C_64F, C_64F, C_64F, R_64F}},
};

cublasStatus_t gemm_types_of(int compute, int a, int b, int c,
			     struct gemm_types *ret_types)
{
	bool narrows = false;
	int alike = 0;

	for (size_t i = 0; i < sizeof computes / sizeof *computes; i++) {
		if (computes[i].given == compute) {
			alike = computes[i].alike;
			narrows = computes[i].narrows;
		}
	}
	REQUIRE(alike);
	if (narrows && a != R_32F && a != C_32F)
		return CUBLAS_STATUS_NOT_SUPPORTED;
	for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
		const struct gemm_types *t = &sets[i].types;

		if (sets[i].compute == alike && (int)t->ab == a && a == b &&
		    (int)t->c == c) {
			*ret_types = *t;
			return CUBLAS_STATUS_SUCCESS;
		}
	}
	return CUBLAS_STATUS_NOT_SUPPORTED;
}

static bool is_shaped(const struct gemm_call *c)
{
	const struct gemm *g = &c->gemm;

	if (g->m < 0 || g->n < 0 || g->k < 0 || c->count < 0)
		return false;
	if (!is_operation((int)g->op_a) || !is_operation((int)g->op_b))
		return false;
	if (!holds(g->lda, g->op_a == OP_N ? g->m : g->k))
		return false;
	if (c->vectors)
		return c->incx && c->incy;
	return holds(g->ldb, g->op_b == OP_N ? g->k : g->n) &&
	       holds(g->ldc, g->m);
}

/*
 * For integers the documentation requires that columns be whole 4-byte words.
 */
static bool is_aligned(const struct gemm_call *c, const struct gemm_types *t)
{
	return t->compute != R_32I ||
	       (!(c->gemm.lda & 3) && !(c->gemm.ldb & 3));
}

static bool is_empty(const struct gemm_call *c)
{
	return !c->gemm.m || !c->gemm.n || !c->count;
}

/* OpenBLAS's dimensions are ints. */
static bool is_within_int(const struct gemm *g)
{
	return g->m <= INT32_MAX && g->n <= INT32_MAX && g->k <= INT32_MAX &&
	       g->lda <= INT32_MAX && g->ldb <= INT32_MAX &&
	       g->ldc <= INT32_MAX;
}

cublasStatus_t gemm_check(const struct gemm_call *call,
			  const struct gemm_types *types, const char *symbol)
{
	REQUIRE(is_shaped(call));
	if (!is_aligned(call, types))
		return CUBLAS_STATUS_NOT_SUPPORTED;
	return is_within_int(&call->gemm) || is_empty(call)
		   ? CUBLAS_STATUS_SUCCESS
		   : blas_refuse(symbol);
}

cublasStatus_t gemm_launch(cublasHandle_t handle, struct gemm_call *call,
			   const struct gemm_types *types, const void *alpha,
			   const void *beta, const char *symbol)
{
	struct gemm *g = &call->gemm;
	cublasStatus_t status;

	ENTER(handle);
	REQUIRE(alpha && beta);
	status = gemm_check(call, types, symbol);
	if (status || is_empty(call))
		return status;
	g->type_a = g->type_b = types->ab;
	g->type_c = g->type_d = types->c;
	g->compute = types->compute;
	g->ldd = g->ldc;
	call->alpha = blas_take_scalar(handle, alpha, types->scale);
	call->beta = blas_take_scalar(handle, beta, types->scale);
	return blas_launch(handle, KERNEL_gemm, call);
}

/*
 * Finds the address of matrix i of a batch. Returns false if the array of
 * addresses is not accessible.
 */
static bool find_matrix(struct gpukit_run *run, const struct gemm_call *c,
			uint64_t base, int64_t stride, enum element type,
			int64_t i, uint64_t *ret)
{
	const uint64_t *array;

	*ret = base + (uint64_t)i * (uint64_t)stride * element_size(type);
	if (!c->arrays)
		return true;
	array = run->memory(run, GPUKIT_READS,
			    base + (uint64_t)i * sizeof *array, sizeof *array);
	if (array)
		*ret = *array;
	return array;
}

static bool place_operands(struct gpukit_run *run, struct gemm *g, uint64_t a,
			   uint64_t b)
{
	bool at = g->op_a != OP_N, bt = g->op_b != OP_N;

	g->a = blas_place_matrix(run, GPUKIT_READS, a, g->type_a,
				 at ? g->k : g->m, at ? g->m : g->k, g->lda);
	if (b)
		g->b = blas_place_matrix(run, GPUKIT_READS, b, g->type_b,
					 bt ? g->n : g->k, bt ? g->k : g->n,
					 g->ldb);
	return g->a && (g->b || !b);
}

/* Runs gemv: a product in which B and C are vectors. */
static CUresult multiply_vector(struct gpukit_run *run,
				const struct gemm_call *c, struct gemm *g,
				uint64_t x_at, uint64_t y_at, bool reads)
{
	struct compact x = {0}, y = {0};
	CUresult r = compact_take(run, GPUKIT_WRITES, y_at, g->type_c, g->m,
				  c->incy, true, &y);

	if (!r && reads)
		r = compact_take(run, GPUKIT_READS, x_at, g->type_b, g->k,
				 c->incx, false, &x);
	if (!r) {
		g->b = x.at;
		g->ldb = g->k;
		g->c = g->d = y.at;
		g->ldc = g->ldd = g->m;
		r = blas_result(gemm_run(g));
		compact_put(&y);
	}
	free(x.own);
	free(y.own);
	return r;
}

static CUresult multiply_one(struct gpukit_run *run, const struct gemm_call *c,
			     struct gemm *g, int64_t i)
{
	bool reads = !scalar_is_zero(g->alpha) && g->k;
	uint64_t a, b, at;

	if (!find_matrix(run, c, c->a, c->stride_a, g->type_a, i, &a) ||
	    !find_matrix(run, c, c->b, c->stride_b, g->type_b, i, &b) ||
	    !find_matrix(run, c, c->c, c->stride_c, g->type_c, i, &at))
		return CUDA_ERROR_ILLEGAL_ADDRESS;
	if (reads && !place_operands(run, g, a, c->vectors ? 0 : b))
		return CUDA_ERROR_ILLEGAL_ADDRESS;
	if (c->vectors)
		return multiply_vector(run, c, g, b, at, reads);
	g->d = blas_place_matrix(run, GPUKIT_WRITES, at, g->type_c, g->m, g->n,
				 g->ldc);
	g->c = g->d;
	return g->d ? blas_result(gemm_run(g)) : CUDA_ERROR_ILLEGAL_ADDRESS;
}

CUresult run_gemm(struct gpukit_run *run)
{
	const struct gemm_call *c = run->params;
	struct gemm shape = c->gemm;
	CUresult r = CUDA_SUCCESS;

	shape.stopped = run->stopped;
	if (!blas_read_scalar(run, &c->alpha, shape.alpha) ||
	    !blas_read_scalar(run, &c->beta, shape.beta))
		return r;
	for (int64_t i = 0; !r && i < c->count && !run->stopped(); i++) {
		struct gemm g = shape;

		r = multiply_one(run, c, &g, i);
		run->operations +=
		    2 * (uint64_t)g.m * (uint64_t)g.n * (uint64_t)g.k;
	}
	return r;
}
