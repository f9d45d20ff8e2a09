/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gather.c - operations on one sparse and one dense vector: Axpby, Gather,
 * SpVV.
 */
#include "fronts/cusparse/params.h"
#include "fronts/cusparse/types.h"

/* The memory of x and y and the values of the two scalars, in a kernel. */
struct pair {
	const struct vectors *p;
	const void *indices;
	void *x, *y;
	struct value alpha, beta;
};

static bool pair_open(struct pair *v, struct gpukit_run *run,
		      enum gpukit_access x, enum gpukit_access y)
{
	const struct vectors *p = v->p = run->params;

	v->indices = sparse_array(run, GPUKIT_READS, p->x.indices, p->x.nnz,
				  index_size(p->x.index_type));
	v->x =
	    sparse_array(run, x, p->x.values, p->x.nnz, value_size(p->x.type));
	v->y =
	    sparse_array(run, y, p->y.values, p->y.size, value_size(p->y.type));
	run->operations += 2 * (uint64_t)p->x.nnz;
	return v->indices && v->x && v->y &&
	       sparse_read_scalar(run, &p->alpha, &v->alpha) &&
	       sparse_read_scalar(run, &p->beta, &v->beta);
}

/* Returns the position in y of entry k of x, or -1 if it is outside y. */
static int64_t place_of(const struct pair *v, int64_t k)
{
	int64_t at =
	    index_load(v->p->x.index_type, v->indices, k) - v->p->x.base;

	return at >= 0 && at < v->p->y.size ? at : -1;
}

static struct value load_x(const struct pair *v, int64_t k)
{
	return value_load(v->p->x.type, v->x, k);
}

static struct value load_y(const struct pair *v, int64_t at)
{
	return value_load(v->p->y.type, v->y, at);
}

/* Loops over the entries k of x and their positions `at` in y. */
#define FOR_ENTRIES(v, k, at)                                                  \
	for (int64_t k = 0, at; k < (v)->p->x.nnz; k++)                        \
		if ((at = place_of(v, k)) < 0)                                 \
			return CUDA_ERROR_ILLEGAL_ADDRESS;                     \
		else

CUresult run_axpby(struct gpukit_run *run)
{
	const struct value one = {1, 0}, zero = {0, 0};
	struct pair v;
	cudaDataType type;

	if (!pair_open(&v, run, GPUKIT_READS, GPUKIT_WRITES))
		return CUDA_ERROR_ILLEGAL_ADDRESS;
	type = v.p->y.type;
	for (int64_t i = 0; i < v.p->y.size; i++)
		value_store(type, v.y, i,
			    value_blend(one, zero, v.beta, type, v.y, i));
	FOR_ENTRIES(&v, k, at)
	value_store(type, v.y, at,
		    value_blend(v.alpha, load_x(&v, k), one, type, v.y, at));
	return CUDA_SUCCESS;
}

CUresult run_gather(struct gpukit_run *run)
{
	struct pair v;

	if (!pair_open(&v, run, GPUKIT_WRITES, GPUKIT_READS))
		return CUDA_ERROR_ILLEGAL_ADDRESS;
	FOR_ENTRIES(&v, k, at)
	value_store(v.p->x.type, v.x, k, load_y(&v, at));
	return CUDA_SUCCESS;
}

CUresult run_scatter(struct gpukit_run *run)
{
	struct pair v;

	if (!pair_open(&v, run, GPUKIT_READS, GPUKIT_WRITES))
		return CUDA_ERROR_ILLEGAL_ADDRESS;
	FOR_ENTRIES(&v, k, at)
	value_store(v.p->y.type, v.y, at, load_x(&v, k));
	return CUDA_SUCCESS;
}

/* Rotates x and y. alpha is the cosine, beta the sine. */
CUresult run_rot(struct gpukit_run *run)
{
	struct pair v;

	if (!pair_open(&v, run, GPUKIT_WRITES, GPUKIT_WRITES))
		return CUDA_ERROR_ILLEGAL_ADDRESS;
	FOR_ENTRIES(&v, k, at)
	{
		struct value x = load_x(&v, k), y = load_y(&v, at);

		value_store(v.p->x.type, v.x, k,
			    value_add(value_multiply(v.alpha, x),
				      value_multiply(v.beta, y)));
		value_store(v.p->y.type, v.y, at,
			    value_add(value_multiply(v.alpha, y),
				      value_negate(value_multiply(v.beta, x))));
	}
	return CUDA_SUCCESS;
}

CUresult run_dot(struct gpukit_run *run)
{
	struct value sum = {0, 0};
	void *result;
	struct pair v;

	if (!pair_open(&v, run, GPUKIT_READS, GPUKIT_READS))
		return CUDA_ERROR_ILLEGAL_ADDRESS;
	FOR_ENTRIES(&v, k, at)
	{
		struct value x = load_x(&v, k);

		if (v.p->op == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE)
			x = value_conjugate(x);
		sum = value_add(sum, value_multiply(x, load_y(&v, at)));
	}
	result = v.p->result_on_host
		     ? v.p->result
		     : sparse_array(run, GPUKIT_WRITES, v.p->result, 1,
				    value_size(v.p->alpha.type));
	if (!result)
		return CUDA_ERROR_ILLEGAL_ADDRESS;
	value_store(v.p->alpha.type, result, 0, sum);
	return CUDA_SUCCESS;
}

