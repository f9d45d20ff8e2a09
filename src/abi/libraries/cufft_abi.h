/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cufft_abi.h - the functions, types and constants of cuFFT. Enumerations are
 * int here, because programs may pass any number, and all of them are checked.
 */
#ifndef GK_ABI_CUFFT_ABI_H
#define GK_ABI_CUFFT_ABI_H

#include "abi/cuda/cuda_abi.h"
#include "library_types.h"

#include <stddef.h>

typedef int cufftHandle;

typedef enum cufftResult {
	CUFFT_SUCCESS = 0,
	CUFFT_INVALID_PLAN = 1,
	CUFFT_ALLOC_FAILED = 2,
	CUFFT_INVALID_TYPE = 3,
	CUFFT_INVALID_VALUE = 4,
	CUFFT_INTERNAL_ERROR = 5,
	CUFFT_EXEC_FAILED = 6,
	CUFFT_SETUP_FAILED = 7,
	CUFFT_INVALID_SIZE = 8,
	CUFFT_UNALIGNED_DATA = 9,
	CUFFT_INVALID_DEVICE = 11,
	CUFFT_NO_WORKSPACE = 13,
	CUFFT_NOT_IMPLEMENTED = 14,
	CUFFT_NOT_SUPPORTED = 16,
} cufftResult;

enum { CUFFT_FORWARD = -1, CUFFT_INVERSE = 1 };

enum cufftType {
	CUFFT_C2C = 0x29,
	CUFFT_R2C = 0x2a,
	CUFFT_C2R = 0x2c,
	CUFFT_Z2Z = 0x69,
	CUFFT_D2Z = 0x6a,
	CUFFT_Z2D = 0x6c,
};

enum {
	NVFFT_PLAN_PROPERTY_INT64_PATIENT_JIT = 1,
	NVFFT_PLAN_PROPERTY_INT64_MAX_NUM_HOST_THREADS = 2,
};

enum {
	CUFFT_WORKAREA_MINIMAL,
	CUFFT_WORKAREA_USER,
	CUFFT_WORKAREA_PERFORMANCE,
};

#define CUFFT(symbol, params)    cufftResult symbol params;
#define CUFFT_12(symbol, params) CUFFT(symbol, params)
#include "abi/libraries/cufft.def"
#undef CUFFT
#undef CUFFT_12

#endif
