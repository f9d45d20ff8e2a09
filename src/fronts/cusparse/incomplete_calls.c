/* SPDX-License-Identifier: Apache-2.0 */
/* incomplete_calls.c - the functions of csrilu02 and csric02. */
#include "fronts/cusparse/legacy.h"
#include "fronts/cusparse/params.h"

#include <stdlib.h>

/* Kernels write pivot, so they must have ended before this is freed. */
struct csrilu02Info {
	int pivot;
};
struct csric02Info {
	int pivot;
};

static cusparseStatus_t launch_factor(cusparseHandle_t handle, int m, int nnz,
				      const struct cusparseMatDescr *descr,
				      const void *values, const int *offsets,
				      const int *columns, int *pivot,
				      cudaDataType type,
				      enum sparse_kernel kernel)
{
	cusparseStatus_t status = check_general(handle, descr);
	struct factor p;

	if (status)
		return status;
	if (m < 0 || nnz < 0 || !pivot || (m && !offsets) ||
	    (nnz && (!values || !columns)))
		return CUSPARSE_STATUS_INVALID_VALUE;
	p = (struct factor){
	    .a = csr_of(descr, m, m, nnz, values, offsets, columns, type),
	    .ret_pivot = pivot};
	return kernel == SPARSE_KERNELS ? CUSPARSE_STATUS_SUCCESS
					: sparse_launch(handle, kernel, &p);
}

/*
 * Waits for the kernel that finds the pivot, then returns the pivot's position.
 */
static cusparseStatus_t tell_pivot(cusparseHandle_t handle, const int *pivot,
				   int *position)
{
	cusparseStatus_t status;

	if (!is_handle(handle))
		return CUSPARSE_STATUS_NOT_INITIALIZED;
	if (!pivot || !position)
		return CUSPARSE_STATUS_INVALID_VALUE;
	status = sparse_wait(handle);
	if (status)
		return status;
	if (handle->mode == CUSPARSE_POINTER_MODE_HOST)
		*position = *pivot;
	else
		status = sparse_status(native_driver()->cuMemcpyHtoDAsync_v2(
		    (uintptr_t)position, pivot, sizeof *pivot, handle->stream));
	if (status)
		return status;
	return *pivot < 0 ? CUSPARSE_STATUS_SUCCESS
			  : CUSPARSE_STATUS_ZERO_PIVOT;
}

#define INFO(Name, name)                                                       \
	cusparseStatus_t cusparseCreate##Name##Info(name##Info_t *info)        \
	{                                                                      \
		if (!info)                                                     \
			return CUSPARSE_STATUS_INVALID_VALUE;                  \
		*info = malloc(sizeof **info);                                 \
		if (!*info)                                                    \
			return CUSPARSE_STATUS_ALLOC_FAILED;                   \
		(*info)->pivot = -1;                                           \
		return CUSPARSE_STATUS_SUCCESS;                                \
	}                                                                      \
	cusparseStatus_t cusparseDestroy##Name##Info(name##Info_t info)        \
	{                                                                      \
		if (info && native_driver())                                   \
			native_driver()->cuCtxSynchronize();                   \
		free(info);                                                    \
		return CUSPARSE_STATUS_SUCCESS;                                \
	}                                                                      \
	cusparseStatus_t cusparseX##name##_zeroPivot(                          \
	    cusparseHandle_t handle, name##Info_t info, int *position)         \
	{                                                                      \
		return tell_pivot(handle, info ? &info->pivot : NULL,          \
				  position);                                   \
	}
INFO(Csrilu02, csrilu02)
INFO(Csric02, csric02)

#define FACTOR(name, kernel, X, T, type)                                       \
	cusparseStatus_t cusparse##X##name##_bufferSize(                       \
	    cusparseHandle_t handle, int m, int nnz,                           \
	    const cusparseMatDescr_t descrA, T *values, const int *offsets,    \
	    const int *columns, name##Info_t info, int *pBufferSizeInBytes)    \
	{                                                                      \
		cusparseStatus_t status = launch_factor(                       \
		    handle, m, nnz, descrA, values, offsets, columns,          \
		    info ? &info->pivot : NULL, type, SPARSE_KERNELS);         \
                                                                               \
		if (!status && !pBufferSizeInBytes)                            \
			return CUSPARSE_STATUS_INVALID_VALUE;                  \
		if (!status)                                                   \
			*pBufferSizeInBytes = WORKSPACE;                       \
		return status;                                                 \
	}                                                                      \
	cusparseStatus_t cusparse##X##name##_analysis(                         \
	    cusparseHandle_t handle, int m, int nnz,                           \
	    const cusparseMatDescr_t descrA, const T *values,                  \
	    const int *offsets, const int *columns, name##Info_t info,         \
	    cusparseSolvePolicy_t policy, void *pBuffer)                       \
	{                                                                      \
		(void)policy, (void)pBuffer;                                   \
		return launch_factor(handle, m, nnz, descrA, values, offsets,  \
				     columns, info ? &info->pivot : NULL,      \
				     type, KERNEL_csrilu0_check);              \
	}                                                                      \
	cusparseStatus_t cusparse##X##name(                                    \
	    cusparseHandle_t handle, int m, int nnz,                           \
	    const cusparseMatDescr_t descrA, T *values, const int *offsets,    \
	    const int *columns, name##Info_t info,                             \
	    cusparseSolvePolicy_t policy, void *pBuffer)                       \
	{                                                                      \
		(void)policy, (void)pBuffer;                                   \
		return launch_factor(handle, m, nnz, descrA, values, offsets,  \
				     columns, info ? &info->pivot : NULL,      \
				     type, kernel);                            \
	}
#define BOTH(X, T, type)                                                       \
	FACTOR(csrilu02, KERNEL_csrilu0, X, T, type)                           \
	FACTOR(csric02, KERNEL_csric0, X, T, type)
FOUR_TYPES(BOTH)
