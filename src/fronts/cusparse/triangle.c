/* SPDX-License-Identifier: Apache-2.0 */
/*
 * triangle.c - the functions of SpSV and SpSM. The analysis copies A's values
 * to the caller's buffer, updates change the copy, and solving reads it.
 */
#include "fronts/cusparse/entries.h"
#include "fronts/cusparse/params.h"
#include "fronts/cusparse/types.h"

#include <stdlib.h>

/*
 * A matrix, and the address of the copy of its values; NULL before the
 * analysis.
 */
struct analysis {
	struct cusparseSpMatDescr a;
	void *kept;
	bool done;
};

struct cusparseSpSVDescr {
	struct analysis analysis;
};
struct cusparseSpSMDescr {
	struct analysis analysis;
};

#define DESCRIPTOR(Kind)                                                       \
	cusparseStatus_t cusparse##Kind##_createDescr(                         \
	    cusparse##Kind##Descr_t *descr)                                    \
	{                                                                      \
		if (!descr)                                                    \
			return CUSPARSE_STATUS_INVALID_VALUE;                  \
		*descr = calloc(1, sizeof **descr);                            \
		return *descr ? CUSPARSE_STATUS_SUCCESS                        \
			      : CUSPARSE_STATUS_ALLOC_FAILED;                  \
	}                                                                      \
	cusparseStatus_t cusparse##Kind##_destroyDescr(                        \
	    cusparse##Kind##Descr_t descr)                                     \
	{                                                                      \
		free(descr);                                                   \
		return CUSPARSE_STATUS_SUCCESS;                                \
	}
DESCRIPTOR(SpSV)
DESCRIPTOR(SpSM)

static size_t kept_size(const struct cusparseSpMatDescr *a)
{
	return (size_t)a->nnz * value_size(a->type) + WORKSPACE;
}

static bool match_solve_shapes(const struct solve *p)
{
	bool b = p->op_b != CUSPARSE_OPERATION_NON_TRANSPOSE;

	return p->a.rows == p->a.cols && p->c.rows == p->a.rows &&
	       (b ? p->b.cols : p->b.rows) == p->a.rows &&
	       (b ? p->b.rows : p->b.cols) == p->c.cols;
}

static cusparseStatus_t check_solve(cusparseHandle_t handle,
				    const struct solve *p, const void *alpha,
				    const struct analysis *analysis,
				    cudaDataType compute, const char *symbol)
{
	if (!is_handle(handle))
		return CUSPARSE_STATUS_NOT_INITIALIZED;
	if (!alpha || !analysis || !sparse_is_operation(p->op_a) ||
	    !sparse_is_operation(p->op_b) || !match_solve_shapes(p))
		return CUSPARSE_STATUS_INVALID_VALUE;
	if ((p->a.format != CUSPARSE_FORMAT_CSR &&
	     p->a.format != CUSPARSE_FORMAT_CSC &&
	     p->a.format != CUSPARSE_FORMAT_COO) ||
	    p->a.batch_count > 1 || p->b.batch_count > 1 ||
	    p->c.batch_count > 1 || p->a.type != compute ||
	    p->b.type != compute || p->c.type != compute ||
	    value_compute_type(compute) != compute || compute == CUDA_R_32I)
		return sparse_refuse(symbol);
	return CUSPARSE_STATUS_SUCCESS;
}

/* Copies the values of analysis->a to analysis->kept. */
static cusparseStatus_t keep_values(cusparseHandle_t handle,
				    const struct analysis *analysis,
				    const void *values, bool diagonal)
{
	struct solve_copy p = {analysis->a, analysis->kept, values, diagonal};

	return sparse_launch(handle, KERNEL_solve_copy, &p);
}

static cusparseStatus_t analyse_matrix(cusparseHandle_t handle,
				       const struct solve *p,
				       struct analysis *analysis, void *buffer)
{
	cusparseStatus_t status;

	if (!buffer)
		return CUSPARSE_STATUS_INVALID_VALUE;
	*analysis = (struct analysis){p->a, buffer, false};
	status = keep_values(handle, analysis, p->a.values, false);
	analysis->done = !status;
	return status;
}

static cusparseStatus_t launch_solve(cusparseHandle_t handle, struct solve *p,
				     const void *alpha,
				     const struct analysis *analysis,
				     cudaDataType compute,
				     enum sparse_kernel kernel)
{
	if (!analysis->done || analysis->a.nnz != p->a.nnz ||
	    analysis->a.type != p->a.type)
		return CUSPARSE_STATUS_INVALID_VALUE;
	p->a.values = analysis->kept;
	p->alpha = sparse_take_scalar(handle, alpha, compute);
	return sparse_launch(handle, kernel, p);
}

static cusparseStatus_t update_values(cusparseHandle_t handle,
				      const struct analysis *analysis,
				      const void *values, unsigned part)
{
	if (!is_handle(handle))
		return CUSPARSE_STATUS_NOT_INITIALIZED;
	if (!analysis || !analysis->done || !values || part > 1)
		return CUSPARSE_STATUS_INVALID_VALUE;
	return keep_values(handle, analysis, values, part == 1);
}