static cusparseStatus_t check_vectors(cusparseHandle_t handle,
				      cusparseConstSpVecDescr_t x,
				      cusparseConstDnVecDescr_t y)
{
	if (!is_handle(handle))
		return CUSPARSE_STATUS_NOT_INITIALIZED;
	if (!x || !y || x->size != y->size || x->type != y->type)
		return CUSPARSE_STATUS_INVALID_VALUE;
	return CUSPARSE_STATUS_SUCCESS;
}

/* alpha and beta have the compute type. */
static cusparseStatus_t combine_vectors(cusparseHandle_t handle,
					cusparseConstSpVecDescr_t x,
					cusparseConstDnVecDescr_t y,
					const void *alpha, const void *beta,
					enum sparse_kernel kernel)
{
	cusparseStatus_t status = check_vectors(handle, x, y);
	struct vectors p;

	if (status)
		return status;
	p = (struct vectors){.x = *x, .y = *y};
	if (alpha)
		p.alpha = sparse_take_scalar(handle, alpha,
					     value_compute_type(x->type));
	if (beta)
		p.beta = sparse_take_scalar(handle, beta,
					    value_compute_type(x->type));
	return sparse_launch(handle, kernel, &p);
}

cusparseStatus_t cusparseAxpby(cusparseHandle_t handle, const void *alpha,
			       cusparseConstSpVecDescr_t vecX, const void *beta,
			       cusparseDnVecDescr_t vecY)
{
	if (handle && (!alpha || !beta))
		return CUSPARSE_STATUS_INVALID_VALUE;
	return combine_vectors(handle, vecX, vecY, alpha, beta, KERNEL_axpby);
}

cusparseStatus_t cusparseRot(cusparseHandle_t handle, const void *c_coeff,
			     const void *s_coeff, cusparseSpVecDescr_t vecX,
			     cusparseDnVecDescr_t vecY)
{
	if (handle && (!c_coeff || !s_coeff))
		return CUSPARSE_STATUS_INVALID_VALUE;
	return combine_vectors(handle, vecX, vecY, c_coeff, s_coeff,
			       KERNEL_rot);
}

cusparseStatus_t cusparseGather(cusparseHandle_t handle,
				cusparseConstDnVecDescr_t vecY,
				cusparseSpVecDescr_t vecX)
{
	return combine_vectors(handle, vecX, vecY, NULL, NULL, KERNEL_gather);
}

cusparseStatus_t cusparseScatter(cusparseHandle_t handle,
				 cusparseConstSpVecDescr_t vecX,
				 cusparseDnVecDescr_t vecY)
{
	return combine_vectors(handle, vecX, vecY, NULL, NULL, KERNEL_scatter);
}

static cusparseStatus_t
check_dot(cusparseHandle_t handle, cusparseOperation_t op,
	  cusparseConstSpVecDescr_t x, cusparseConstDnVecDescr_t y,
	  const void *result, cudaDataType compute, const char *symbol)
{
	cusparseStatus_t status = check_vectors(handle, x, y);

	if (status)
		return status;
	if (!result || !sparse_is_operation(op) || !value_size(compute))
		return CUSPARSE_STATUS_INVALID_VALUE;
	/* The result has the compute type. */
	return types_multiply(x->type, y->type, compute, compute)
		   ? CUSPARSE_STATUS_SUCCESS
		   : sparse_refuse(symbol);
}

cusparseStatus_t
cusparseSpVV_bufferSize(cusparseHandle_t handle, cusparseOperation_t opX,
			cusparseConstSpVecDescr_t vecX,
			cusparseConstDnVecDescr_t vecY, const void *result,
			cudaDataType computeType, size_t *bufferSize)
{
	return sparse_size_after(
	    check_dot(handle, opX, vecX, vecY, result, computeType, __func__),
	    WORKSPACE, bufferSize);
}

/* If the result is in host memory, waits for it. */
cusparseStatus_t cusparseSpVV(cusparseHandle_t handle, cusparseOperation_t opX,
			      cusparseConstSpVecDescr_t vecX,
			      cusparseConstDnVecDescr_t vecY, void *result,
			      cudaDataType computeType, void *externalBuffer)
{
	cusparseStatus_t status =
	    check_dot(handle, opX, vecX, vecY, result, computeType, __func__);
	struct vectors p;

	(void)externalBuffer;
	if (status)
		return status;
	p = (struct vectors){.x = *vecX,
			     .y = *vecY,
			     .op = opX,
			     .alpha = {.type = computeType},
			     .result = result,
			     .result_on_host =
				 handle->mode == CUSPARSE_POINTER_MODE_HOST};
	status = sparse_launch(handle, KERNEL_spvv, &p);
	return !status && p.result_on_host ? sparse_wait(handle) : status;
}
