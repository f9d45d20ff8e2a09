/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of cuSPARSE that libcusparse.so.12 implements here: types,
 * constants, and the prototypes of the implemented functions, made from
 * cusparse.def. Contains only facts about the interface, under cuSPARSE's own
 * names, so that its documentation applies. The library has the same name and
 * the same exports in CUDA 12 and CUDA 13.
 */
#ifndef GPUKIT_ABI_CUSPARSE_ABI_H
#define GPUKIT_ABI_CUSPARSE_ABI_H

#include "library_types.h"

#include <stddef.h>
#include <stdint.h>

typedef enum {
#define CUSPARSE_STATUS(name, value, text) CUSPARSE_STATUS_##name = value,
#include "cusparse_status.def"
#undef CUSPARSE_STATUS
} cusparseStatus_t;

typedef enum {
	CUSPARSE_POINTER_MODE_HOST,
	CUSPARSE_POINTER_MODE_DEVICE,
} cusparsePointerMode_t;

typedef enum {
	CUSPARSE_ACTION_SYMBOLIC,
	CUSPARSE_ACTION_NUMERIC,
} cusparseAction_t;

typedef enum {
	CUSPARSE_MATRIX_TYPE_GENERAL,
	CUSPARSE_MATRIX_TYPE_SYMMETRIC,
	CUSPARSE_MATRIX_TYPE_HERMITIAN,
	CUSPARSE_MATRIX_TYPE_TRIANGULAR,
} cusparseMatrixType_t;

typedef enum {
	CUSPARSE_FILL_MODE_LOWER,
	CUSPARSE_FILL_MODE_UPPER,
} cusparseFillMode_t;

typedef enum {
	CUSPARSE_DIAG_TYPE_NON_UNIT,
	CUSPARSE_DIAG_TYPE_UNIT,
} cusparseDiagType_t;

typedef enum {
	CUSPARSE_INDEX_BASE_ZERO,
	CUSPARSE_INDEX_BASE_ONE,
} cusparseIndexBase_t;

typedef enum {
	CUSPARSE_OPERATION_NON_TRANSPOSE,
	CUSPARSE_OPERATION_TRANSPOSE,
	CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE,
} cusparseOperation_t;

typedef enum {
	CUSPARSE_DIRECTION_ROW,
	CUSPARSE_DIRECTION_COLUMN,
} cusparseDirection_t;

typedef enum {
	CUSPARSE_SOLVE_POLICY_NO_LEVEL,
	CUSPARSE_SOLVE_POLICY_USE_LEVEL,
} cusparseSolvePolicy_t;

typedef enum {
	CUSPARSE_FORMAT_CSR = 1,
	CUSPARSE_FORMAT_CSC = 2,
	CUSPARSE_FORMAT_COO = 3,
	CUSPARSE_FORMAT_BLOCKED_ELL = 5,
	CUSPARSE_FORMAT_BSR = 6,
	CUSPARSE_FORMAT_SLICED_ELLPACK = 7,
} cusparseFormat_t;

typedef enum { CUSPARSE_ORDER_COL = 1, CUSPARSE_ORDER_ROW = 2 } cusparseOrder_t;

typedef enum {
	CUSPARSE_INDEX_16U = 1,
	CUSPARSE_INDEX_32I = 2,
	CUSPARSE_INDEX_64I = 3,
} cusparseIndexType_t;

typedef enum {
	CUSPARSE_SPMAT_FILL_MODE,
	CUSPARSE_SPMAT_DIAG_TYPE,
} cusparseSpMatAttribute_t;

typedef enum {
	CUSPARSE_CSR2CSC_ALG_DEFAULT = 1,
} cusparseCsr2CscAlg_t;

typedef enum {
	CUSPARSE_SPMV_ALG_DEFAULT = 0,
	CUSPARSE_SPMV_COO_ALG1 = 1,
	CUSPARSE_SPMV_CSR_ALG1 = 2,
	CUSPARSE_SPMV_CSR_ALG2 = 3,
	CUSPARSE_SPMV_COO_ALG2 = 4,
	CUSPARSE_SPMV_SELL_ALG1 = 5,
	CUSPARSE_SPMV_BSR_ALG1 = 6,
} cusparseSpMVAlg_t;

