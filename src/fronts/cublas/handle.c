/* SPDX-License-Identifier: Apache-2.0 */
/*
 * handle.c - owns handles and their settings, and returns versions and
 * properties.
 */
#include "fronts/cublas/blas.h"
#include "fronts/cublas/cblas.h"
#include "fronts/cublas/kernels.h"

#include <stdlib.h>

#define WORKSPACE_ALIGN 256
/* This flag may be combined with any math mode. */
#define MATH_FLAGS 16

static struct native_handles handles = {PTHREAD_MUTEX_INITIALIZER,
					NATIVE_CUBLAS,
					sizeof(struct cublasContext), NULL};

/* Returns NOT_INITIALIZED if the driver is not ours or OpenBLAS is missing. */
ENTRY(Create_v2, cublasHandle_t *ret_handle)
{
	cublasHandle_t handle;
	CUcontext context;
	CUresult r;

	REQUIRE(ret_handle);
	r = native_context();
	if (r)
		return r == CUDA_ERROR_OUT_OF_MEMORY
			   ? CUBLAS_STATUS_ALLOC_FAILED
			   : CUBLAS_STATUS_NOT_INITIALIZED;
	if (!cblas()) {
		native_missing(GPUKIT_CUBLAS, NEEDED_OPENBLAS);
		return CUBLAS_STATUS_NOT_INITIALIZED;
	}
	if (native_driver()->cuCtxGetCurrent(&context))
		return CUBLAS_STATUS_NOT_INITIALIZED;
	handle = native_handle_new(&handles);
	if (!handle)
		return CUBLAS_STATUS_ALLOC_FAILED;
	handle->kernels = &blas_kernels;
	handle->special_values = 0xffff;
	handle->context = context;
	*ret_handle = handle;
	return CUBLAS_STATUS_SUCCESS;
}

/*
 * Waits for the stream. NVIDIA's cuBLAS does, too, because it frees device
 * memory in this function.
 */
ENTRY(Destroy_v2, cublasHandle_t handle)
{
	ENTER(handle);
	native_driver()->cuStreamSynchronize(handle->stream);
	native_handle_end(&handles, handle);
	return CUBLAS_STATUS_SUCCESS;
}

#define VERSION                         (FRONT_MAJOR >= 13 ? 130000 : 120803)
#define VERSION_OF(major, minor, patch) ((major)*10000 + (minor)*100 + (patch))

ENTRY(GetVersion_v2, cublasHandle_t handle, int *version)
{
	(void)handle;
	REQUIRE(version);
	*version = VERSION;
	return CUBLAS_STATUS_SUCCESS;
}

/*
 * `type` is a libraryPropertyType: MAJOR_VERSION, MINOR_VERSION or PATCH_LEVEL.
 */
ENTRY(GetProperty, int type, int *value)
{
	static const int divisors[] = {10000, 100, 1};

	REQUIRE(type >= 0 && type <= 2 && value);
	*value = VERSION / divisors[type] % 100;
	return CUBLAS_STATUS_SUCCESS;
}

/*
 * Also resets the workspace, as cuBLAS does, since it belonged to the old
 * stream.
 */
ENTRY(SetStream_v2, cublasHandle_t handle, CUstream stream)
{
	ENTER(handle);
	handle->stream = stream;
	handle->workspace = NULL;
	handle->workspace_size = 0;
	return CUBLAS_STATUS_SUCCESS;
}

ENTRY(GetStream_v2, cublasHandle_t handle, CUstream *stream)
{
	ENTER(handle);
	REQUIRE(stream);
	*stream = handle->stream;
	return CUBLAS_STATUS_SUCCESS;
}

ENTRY(SetWorkspace_v2, cublasHandle_t handle, void *workspace, size_t size)
{
	ENTER(handle);
	REQUIRE((uintptr_t)workspace % WORKSPACE_ALIGN == 0);
	handle->workspace = workspace;
	handle->workspace_size = size;
	return CUBLAS_STATUS_SUCCESS;
}

static bool is_math_mode(int mode)
{
	int base = mode & ~MATH_FLAGS;

	return (base >= 0 && base <= 4) || base == 8;
}

/* Whether `count` is a valid number of SMs to use; 0 means all. */
static bool is_sm_count(int count)
{
	CUdevice device;
	int most = 0;

	return count >= 0 && !native_driver()->cuCtxGetDevice(&device) &&
	       !native_driver()->cuDeviceGetAttribute(
		   &most, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device) &&
	       count <= most;
}

/* Defines Set##name and Get##name. `allowed` is a condition on `value`. */
#define SETTING(name, suffix, type, field, allowed)                            \
	ENTRY(Set##name##suffix, cublasHandle_t handle, type value)            \
	{                                                                      \
		ENTER(handle);                                                 \
		REQUIRE(allowed);                                              \
		handle->field = value;                                         \
		return CUBLAS_STATUS_SUCCESS;                                  \
	}                                                                      \
	ENTRY(Get##name##suffix, cublasHandle_t handle, type *ret)             \
	{                                                                      \
		ENTER(handle);                                                 \
		REQUIRE(ret);                                                  \
		*ret = handle->field;                                          \
		return CUBLAS_STATUS_SUCCESS;                                  \
	}
SETTING(PointerMode, _v2, int, pointer_mode, is_flag(value))
SETTING(AtomicsMode, , int, atomics, is_flag(value))
SETTING(MathMode, , int, math, is_math_mode(value))
SETTING(SmCountTarget, , int, sm_count, is_sm_count(value))
SETTING(EmulationStrategy, , int, strategy, value >= 0 && value <= 2)
#if FRONT_MAJOR >= 13
SETTING(EmulationSpecialValuesSupport, , int, special_values,
	value >= 0 && (value <= 3 || value == 0xffff))
SETTING(FixedPointEmulationMantissaControl, , int, mantissa_control,
	is_flag(value))
SETTING(FixedPointEmulationMaxMantissaBitCount, , int, mantissa_bits,
	value >= 0)
SETTING(FixedPointEmulationMantissaBitOffset, , int, mantissa_offset, true)
SETTING(FixedPointEmulationMantissaBitCountPointer, , int *, mantissa_count,
	true)
#endif
