/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lt_transform.c - cublasLtMatrixTransform(): checks and launches a transform.
 */
#include "fronts/cublas/lt/lt_launch.h"
#include "fronts/cublas/lt/lt_move.h"
#include "fronts/cublas/lt/lt_problem.h"

#define INVALID CUBLAS_STATUS_INVALID_VALUE

static bool is_scale_type(int32_t type)
{
	return type == R_32F || type == R_64F || type == R_16F ||
	       type == R_32I || type == C_32F || type == C_64F;
}

static bool is_operation(int32_t op)
{
	return op >= CUBLAS_OP_N && op <= CUBLAS_OP_C;
}

/* Whether op(from) and `to` have the same shape. */
static bool has_shape(const struct lt_layout *from, int32_t op,
		      const struct lt_layout *to)
{
	bool trans = op != CUBLAS_OP_N;

	return (trans ? from->cols : from->rows) == to->rows &&
	       (trans ? from->rows : from->cols) == to->cols;
}

static cublasStatus_t check_operand(const struct lt_transform_job *j,
				    const struct lt_layout *from, int32_t op,
				    const char **why)
{
	bool complex = element_is_complex((enum element)j->op.scale_type);

	*why = "the layouts do not agree";
	if (!lt_layout_is_valid(from) || !has_shape(from, op, &j->c) ||
	    from->batch_count != j->c.batch_count || from->batch_count < 1)
		return INVALID;
	*why = "no transformation of these types";
	if (!lt_bytes(from->type, 1) || from->type == R_4F_E2M1 ||
	    element_is_complex((enum element)from->type) != complex ||
	    from->batch_mode != CUBLASLT_BATCH_MODE_STRIDED)
		return CUBLAS_STATUS_NOT_SUPPORTED;
	return CUBLAS_STATUS_SUCCESS;
}

static cublasStatus_t check_job(const struct lt_transform_job *j,
				const char **why)
{
	int32_t mode = j->op.pointer_mode;
	cublasStatus_t r;

	*why = "no such type of factors or operation";
	if (!is_operation(j->op.trans_a) || !is_operation(j->op.trans_b) ||
	    (mode != CUBLASLT_POINTER_MODE_HOST &&
	     mode != CUBLASLT_POINTER_MODE_DEVICE))
		return INVALID;
	if (!is_scale_type(j->op.scale_type))
		return CUBLAS_STATUS_NOT_SUPPORTED;
	r = check_operand(j, &j->c, CUBLAS_OP_N, why);
	if (!r && j->from_a)
		r = check_operand(j, &j->a, j->op.trans_a, why);
	if (!r && j->from_b)
		r = check_operand(j, &j->b, j->op.trans_b, why);
	return r;
}

/*
 * Sets *ret to alpha or beta. Returns false if `pointer` is NULL although there
 * is a matrix to multiply.
 */
static bool take_factor(const struct lt_transform *op, const void *pointer,
			uint64_t matrix, struct lt_factor *ret)
{
	*ret = (struct lt_factor){0};
	if (!pointer)
		return !matrix;
	if (op->pointer_mode == CUBLASLT_POINTER_MODE_HOST)
		element_get(pointer, (enum element)op->scale_type, ret->value);
	else
		ret->address = (uint64_t)(uintptr_t)pointer;
	return true;
}

cublasStatus_t cublasLtMatrixTransform(
    cublasLtHandle_t lightHandle, cublasLtMatrixTransformDesc_t transformDesc,
    const void *alpha, const void *A, cublasLtMatrixLayout_t Adesc,
    const void *beta, const void *B, cublasLtMatrixLayout_t Bdesc, void *C,
    cublasLtMatrixLayout_t Cdesc, cudaStream_t stream)
{
	const struct lt_transform *op = (const void *)transformDesc;
	const struct lt_layout *a = (const void *)Adesc;
	const struct lt_layout *b = (const void *)Bdesc;
	const struct lt_layout *c = (const void *)Cdesc;
	struct lt_transform_job j = {.from_a = (uint64_t)(uintptr_t)A,
				     .from_b = (uint64_t)(uintptr_t)B,
				     .to = (uint64_t)(uintptr_t)C};
	const char *why;
	cublasStatus_t r;

	if (!lt_is_handle(lightHandle))
		return lt_end(__func__, CUBLAS_STATUS_NOT_INITIALIZED);
	if (!op || !c || !C || (A && !a) || (B && !b))
		return lt_refuse(__func__, INVALID, "a descriptor is missing");
	j.op = *op;
	j.a = a ? *a : lt_layout_initial;
	j.b = b ? *b : lt_layout_initial;
	j.c = *c;
	r = check_job(&j, &why);
	if (r)
		return lt_refuse(__func__, r, why);
	if (!take_factor(op, alpha, j.from_a, &j.alpha) ||
	    !take_factor(op, beta, j.from_b, &j.beta))
		return lt_refuse(__func__, INVALID, "alpha or beta is missing");
	return lt_launch(__func__, LT_KERNEL_TRANSFORM, stream, &j);
}
