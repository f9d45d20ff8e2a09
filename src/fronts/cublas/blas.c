/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blas.c - launches the kernels of libcublas, and resolves scalars, results,
 * vectors and matrices for the kernels' bodies.
 */
#include "fronts/cublas/blas.h"

#include "base/assert.h"
#include "fronts/cublas/logger.h"

#include <errno.h>

cublasStatus_t blas_status(CUresult r)
{
	switch ((int)r) {
	case CUDA_SUCCESS:
		return CUBLAS_STATUS_SUCCESS;
	case CUDA_ERROR_INVALID_VALUE:
		return CUBLAS_STATUS_INVALID_VALUE;
	case CUDA_ERROR_OUT_OF_MEMORY:
		return CUBLAS_STATUS_ALLOC_FAILED;
	case CUDA_ERROR_NOT_INITIALIZED:
	case CUDA_ERROR_NO_DEVICE:
		return CUBLAS_STATUS_NOT_INITIALIZED;
	default:
		return CUBLAS_STATUS_EXECUTION_FAILED;
	}
}

cublasStatus_t blas_refuse(const char *symbol)
{
	native_refuse(GPUKIT_CUBLAS, symbol);
	return CUBLAS_STATUS_NOT_SUPPORTED;
}

CUresult blas_result(int err)
{
	if (err == -ENOMEM)
		return CUDA_ERROR_OUT_OF_MEMORY;
	return err ? CUDA_ERROR_UNKNOWN : CUDA_SUCCESS;
}

cublasStatus_t blas_launch(cublasHandle_t handle, enum kernel kernel,
			   const void *params)
{
	CUresult r;

	GK_ASSERT(kernel < KERNELS && params);
	r = native_launch(handle->kernels, kernel, handle->stream, params);
	logger_write("cuBLAS: %s launched in stream %p: %d",
		     handle->kernels->kernels[kernel].name,
		     (void *)handle->stream, (int)r);
	return r ? CUBLAS_STATUS_EXECUTION_FAILED : CUBLAS_STATUS_SUCCESS;
}

/*
 * Whether the stream is being captured. The graph would store a result in host
 * memory only after the call has returned.
 */
static bool is_capturing(CUstream stream)
{
	CUstreamCaptureStatus status;

	return native_driver()->cuStreamIsCapturing(stream, &status) ||
	       status != CU_STREAM_CAPTURE_STATUS_NONE;
}

cublasStatus_t blas_launch_result(cublasHandle_t handle, enum kernel kernel,
				  const void *params, const struct result *r)
{
	cublasStatus_t status;

	if (!r->on_host)
		return blas_launch(handle, kernel, params);
	if (is_capturing(handle->stream))
		return CUBLAS_STATUS_EXECUTION_FAILED;
	status = blas_launch(handle, kernel, params);
	if (status)
		return status;
	return native_driver()->cuStreamSynchronize(handle->stream)
		   ? CUBLAS_STATUS_EXECUTION_FAILED
		   : CUBLAS_STATUS_SUCCESS;
}

struct scalar blas_take_scalar(cublasHandle_t handle, const void *pointer,
			       enum element type)
{
	struct scalar s = {.type = type};

	GK_ASSERT(pointer);
	if (handle->pointer_mode)
		s.at = address_of(pointer);
	else
		element_get(pointer, type, s.value);
	return s;
}

bool blas_read_scalar(struct gpukit_run *run, const struct scalar *s,
		      double ret_parts[2])
{
	const void *at;

	ret_parts[0] = s->value[0];
	ret_parts[1] = s->value[1];
	if (!s->at)
		return true;
	at = run->memory(run, GPUKIT_READS, s->at, element_size(s->type));
	if (at)
		element_get(at, s->type, ret_parts);
	return at;
}

struct result blas_take_result(cublasHandle_t handle, void *pointer)
{
	return (struct result){address_of(pointer), !handle->pointer_mode};
}

void *blas_place_result(struct gpukit_run *run, const struct result *r,
			size_t size)
{
	return r->on_host ? (void *)(uintptr_t)r->at
			  : run->memory(run, GPUKIT_WRITES, r->at, size);
}

/*
 * Returns the memory of `count` elements; NULL if it is not accessible or the
 * count is too large.
 */
static void *elements_place(struct gpukit_run *run, enum gpukit_access access,
			    uint64_t at, enum element type, uint64_t count)
{
	size_t size;

	if (__builtin_mul_overflow(count, element_size(type), &size))
		size = SIZE_MAX;
	return run->memory(run, access, at, size);
}

void *blas_place_matrix(struct gpukit_run *run, enum gpukit_access access,
			uint64_t at, enum element type, int64_t rows,
			int64_t columns, int64_t ld)
{
	uint64_t count = 0;

	if (rows && columns &&
	    (__builtin_mul_overflow((uint64_t)columns - 1, ld, &count) ||
	     __builtin_add_overflow(count, rows, &count)))
		count = UINT64_MAX;
	return elements_place(run, access, at, type, count);
}

void *blas_place_vector(struct gpukit_run *run, enum gpukit_access access,
			uint64_t at, enum element type, int64_t n, int64_t inc)
{
	uint64_t step = inc < 0 ? -(uint64_t)inc : (uint64_t)inc;

	return blas_place_matrix(run, access, at, type, n > 0, n,
				 (int64_t)step);
}
