/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gemm.c - the functions of SpGEMM and SpGEMMreuse. The first step counts C's
 * entries. Every later step computes from A and B again, so that nothing needs
 * to be kept in the caller's buffers.
 */
#include "fronts/cusparse/params.h"
#include "fronts/cusparse/types.h"

#include <stdlib.h>

struct cusparseSpGEMMDescr {
	int64_t nnz; /* entries of C; written by a kernel */
};

cusparseStatus_t cusparseSpGEMM_createDescr(cusparseSpGEMMDescr_t *descr)
{
	if (!descr)
		return CUSPARSE_STATUS_INVALID_VALUE;
	*descr = calloc(1, sizeof **descr);
	return *descr ? CUSPARSE_STATUS_SUCCESS : CUSPARSE_STATUS_ALLOC_FAILED;
}

cusparseStatus_t cusparseSpGEMM_destroyDescr(cusparseSpGEMMDescr_t descr)
{
	free(descr);
	return CUSPARSE_STATUS_SUCCESS;
}

static bool is_csr(const struct cusparseSpMatDescr *m)
{
	return m->format == CUSPARSE_FORMAT_CSR && m->batch_count == 1;
}

static cusparseStatus_t
check_product(cusparseHandle_t handle, cusparseOperation_t opA,
	      cusparseOperation_t opB, cusparseConstSpMatDescr_t a,
	      cusparseConstSpMatDescr_t b, cusparseConstSpMatDescr_t c,
	      cusparseSpGEMMAlg_t alg, cusparseSpGEMMDescr_t descr,
	      const char *symbol)
{
	if (!is_handle(handle))
		return CUSPARSE_STATUS_NOT_INITIALIZED;
	if (!a || !b || !c || !descr || !sparse_is_operation(opA) ||
	    !sparse_is_operation(opB) || (unsigned)alg > CUSPARSE_SPGEMM_ALG3 ||
	    a->cols != b->rows || a->rows != c->rows || b->cols != c->cols)
		return CUSPARSE_STATUS_INVALID_VALUE;
	if (opA != CUSPARSE_OPERATION_NON_TRANSPOSE ||
	    opB != CUSPARSE_OPERATION_NON_TRANSPOSE || !is_csr(a) ||
	    !is_csr(b) || !is_csr(c) || a->type != b->type ||
	    a->type != c->type || value_compute_type(a->type) == CUDA_R_32I)
		return sparse_refuse(symbol);
	return CUSPARSE_STATUS_SUCCESS;
}

#define CHECK(compute)                                                         \
	check_scaled(handle, opA, opB, alpha, matA, matB, beta, matC, compute, \
		     alg, spgemmDescr, __func__)

static cusparseStatus_t
check_scaled(cusparseHandle_t handle, cusparseOperation_t opA,
	     cusparseOperation_t opB, const void *alpha,
	     cusparseConstSpMatDescr_t matA, cusparseConstSpMatDescr_t matB,
	     const void *beta, cusparseConstSpMatDescr_t matC,
	     cudaDataType compute, cusparseSpGEMMAlg_t alg,
	     cusparseSpGEMMDescr_t descr, const char *symbol)
{
	cusparseStatus_t status = check_product(handle, opA, opB, matA, matB,
						matC, alg, descr, symbol);

	if (status)
		return status;
	if (!alpha || !beta)
		return CUSPARSE_STATUS_INVALID_VALUE;
	return value_compute_type(matA->type) == compute
		   ? CUSPARSE_STATUS_SUCCESS
		   : sparse_refuse(symbol);
}

/* Counts C's entries and waits for the result, as cuSPARSE does. */
static cusparseStatus_t count_entries(cusparseHandle_t handle,
				      cusparseConstSpMatDescr_t matA,
				      cusparseConstSpMatDescr_t matB,
				      cusparseSpMatDescr_t matC,
				      cusparseSpGEMMDescr_t descr)
{
	struct product p = {
	    .a = *matA, .b = *matB, .c = *matC, .ret_nnz = &descr->nnz};
	cusparseStatus_t status =
	    sparse_launch(handle, KERNEL_spgemm_count, &p);

	if (!status)
		status = sparse_wait(handle);
	if (!status)
		matC->nnz = descr->nnz;
	return status;
}

static cusparseStatus_t write_structure(cusparseHandle_t handle,
					cusparseConstSpMatDescr_t matA,
					cusparseConstSpMatDescr_t matB,
					cusparseSpMatDescr_t matC)
{
	struct product p = {.a = *matA, .b = *matB, .c = *matC};

	return sparse_launch(handle, KERNEL_spgemm_structure, &p);
}

static cusparseStatus_t write_values(cusparseHandle_t handle, const void *alpha,
				     cusparseConstSpMatDescr_t matA,
				     cusparseConstSpMatDescr_t matB,
				     const struct scalar *beta,
				     cusparseSpMatDescr_t matC,
				     cudaDataType compute)
{
	struct product p = {.a = *matA,
			    .b = *matB,
			    .c = *matC,
			    .alpha = sparse_take_scalar(handle, alpha, compute),
			    .beta = *beta};

	return sparse_launch(handle, KERNEL_spgemm_values, &p);
}

#define SPGEMM_PARAMS                                                          \
	cusparseHandle_t handle, cusparseOperation_t opA,                      \
	    cusparseOperation_t opB, const void *alpha,                        \
	    cusparseConstSpMatDescr_t matA, cusparseConstSpMatDescr_t matB,    \
	    const void *beta, cusparseSpMatDescr_t matC,                       \
	    cudaDataType computeType, cusparseSpGEMMAlg_t alg,                 \
	    cusparseSpGEMMDescr_t spgemmDescr

