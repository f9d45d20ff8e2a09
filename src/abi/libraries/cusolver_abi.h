/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of cuSOLVER that libcusolver implements here: types, constants, and
 * the prototypes of the implemented functions, made from cusolver.def. Contains
 * only facts about the interface, under cuSOLVER's own names. All of them are
 * the same in CUDA 12 (libcusolver.so.11) and in CUDA 13 (libcusolver.so.12).
 */
#ifndef GPUKIT_ABI_CUSOLVER_ABI_H
#define GPUKIT_ABI_CUSOLVER_ABI_H

#include "cublas_types.h"

#include <stddef.h>
#include <stdint.h>

typedef enum {
	CUSOLVER_STATUS_SUCCESS = 0,
	CUSOLVER_STATUS_NOT_INITIALIZED = 1,
	CUSOLVER_STATUS_ALLOC_FAILED = 2,
	CUSOLVER_STATUS_INVALID_VALUE = 3,
	CUSOLVER_STATUS_EXECUTION_FAILED = 6,
	CUSOLVER_STATUS_INTERNAL_ERROR = 7,
	CUSOLVER_STATUS_NOT_SUPPORTED = 9,
} cusolverStatus_t;

typedef enum {
	CUSOLVER_EIG_MODE_NOVECTOR,
	CUSOLVER_EIG_MODE_VECTOR,
} cusolverEigMode_t;

typedef enum {
	CUSOLVER_ALG_0,
	CUSOLVER_ALG_1,
	CUSOLVER_ALG_2,
} cusolverAlgMode_t;

typedef enum {
	CUSOLVER_DETERMINISTIC_RESULTS = 1,
	CUSOLVER_ALLOW_NON_DETERMINISTIC_RESULTS = 2,
} cusolverDeterministicMode_t;

typedef enum {
	CUSOLVERDN_GETRF,
	CUSOLVERDN_POTRF,
	CUSOLVERDN_SYEVBATCHED,
} cusolverDnFunction_t;

typedef struct cusolverDnContext *cusolverDnHandle_t;
typedef struct cusolverDnParams *cusolverDnParams_t;
typedef struct syevjInfo *syevjInfo_t;
typedef struct gesvdjInfo *gesvdjInfo_t;

#define CUSOLVER(symbol, params)                                               \
	__attribute__((visibility("default"))) cusolverStatus_t symbol params;
#define CUSOLVER_REFUSED(symbol, first, last)
#include "cusolver.def"
#undef CUSOLVER
#undef CUSOLVER_REFUSED

#endif
