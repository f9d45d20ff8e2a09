/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launch.c - launches kernels, and resolves scalars and arrays for their
 * bodies.
 */
#include "base/assert.h"
#include "fronts/cusparse/sparse.h"

cusparseStatus_t sparse_status(CUresult r)
{
	if (!r)
		return CUSPARSE_STATUS_SUCCESS;
	if (r == CUDA_ERROR_OUT_OF_MEMORY)
		return CUSPARSE_STATUS_ALLOC_FAILED;
	return r == CUDA_ERROR_NOT_INITIALIZED ||
		       r == CUDA_ERROR_DEINITIALIZED ||
		       r == CUDA_ERROR_NO_DEVICE
		   ? CUSPARSE_STATUS_NOT_INITIALIZED
		   : CUSPARSE_STATUS_EXECUTION_FAILED;
}

cusparseStatus_t sparse_launch(cusparseHandle_t handle,
			       enum sparse_kernel kernel, const void *params)
{
	GK_ASSERT(kernel < SPARSE_KERNELS && params);
	return sparse_status(
	    native_launch(handle->kernels, kernel, handle->stream, params));
}

cusparseStatus_t sparse_wait(cusparseHandle_t handle)
{
	return sparse_status(
	    native_driver()->cuStreamSynchronize(handle->stream));
}

cusparseStatus_t sparse_refuse(const char *symbol)
{
	native_refuse(GPUKIT_CUSPARSE, symbol);
	return CUSPARSE_STATUS_NOT_SUPPORTED;
}

struct scalar sparse_take_scalar(cusparseHandle_t handle, const void *number,
				 cudaDataType type)
{
	struct scalar s = {.type = type};

	GK_ASSERT(number);
	if (handle->mode == CUSPARSE_POINTER_MODE_DEVICE)
		s.device = number;
	else
		s.host = value_load(type, number, 0);
	return s;
}

bool sparse_read_scalar(struct gpukit_run *run, const struct scalar *s,
			struct value *ret_value)
{
	const void *at;

	*ret_value = s->host;
	if (!s->device)
		return true;
	at = sparse_array(run, GPUKIT_READS, s->device, 1, value_size(s->type));
	if (at)
		*ret_value = value_load(s->type, at, 0);
	return at != NULL;
}

void *sparse_array(struct gpukit_run *run, enum gpukit_access access,
		   const void *at, int64_t count, size_t size)
{
	size_t bytes;

	if (count < 0 || __builtin_mul_overflow((size_t)count, size, &bytes))
		bytes = SIZE_MAX;
	return run->memory(run, access, (uintptr_t)at, bytes);
}

bool sparse_is_operation(cusparseOperation_t op)
{
	return (unsigned)op <= CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE;
}