typedef enum {
	CUSPARSE_SPMM_ALG_DEFAULT = 0,
	CUSPARSE_SPMM_COO_ALG1 = 1,
	CUSPARSE_SPMM_COO_ALG2 = 2,
	CUSPARSE_SPMM_COO_ALG3 = 3,
	CUSPARSE_SPMM_CSR_ALG1 = 4,
	CUSPARSE_SPMM_COO_ALG4 = 5,
	CUSPARSE_SPMM_CSR_ALG2 = 6,
	CUSPARSE_SPMM_CSR_ALG3 = 12,
	CUSPARSE_SPMM_BLOCKED_ELL_ALG1 = 13,
	CUSPARSE_SPMM_BSR_ALG1 = 14,
} cusparseSpMMAlg_t;

typedef enum {
	CUSPARSE_SPGEMM_DEFAULT,
	CUSPARSE_SPGEMM_CSR_ALG_DETERMINITIC,
	CUSPARSE_SPGEMM_CSR_ALG_NONDETERMINITIC,
	CUSPARSE_SPGEMM_ALG1,
	CUSPARSE_SPGEMM_ALG2,
	CUSPARSE_SPGEMM_ALG3,
} cusparseSpGEMMAlg_t;

/* Each of these operations has only one algorithm. */
typedef enum { CUSPARSE_SPARSETODENSE_ALG_DEFAULT } cusparseSparseToDenseAlg_t;
typedef enum { CUSPARSE_DENSETOSPARSE_ALG_DEFAULT } cusparseDenseToSparseAlg_t;
typedef enum { CUSPARSE_SPSV_ALG_DEFAULT } cusparseSpSVAlg_t;
typedef enum { CUSPARSE_SPSM_ALG_DEFAULT } cusparseSpSMAlg_t;
typedef enum { CUSPARSE_SDDMM_ALG_DEFAULT } cusparseSDDMMAlg_t;

typedef enum {
	CUSPARSE_SPSV_UPDATE_GENERAL,
	CUSPARSE_SPSV_UPDATE_DIAGONAL,
} cusparseSpSVUpdate_t;
typedef enum {
	CUSPARSE_SPSM_UPDATE_GENERAL,
	CUSPARSE_SPSM_UPDATE_DIAGONAL,
} cusparseSpSMUpdate_t;

typedef struct cusparseContext *cusparseHandle_t;
typedef struct cusparseMatDescr *cusparseMatDescr_t;
typedef struct csric02Info *csric02Info_t;
typedef struct csrilu02Info *csrilu02Info_t;
typedef struct cusparseSpVecDescr *cusparseSpVecDescr_t;
typedef struct cusparseDnVecDescr *cusparseDnVecDescr_t;
typedef struct cusparseSpMatDescr *cusparseSpMatDescr_t;
typedef struct cusparseDnMatDescr *cusparseDnMatDescr_t;
typedef const struct cusparseSpVecDescr *cusparseConstSpVecDescr_t;
typedef const struct cusparseDnVecDescr *cusparseConstDnVecDescr_t;
typedef const struct cusparseSpMatDescr *cusparseConstSpMatDescr_t;
typedef const struct cusparseDnMatDescr *cusparseConstDnMatDescr_t;
typedef struct cusparseSpSVDescr *cusparseSpSVDescr_t;
typedef struct cusparseSpSMDescr *cusparseSpSMDescr_t;
typedef struct cusparseSpGEMMDescr *cusparseSpGEMMDescr_t;

#define CUSPARSE(symbol, params)                                               \
	CUSPARSE_TELLS(cusparseStatus_t, symbol, params)
#define CUSPARSE_TELLS(type, symbol, params)                                   \
	__attribute__((visibility("default"))) type symbol params;
#define CUSPARSE_REFUSED(symbol)
#include "cusparse.def"
#undef CUSPARSE
#undef CUSPARSE_TELLS
#undef CUSPARSE_REFUSED

#endif