#define VECTOR_PARAMS                                                          \
	cusparseHandle_t handle, cusparseOperation_t opA, const void *alpha,   \
	    cusparseConstSpMatDescr_t matA, cusparseConstDnVecDescr_t vecX,    \
	    cusparseDnVecDescr_t vecY, cudaDataType computeType,               \
	    cusparseSpSVAlg_t alg, cusparseSpSVDescr_t spsvDescr

#define MATRIX_PARAMS                                                          \
	cusparseHandle_t handle, cusparseOperation_t opA,                      \
	    cusparseOperation_t opB, const void *alpha,                        \
	    cusparseConstSpMatDescr_t matA, cusparseConstDnMatDescr_t matB,    \
	    cusparseDnMatDescr_t matC, cudaDataType computeType,               \
	    cusparseSpSMAlg_t alg, cusparseSpSMDescr_t spsmDescr

static cusparseStatus_t take_vectors(VECTOR_PARAMS, struct solve *ret,
				     const char *symbol)
{
	if (!matA || !vecX || !vecY || alg != CUSPARSE_SPSV_ALG_DEFAULT)
		return CUSPARSE_STATUS_INVALID_VALUE;
	*ret = (struct solve){.a = *matA,
			      .b = dense_column(vecX),
			      .c = dense_column(vecY),
			      .op_a = opA,
			      .op_b = CUSPARSE_OPERATION_NON_TRANSPOSE};
	return check_solve(handle, ret, alpha,
			   spsvDescr ? &spsvDescr->analysis : NULL, computeType,
			   symbol);
}

static cusparseStatus_t take_matrices(MATRIX_PARAMS, struct solve *ret,
				      const char *symbol)
{
	if (!matA || !matB || !matC || alg != CUSPARSE_SPSM_ALG_DEFAULT)
		return CUSPARSE_STATUS_INVALID_VALUE;
	*ret = (struct solve){
	    .a = *matA, .b = *matB, .c = *matC, .op_a = opA, .op_b = opB};
	return check_solve(handle, ret, alpha,
			   spsmDescr ? &spsmDescr->analysis : NULL, computeType,
			   symbol);
}

#define TAKE_VECTORS(p)                                                        \
	take_vectors(handle, opA, alpha, matA, vecX, vecY, computeType, alg,   \
		     spsvDescr, p, __func__)
#define TAKE_MATRICES(p)                                                       \
	take_matrices(handle, opA, opB, alpha, matA, matB, matC, computeType,  \
		      alg, spsmDescr, p, __func__)

cusparseStatus_t cusparseSpSV_bufferSize(VECTOR_PARAMS, size_t *bufferSize)
{
	struct solve p;
	cusparseStatus_t status = TAKE_VECTORS(&p);

	return sparse_size_after(status, status ? 0 : kept_size(&p.a),
				 bufferSize);
}

cusparseStatus_t cusparseSpSV_analysis(VECTOR_PARAMS, void *externalBuffer)
{
	struct solve p;
	cusparseStatus_t status = TAKE_VECTORS(&p);

	return status ? status
		      : analyse_matrix(handle, &p, &spsvDescr->analysis,
				       externalBuffer);
}

cusparseStatus_t cusparseSpSV_solve(VECTOR_PARAMS)
{
	struct solve p;
	cusparseStatus_t status = TAKE_VECTORS(&p);

	return status ? status
		      : launch_solve(handle, &p, alpha, &spsvDescr->analysis,
				     computeType, KERNEL_spsv);
}

cusparseStatus_t cusparseSpSV_updateMatrix(cusparseHandle_t handle,
					   cusparseSpSVDescr_t spsvDescr,
					   void *newValues,
					   cusparseSpSVUpdate_t updatePart)
{
	return update_values(handle, spsvDescr ? &spsvDescr->analysis : NULL,
			     newValues, updatePart);
}

cusparseStatus_t cusparseSpSM_bufferSize(MATRIX_PARAMS, size_t *bufferSize)
{
	struct solve p;
	cusparseStatus_t status = TAKE_MATRICES(&p);

	return sparse_size_after(status, status ? 0 : kept_size(&p.a),
				 bufferSize);
}

cusparseStatus_t cusparseSpSM_analysis(MATRIX_PARAMS, void *externalBuffer)
{
	struct solve p;
	cusparseStatus_t status = TAKE_MATRICES(&p);

	return status ? status
		      : analyse_matrix(handle, &p, &spsmDescr->analysis,
				       externalBuffer);
}

cusparseStatus_t cusparseSpSM_solve(MATRIX_PARAMS)
{
	struct solve p;
	cusparseStatus_t status = TAKE_MATRICES(&p);

	return status ? status
		      : launch_solve(handle, &p, alpha, &spsmDescr->analysis,
				     computeType, KERNEL_spsm);
}

cusparseStatus_t cusparseSpSM_updateMatrix(cusparseHandle_t handle,
					   cusparseSpSMDescr_t spsmDescr,
					   void *newValues,
					   cusparseSpSMUpdate_t updatePart)
{
	return update_values(handle, spsmDescr ? &spsmDescr->analysis : NULL,
			     newValues, updatePart);
}
