/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lt_library.c - owns cuBLASLt's handles, and returns versions. There is no
 * cache of heuristics, but the capacity that a program sets is stored and
 * returned.
 */
#include "fronts/common/native.h"
#include "fronts/common/native_handle.h"
#include "fronts/cublas/lt/lt.h"

#include <pthread.h>
#include <stdlib.h>

/*
 * Versions on PyPI: nvidia-cublas-cu12 12.8.3.14 belongs to CUDA 12.8,
 * nvidia-cublas 13.0.0.19 to CUDA 13.0.
 */
#if FRONT_MAJOR >= 13
#define VERSION_MAJOR 13
#define VERSION_MINOR 0
#define VERSION_PATCH 0
#else
#define VERSION_MAJOR 12
#define VERSION_MINOR 8
#define VERSION_PATCH 3
#endif

#define CACHE_ENTRIES 8192 /* NVIDIA's documented default */

struct cublasLtContext {
	struct native_handle head;
};

static struct native_handles handles = {PTHREAD_MUTEX_INITIALIZER,
					NATIVE_CUBLASLT,
					sizeof(struct cublasLtContext), NULL};

bool lt_is_handle(cublasLtHandle_t handle)
{
	return native_is_handle(handle, NATIVE_CUBLASLT) ||
	       native_is_handle(handle, NATIVE_CUBLAS);
}

static pthread_once_t cache_once = PTHREAD_ONCE_INIT;
static _Atomic size_t cache_capacity = CACHE_ENTRIES;

LT_SINCE_12 size_t cublasLtGetVersion(void);

cublasStatus_t cublasLtCreate(cublasLtHandle_t *lightHandle)
{
	cublasLtHandle_t handle;

	if (!lightHandle)
		return lt_end(__func__, CUBLAS_STATUS_INVALID_VALUE);
	if (!native_driver())
		return lt_end(__func__, CUBLAS_STATUS_NOT_INITIALIZED);
	handle = native_handle_new(&handles);
	if (!handle)
		return lt_end(__func__, CUBLAS_STATUS_ALLOC_FAILED);
	*lightHandle = handle;
	return lt_end(__func__, CUBLAS_STATUS_SUCCESS);
}

cublasStatus_t cublasLtDestroy(cublasLtHandle_t lightHandle)
{
	if (!native_is_handle(lightHandle, NATIVE_CUBLASLT))
		return lt_end(__func__, CUBLAS_STATUS_INVALID_VALUE);
	native_handle_end(&handles, lightHandle);
	return lt_end(__func__, CUBLAS_STATUS_SUCCESS);
}

size_t cublasLtGetVersion(void)
{
	return VERSION_MAJOR * 10000 + VERSION_MINOR * 100 + VERSION_PATCH;
}

cublasStatus_t cublasLtGetProperty(libraryPropertyType type, int *value)
{
	static const int parts[] = {
	    [MAJOR_VERSION] = VERSION_MAJOR,
	    [MINOR_VERSION] = VERSION_MINOR,
	    [PATCH_LEVEL] = VERSION_PATCH,
	};

	if (!value || (unsigned)type >= sizeof parts / sizeof *parts)
		return lt_end(__func__, CUBLAS_STATUS_INVALID_VALUE);
	*value = parts[type];
	return lt_end(__func__, CUBLAS_STATUS_SUCCESS);
}

static void read_cache_capacity(void)
{
	const char *told = getenv("CUBLASLT_HEURISTICS_CACHE_CAPACITY");

	if (told)
		cache_capacity = strtoull(told, NULL, 10);
}

cublasStatus_t cublasLtHeuristicsCacheGetCapacity(size_t *capacity)
{
	if (!capacity)
		return lt_end(__func__, CUBLAS_STATUS_INVALID_VALUE);
	pthread_once(&cache_once, read_cache_capacity);
	*capacity = cache_capacity;
	return lt_end(__func__, CUBLAS_STATUS_SUCCESS);
}

cublasStatus_t cublasLtHeuristicsCacheSetCapacity(size_t capacity)
{
	pthread_once(&cache_once, read_cache_capacity);
	cache_capacity = capacity;
	return lt_end(__func__, CUBLAS_STATUS_SUCCESS);
}
