/* SPDX-License-Identifier: Apache-2.0 */
/*
 * handle.c - owns handles and legacy descriptors, and returns versions and
 * names of statuses.
 */
#include "fronts/cusparse/sparse.h"

#include <stdlib.h>

/* The version in CUDA 13.0. */
enum { MAJOR = 12, MINOR = 6, PATCH = 3 };

static const struct {
	const char *name, *text;
} statuses[] = {
#define CUSPARSE_STATUS(name, value, text)                                     \
	[value] = {"CUSPARSE_STATUS_" #name, text},
#include "abi/libraries/cusparse_status.def"
#undef CUSPARSE_STATUS
};

#define STATUSES     (sizeof statuses / sizeof *statuses)
#define UNRECOGNIZED "unrecognized error code"

static struct native_handles handles = {PTHREAD_MUTEX_INITIALIZER,
					NATIVE_CUSPARSE,
					sizeof(struct cusparseContext), NULL};

cusparseStatus_t cusparseCreate(cusparseHandle_t *handle)
{
	CUresult r;

	if (!handle)
		return CUSPARSE_STATUS_INVALID_VALUE;
	r = native_context();
	if (r)
		return sparse_status(r) == CUSPARSE_STATUS_EXECUTION_FAILED
			   ? CUSPARSE_STATUS_NOT_INITIALIZED
			   : sparse_status(r);
	*handle = native_handle_new(&handles);
	if (!*handle)
		return CUSPARSE_STATUS_ALLOC_FAILED;
	(*handle)->kernels = &sparse_kernels;
	return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseDestroy(cusparseHandle_t handle)
{
	if (!is_handle(handle))
		return CUSPARSE_STATUS_NOT_INITIALIZED;
	native_handle_end(&handles, handle);
	return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseGetVersion(cusparseHandle_t handle, int *version)
{
	if (!is_handle(handle))
		return CUSPARSE_STATUS_NOT_INITIALIZED;
	if (!version)
		return CUSPARSE_STATUS_INVALID_VALUE;
	*version = MAJOR * 1000 + MINOR * 100 + PATCH;
	return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseGetProperty(libraryPropertyType type, int *value)
{
	static const int parts[] = {[MAJOR_VERSION] = MAJOR,
				    [MINOR_VERSION] = MINOR,
				    [PATCH_LEVEL] = PATCH};

	if (!value || (unsigned)type > PATCH_LEVEL)
		return CUSPARSE_STATUS_INVALID_VALUE;
	*value = parts[type];
	return CUSPARSE_STATUS_SUCCESS;
}

const char *cusparseGetErrorName(cusparseStatus_t status)
{
	return (unsigned)status < STATUSES ? statuses[status].name
					   : UNRECOGNIZED;
}

const char *cusparseGetErrorString(cusparseStatus_t status)
{
	return (unsigned)status < STATUSES ? statuses[status].text
					   : UNRECOGNIZED;
}

cusparseStatus_t cusparseSetStream(cusparseHandle_t handle,
				   cudaStream_t streamId)
{
	if (!is_handle(handle))
		return CUSPARSE_STATUS_NOT_INITIALIZED;
	handle->stream = streamId;
	return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseGetStream(cusparseHandle_t handle,
				   cudaStream_t *streamId)
{
	if (!is_handle(handle))
		return CUSPARSE_STATUS_NOT_INITIALIZED;
	if (!streamId)
		return CUSPARSE_STATUS_INVALID_VALUE;
	*streamId = handle->stream;
	return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseSetPointerMode(cusparseHandle_t handle,
					cusparsePointerMode_t mode)
{
	if (!is_handle(handle))
		return CUSPARSE_STATUS_NOT_INITIALIZED;
	if ((unsigned)mode > CUSPARSE_POINTER_MODE_DEVICE)
		return CUSPARSE_STATUS_INVALID_VALUE;
	handle->mode = mode;
	return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseGetPointerMode(cusparseHandle_t handle,
					cusparsePointerMode_t *mode)
{
	if (!is_handle(handle))
		return CUSPARSE_STATUS_NOT_INITIALIZED;
	if (!mode)
		return CUSPARSE_STATUS_INVALID_VALUE;
	*mode = handle->mode;
	return CUSPARSE_STATUS_SUCCESS;
}

/* Succeeds without effect, because we have no logger. */
cusparseStatus_t cusparseLoggerForceDisable(void)
{
	return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseCreateMatDescr(cusparseMatDescr_t *descrA)
{
	if (!descrA)
		return CUSPARSE_STATUS_INVALID_VALUE;
	*descrA = calloc(1, sizeof **descrA);
	return *descrA ? CUSPARSE_STATUS_SUCCESS : CUSPARSE_STATUS_ALLOC_FAILED;
}

cusparseStatus_t cusparseDestroyMatDescr(cusparseMatDescr_t descrA)
{
	free(descrA);
	return CUSPARSE_STATUS_SUCCESS;
}

/*
 * Defines the setter and getter of a matrix property. `last` is its largest
 * value.
 */
#define PROPERTY(Name, type_name, field, last)                                 \
	cusparseStatus_t cusparseSetMat##Name(cusparseMatDescr_t descrA,       \
					      type_name value)                 \
	{                                                                      \
		if (!descrA || (unsigned)value > (last))                       \
			return CUSPARSE_STATUS_INVALID_VALUE;                  \
		descrA->field = value;                                         \
		return CUSPARSE_STATUS_SUCCESS;                                \
	}                                                                      \
	type_name cusparseGetMat##Name(const cusparseMatDescr_t descrA)        \
	{                                                                      \
		return descrA->field;                                          \
	}
PROPERTY(Type, cusparseMatrixType_t, type, CUSPARSE_MATRIX_TYPE_TRIANGULAR)
PROPERTY(FillMode, cusparseFillMode_t, fill, CUSPARSE_FILL_MODE_UPPER)
PROPERTY(DiagType, cusparseDiagType_t, diag, CUSPARSE_DIAG_TYPE_UNIT)
PROPERTY(IndexBase, cusparseIndexBase_t, base, CUSPARSE_INDEX_BASE_ONE)
