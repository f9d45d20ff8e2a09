/* SPDX-License-Identifier: Apache-2.0 */
/* handle.c - owns cuSOLVER's handles and parameters, and returns versions. */
#include "fronts/cusolver/solver.h"

#include <stdlib.h>

#define SUCCESS CUSOLVER_STATUS_SUCCESS
#define INVALID CUSOLVER_STATUS_INVALID_VALUE

/* The versions in CUDA 12.8 and 13.0. */
#if FRONT_MAJOR == 11
enum { MAJOR = 11, MINOR = 7, PATCH = 2 };
#else
enum { MAJOR = 12, MINOR = 0, PATCH = 4 };
#endif

/*
 * Settings of Jacobi methods. We use LAPACK's methods instead, so they have no
 * effect.
 */
struct gesvdjInfo {
	double tolerance;
	int max_sweeps, sort;
};
struct syevjInfo {
	double tolerance;
	int max_sweeps, sort;
};

struct cusolverDnParams {
	cusolverAlgMode_t modes[CUSOLVERDN_SYEVBATCHED + 1];
};

static cusolverStatus_t give_object(void *made, void **ret)
{
	if (!made)
		return CUSOLVER_STATUS_ALLOC_FAILED;
	*ret = made;
	return SUCCESS;
}

static struct native_handles handles = {PTHREAD_MUTEX_INITIALIZER,
					NATIVE_CUSOLVER,
					sizeof(struct cusolverDnContext), NULL};

cusolverStatus_t cusolverDnCreate(cusolverDnHandle_t *handle)
{
	struct cusolverDnContext *h;
	CUresult r;

	if (!handle)
		return INVALID;
	r = native_context();
	if (r == CUDA_ERROR_OUT_OF_MEMORY)
		return CUSOLVER_STATUS_ALLOC_FAILED;
	if (r)
		return CUSOLVER_STATUS_NOT_INITIALIZED;
	if (!lapack()) {
		native_missing(GPUKIT_CUSOLVER, NEEDED_OPENBLAS);
		return CUSOLVER_STATUS_NOT_INITIALIZED;
	}
	h = native_handle_new(&handles);
	if (h)
		h->mode = CUSOLVER_DETERMINISTIC_RESULTS;
	return give_object(h, (void **)handle);
}

cusolverStatus_t cusolverDnDestroy(cusolverDnHandle_t handle)
{
	if (!is_handle(handle))
		return CUSOLVER_STATUS_NOT_INITIALIZED;
	native_handle_end(&handles, handle);
	return SUCCESS;
}

cusolverStatus_t cusolverDnSetStream(cusolverDnHandle_t handle,
				     cudaStream_t streamId)
{
	if (!is_handle(handle))
		return CUSOLVER_STATUS_NOT_INITIALIZED;
	handle->stream = streamId;
	return SUCCESS;
}

cusolverStatus_t cusolverDnGetStream(cusolverDnHandle_t handle,
				     cudaStream_t *streamId)
{
	if (!is_handle(handle))
		return CUSOLVER_STATUS_NOT_INITIALIZED;
	if (!streamId)
		return INVALID;
	*streamId = handle->stream;
	return SUCCESS;
}

cusolverStatus_t
cusolverDnSetDeterministicMode(cusolverDnHandle_t handle,
			       cusolverDeterministicMode_t mode)
{
	if (!is_handle(handle))
		return CUSOLVER_STATUS_NOT_INITIALIZED;
	if (mode != CUSOLVER_DETERMINISTIC_RESULTS &&
	    mode != CUSOLVER_ALLOW_NON_DETERMINISTIC_RESULTS)
		return INVALID;
	handle->mode = mode;
	return SUCCESS;
}

cusolverStatus_t
cusolverDnGetDeterministicMode(cusolverDnHandle_t handle,
			       cusolverDeterministicMode_t *mode)
{
	if (!is_handle(handle))
		return CUSOLVER_STATUS_NOT_INITIALIZED;
	if (!mode)
		return INVALID;
	*mode = handle->mode;
	return SUCCESS;
}

cusolverStatus_t cusolverGetVersion(int *version)
{
	if (!version)
		return INVALID;
	*version = MAJOR * 1000 + MINOR * 100 + PATCH;
	return SUCCESS;
}

cusolverStatus_t cusolverGetProperty(libraryPropertyType type, int *value)
{
	static const int parts[] = {[MAJOR_VERSION] = MAJOR,
				    [MINOR_VERSION] = MINOR,
				    [PATCH_LEVEL] = PATCH};

	if (!value || (unsigned)type > PATCH_LEVEL)
		return INVALID;
	*value = parts[type];
	return SUCCESS;
}

cusolverStatus_t cusolverDnCreateParams(cusolverDnParams_t *params)
{
	return params ? give_object(calloc(1, sizeof **params), (void **)params)
		      : INVALID;
}

cusolverStatus_t cusolverDnDestroyParams(cusolverDnParams_t params)
{
	free(params);
	return SUCCESS;
}

/* Stores the option without effect: we have one algorithm per function. */
cusolverStatus_t cusolverDnSetAdvOptions(cusolverDnParams_t params,
					 cusolverDnFunction_t function,
					 cusolverAlgMode_t algo)
{
	if (!params || (unsigned)function > CUSOLVERDN_SYEVBATCHED ||
	    (unsigned)algo > CUSOLVER_ALG_2)
		return INVALID;
	params->modes[function] = algo;
	return SUCCESS;
}

/* We never execute Jacobi sweeps, so their number is 0. */
#define JACOBI(Name, name)                                                     \
	cusolverStatus_t cusolverDnCreate##Name##Info(name##Info_t *info)      \
	{                                                                      \
		return info ? give_object(calloc(1, sizeof **info),            \
					  (void **)info)                       \
			    : INVALID;                                         \
	}                                                                      \
	cusolverStatus_t cusolverDnDestroy##Name##Info(name##Info_t info)      \
	{                                                                      \
		free(info);                                                    \
		return SUCCESS;                                                \
	}                                                                      \
	cusolverStatus_t cusolverDnX##name##SetTolerance(name##Info_t info,    \
							 double tolerance)     \
	{                                                                      \
		if (!info)                                                     \
			return INVALID;                                        \
		info->tolerance = tolerance;                                   \
		return SUCCESS;                                                \
	}                                                                      \
	cusolverStatus_t cusolverDnX##name##SetMaxSweeps(name##Info_t info,    \
							 int max_sweeps)       \
	{                                                                      \
		if (!info)                                                     \
			return INVALID;                                        \
		info->max_sweeps = max_sweeps;                                 \
		return SUCCESS;                                                \
	}                                                                      \
	cusolverStatus_t cusolverDnX##name##SetSortEig(name##Info_t info,      \
						       int sort)               \
	{                                                                      \
		if (!info)                                                     \
			return INVALID;                                        \
		info->sort = sort;                                             \
		return SUCCESS;                                                \
	}                                                                      \
	cusolverStatus_t cusolverDnX##name##GetSweeps(                         \
	    cusolverDnHandle_t handle, name##Info_t info,                      \
	    int *executed_sweeps)                                              \
	{                                                                      \
		if (!is_handle(handle))                                        \
			return CUSOLVER_STATUS_NOT_INITIALIZED;                \
		if (!info || !executed_sweeps)                                 \
			return INVALID;                                        \
		*executed_sweeps = 0;                                          \
		return SUCCESS;                                                \
	}
JACOBI(Gesvdj, gesvdj)
JACOBI(Syevj, syevj)
