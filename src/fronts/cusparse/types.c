/* SPDX-License-Identifier: Apache-2.0 */
/* types.c - owns the table of supported combinations of types. */
#include "fronts/cusparse/types.h"

/* The combinations in cuSPARSE's documentation of SpMV and SpMM. */
static const struct {
	cudaDataType a, b, c, compute;
} rows[] = {
    {CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F},
    {CUDA_R_64F, CUDA_R_64F, CUDA_R_64F, CUDA_R_64F},
    {CUDA_C_32F, CUDA_C_32F, CUDA_C_32F, CUDA_C_32F},
    {CUDA_C_64F, CUDA_C_64F, CUDA_C_64F, CUDA_C_64F},
    {CUDA_R_16F, CUDA_R_16F, CUDA_R_16F, CUDA_R_32F},
    {CUDA_R_16F, CUDA_R_16F, CUDA_R_32F, CUDA_R_32F},
    {CUDA_R_16BF, CUDA_R_16BF, CUDA_R_16BF, CUDA_R_32F},
    {CUDA_R_16BF, CUDA_R_16BF, CUDA_R_32F, CUDA_R_32F},
    {CUDA_C_16F, CUDA_C_16F, CUDA_C_16F, CUDA_C_32F},
    {CUDA_C_16BF, CUDA_C_16BF, CUDA_C_16BF, CUDA_C_32F},
    {CUDA_R_8I, CUDA_R_8I, CUDA_R_32I, CUDA_R_32I},
    {CUDA_R_8I, CUDA_R_8I, CUDA_R_32F, CUDA_R_32F},
    {CUDA_R_32F, CUDA_R_64F, CUDA_R_64F, CUDA_R_64F},
    {CUDA_C_32F, CUDA_C_64F, CUDA_C_64F, CUDA_C_64F},
    {CUDA_R_32F, CUDA_C_32F, CUDA_C_32F, CUDA_C_32F},
    {CUDA_R_64F, CUDA_C_64F, CUDA_C_64F, CUDA_C_64F},
};

bool types_multiply(cudaDataType a, cudaDataType b, cudaDataType c,
		    cudaDataType compute)
{
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (rows[i].a == a && rows[i].b == b && rows[i].c == c &&
		    rows[i].compute == compute)
			return true;
	return false;
}

cusparseStatus_t sparse_size_after(cusparseStatus_t status, size_t size,
				   size_t *ret_size)
{
	if (status)
		return status;
	if (!ret_size)
		return CUSPARSE_STATUS_INVALID_VALUE;
	*ret_size = size;
	return CUSPARSE_STATUS_SUCCESS;
}