cusparseStatus_t cusparseSpGEMM_workEstimation(SPGEMM_PARAMS,
					       size_t *bufferSize1,
					       void *externalBuffer1)
{
	cusparseStatus_t status = CHECK(computeType);

	return externalBuffer1 && !status
		   ? status
		   : sparse_size_after(status, WORKSPACE, bufferSize1);
}

cusparseStatus_t cusparseSpGEMM_estimateMemory(SPGEMM_PARAMS,
					       float chunk_fraction,
					       size_t *bufferSize3,
					       void *externalBuffer3,
					       size_t *bufferSize2)
{
	cusparseStatus_t status = CHECK(computeType);

	if (!status && !(chunk_fraction > 0 && chunk_fraction <= 1))
		return CUSPARSE_STATUS_INVALID_VALUE;
	if (!status && externalBuffer3)
		return sparse_size_after(status, WORKSPACE, bufferSize2);
	return sparse_size_after(status, WORKSPACE, bufferSize3);
}

cusparseStatus_t cusparseSpGEMM_compute(SPGEMM_PARAMS, size_t *bufferSize2,
					void *externalBuffer2)
{
	cusparseStatus_t status = CHECK(computeType);

	if (status || !externalBuffer2)
		return sparse_size_after(status, WORKSPACE, bufferSize2);
	return count_entries(handle, matA, matB, matC, spgemmDescr);
}

/* Reads a scalar at once, even if it is in device memory. */
static cusparseStatus_t fetch_scalar(cusparseHandle_t handle,
				     const struct scalar *s, struct value *ret)
{
	char bytes[sizeof(cuDoubleComplex)] __attribute__((aligned(16)));
	cusparseStatus_t status;

	*ret = s->host;
	if (!s->device)
		return CUSPARSE_STATUS_SUCCESS;
	status = sparse_status(native_driver()->cuMemcpyDtoHAsync_v2(
	    bytes, (uintptr_t)s->device, value_size(s->type), handle->stream));
	if (!status)
		status = sparse_wait(handle);
	if (!status)
		*ret = value_load(s->type, bytes, 0);
	return status;
}

/* C is new and has no values to scale, so a beta other than 0 is refused. */
cusparseStatus_t cusparseSpGEMM_copy(SPGEMM_PARAMS)
{
	cusparseStatus_t status = CHECK(computeType);
	struct scalar scale;
	struct value v;

	if (status)
		return status;
	scale = sparse_take_scalar(handle, beta, computeType);
	status = fetch_scalar(handle, &scale, &v);
	if (!status && !value_is_zero(v))
		return sparse_refuse(__func__);
	if (!status)
		status = write_structure(handle, matA, matB, matC);
	return status ? status
		      : write_values(handle, alpha, matA, matB, &scale, matC,
				     computeType);
}

#define REUSE_PARAMS                                                           \
	cusparseHandle_t handle, cusparseOperation_t opA,                      \
	    cusparseOperation_t opB, cusparseConstSpMatDescr_t matA,           \
	    cusparseConstSpMatDescr_t matB, cusparseSpMatDescr_t matC,         \
	    cusparseSpGEMMAlg_t alg, cusparseSpGEMMDescr_t spgemmDescr

#define CHECK_REUSE()                                                          \
	check_product(handle, opA, opB, matA, matB, matC, alg, spgemmDescr,    \
		      __func__)

cusparseStatus_t cusparseSpGEMMreuse_workEstimation(REUSE_PARAMS,
						    size_t *bufferSize1,
						    void *externalBuffer1)
{
	cusparseStatus_t status = CHECK_REUSE();

	return externalBuffer1 && !status
		   ? status
		   : sparse_size_after(status, WORKSPACE, bufferSize1);
}

cusparseStatus_t cusparseSpGEMMreuse_nnz(REUSE_PARAMS, size_t *bufferSize2,
					 void *externalBuffer2,
					 size_t *bufferSize3,
					 void *externalBuffer3,
					 size_t *bufferSize4,
					 void *externalBuffer4)
{
	cusparseStatus_t status = CHECK_REUSE();

	if (!status && externalBuffer2 && externalBuffer3 && externalBuffer4)
		return count_entries(handle, matA, matB, matC, spgemmDescr);
	status = sparse_size_after(status, WORKSPACE, bufferSize2);
	status = sparse_size_after(status, WORKSPACE, bufferSize3);
	return sparse_size_after(status, WORKSPACE, bufferSize4);
}

cusparseStatus_t cusparseSpGEMMreuse_copy(REUSE_PARAMS, size_t *bufferSize5,
					  void *externalBuffer5)
{
	cusparseStatus_t status = CHECK_REUSE();

	if (status || !externalBuffer5)
		return sparse_size_after(status, WORKSPACE, bufferSize5);
	return write_structure(handle, matA, matB, matC);
}

cusparseStatus_t cusparseSpGEMMreuse_compute(SPGEMM_PARAMS)
{
	cusparseStatus_t status = CHECK(computeType);
	struct scalar scale;

	if (status)
		return status;
	scale = sparse_take_scalar(handle, beta, computeType);
	return write_values(handle, alpha, matA, matB, &scale, matC,
			    computeType);
}
