/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cublaslt_abi.h - cuBLASLt's types, constants and functions in CUDA 12 and 13.
 */
#ifndef GK_ABI_CUBLASLT_H
#define GK_ABI_CUBLASLT_H

#include "abi/libraries/cublas_types.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef struct cublasLtContext *cublasLtHandle_t;

typedef struct {
	uint64_t data[8];
} cublasLtMatmulAlgo_t;

/*
 * Declares a struct that programs may put on their stack, and a pointer type
 * for it.
 */
#define CUBLASLT_OBJECT(name, words)                                           \
	typedef struct {                                                       \
		uint64_t data[words];                                          \
	} cublasLt##name##Opaque_t;                                            \
	typedef cublasLt##name##Opaque_t *cublasLt##name##_t;
CUBLASLT_OBJECT(MatrixLayout, 8)
CUBLASLT_OBJECT(MatmulDesc, 32)
CUBLASLT_OBJECT(MatrixTransformDesc, 8)
CUBLASLT_OBJECT(MatmulPreference, 8)
CUBLASLT_OBJECT(EmulationDesc, 8)
#undef CUBLASLT_OBJECT

typedef enum {
	CUBLASLT_MATMUL_MATRIX_SCALE_SCALAR_32F = 0,
	CUBLASLT_MATMUL_MATRIX_SCALE_VEC16_UE4M3 = 1,
	CUBLASLT_MATMUL_MATRIX_SCALE_VEC32_UE8M0 = 2,
	CUBLASLT_MATMUL_MATRIX_SCALE_OUTER_VEC_32F = 3,
	CUBLASLT_MATMUL_MATRIX_SCALE_VEC128_32F = 4,
	CUBLASLT_MATMUL_MATRIX_SCALE_BLK128x128_32F = 5,
	CUBLASLT_MATMUL_MATRIX_SCALE_END
} cublasLtMatmulMatrixScale_t;

typedef enum {
	CUBLASLT_POINTER_MODE_HOST = 0,
	CUBLASLT_POINTER_MODE_DEVICE = 1,
	CUBLASLT_POINTER_MODE_DEVICE_VECTOR = 2,
	CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_ZERO = 3,
	CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_HOST = 4,
} cublasLtPointerMode_t;

typedef uint64_t cublasLtNumericalImplFlags_t;

#define CUBLASLT_NUMERICAL_IMPL_FLAGS_FMA             0x1ull
#define CUBLASLT_NUMERICAL_IMPL_FLAGS_ACCUMULATOR_16F 0x100ull
#define CUBLASLT_NUMERICAL_IMPL_FLAGS_ACCUMULATOR_32F 0x200ull
#define CUBLASLT_NUMERICAL_IMPL_FLAGS_ACCUMULATOR_64F 0x400ull
#define CUBLASLT_NUMERICAL_IMPL_FLAGS_ACCUMULATOR_32I 0x800ull
#define CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_16F       0x10000ull
#define CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_16BF      0x20000ull
#define CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_32F       0x80000ull
#define CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_64F       0x100000ull
#define CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_8I        0x200000ull
#define CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_8F_E4M3   0x400000ull
#define CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_8F_E5M2   0x800000ull

typedef enum {
	CUBLASLT_ORDER_COL = 0,
	CUBLASLT_ORDER_ROW = 1,
	CUBLASLT_ORDER_COL32 = 2,
	CUBLASLT_ORDER_COL4_4R2_8C = 3,
	CUBLASLT_ORDER_COL32_2R_4R4 = 4,
} cublasLtOrder_t;

typedef enum {
	CUBLASLT_BATCH_MODE_STRIDED = 0,
	CUBLASLT_BATCH_MODE_POINTER_ARRAY = 1,
} cublasLtBatchMode_t;

typedef enum {
	CUBLASLT_REDUCTION_SCHEME_NONE = 0,
	CUBLASLT_REDUCTION_SCHEME_INPLACE = 1,
	CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE = 2,
	CUBLASLT_REDUCTION_SCHEME_OUTPUT_TYPE = 4,
	CUBLASLT_REDUCTION_SCHEME_MASK = 7,
} cublasLtReductionScheme_t;

/* The sum of the requested operations: ReLU 2, bias 4, gradients 8 to 16 ... */
typedef enum {
	CUBLASLT_EPILOGUE_DEFAULT = 1,
	CUBLASLT_EPILOGUE_RELU = 2,
	CUBLASLT_EPILOGUE_BIAS = 4,
	CUBLASLT_EPILOGUE_RELU_BIAS = 6,
	CUBLASLT_EPILOGUE_GELU = 32,
	CUBLASLT_EPILOGUE_GELU_BIAS = 36,
	CUBLASLT_EPILOGUE_RELU_AUX = 130,
	CUBLASLT_EPILOGUE_RELU_AUX_BIAS = 134,
	CUBLASLT_EPILOGUE_DRELU = 136,
	CUBLASLT_EPILOGUE_DRELU_BGRAD = 152,
	CUBLASLT_EPILOGUE_GELU_AUX = 160,
	CUBLASLT_EPILOGUE_GELU_AUX_BIAS = 164,
	CUBLASLT_EPILOGUE_DGELU = 192,
	CUBLASLT_EPILOGUE_DGELU_BGRAD = 208,
	CUBLASLT_EPILOGUE_BGRADA = 256,
	CUBLASLT_EPILOGUE_BGRADB = 512,
} cublasLtEpilogue_t;

typedef enum {
	CUBLASLT_SEARCH_BEST_FIT = 0,
	CUBLASLT_SEARCH_LIMITED_BY_ALGO_ID = 1,
} cublasLtMatmulSearch_t;

typedef enum {
#define LAYOUT(name, id, type, member, initial)                                \
	CUBLASLT_MATRIX_LAYOUT_##name = (id),
#include "abi/libraries/cublaslt_attribute.def"
} cublasLtMatrixLayoutAttribute_t;

typedef enum {
#define MATMUL(name, id, type, member, initial)                                \
	CUBLASLT_MATMUL_DESC_##name = (id),
#include "abi/libraries/cublaslt_attribute.def"
} cublasLtMatmulDescAttributes_t;

typedef enum {
#define TRANSFORM(name, id, type, member, initial)                             \
	CUBLASLT_MATRIX_TRANSFORM_DESC_##name = (id),
#include "abi/libraries/cublaslt_attribute.def"
} cublasLtMatrixTransformDescAttributes_t;

typedef enum {
#define EMULATION(name, id, type, member, initial)                             \
	CUBLASLT_EMULATION_DESC_##name = (id),
#include "abi/libraries/cublaslt_attribute.def"
} cublasLtEmulationDescAttributes_t;

typedef enum {
#define PREFERENCE(name, id, type, member, initial)                            \
	CUBLASLT_MATMUL_PREF_##name = (id),
#include "abi/libraries/cublaslt_attribute.def"
} cublasLtMatmulPreferenceAttributes_t;

typedef enum {
#define CAPABILITY(name, id, type, member, initial)                            \
	CUBLASLT_ALGO_CAP_##name = (id),
#include "abi/libraries/cublaslt_attribute.def"
} cublasLtMatmulAlgoCapAttributes_t;

typedef enum {
#define CONFIG(name, id, type, member, initial)                                \
	CUBLASLT_ALGO_CONFIG_##name = (id),
#include "abi/libraries/cublaslt_attribute.def"
} cublasLtMatmulAlgoConfigAttributes_t;

typedef struct {
	cublasLtMatmulAlgo_t algo;
	size_t workspaceSize;
	cublasStatus_t state;
	float wavesCount;
	int reserved[4];
} cublasLtMatmulHeuristicResult_t;

typedef void (*cublasLtLoggerCallback_t)(int logLevel, const char *functionName,
					 const char *message);

#endif
