/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NVML memory errors: ECC counters, retired pages, remapped rows, repairs.
 */
#ifndef GPUKIT_ABI_NVML_ECC_H
#define GPUKIT_ABI_NVML_ECC_H

#include "nvml_base.h"

typedef struct nvmlEccErrorCounts_st {
	unsigned long long l1Cache;
	unsigned long long l2Cache;
	unsigned long long deviceMemory;
	unsigned long long registerFile;
} nvmlEccErrorCounts_t;

typedef struct {
	unsigned int version;
	unsigned int bChannelRepairPending;
	unsigned int bTpcRepairPending;
} nvmlRepairStatus_v1_t;
typedef nvmlRepairStatus_v1_t nvmlRepairStatus_t;
#define nvmlRepairStatus_v1 NVML_STRUCT_VERSION(RepairStatus, 1)

typedef struct {
	unsigned int bUnrepairableMemory;
} nvmlUnrepairableMemoryStatus_v1_t;

typedef struct nvmlRowRemapperHistogramValues_st {
	unsigned int max;
	unsigned int high;
	unsigned int partial;
	unsigned int low;
	unsigned int none;
} nvmlRowRemapperHistogramValues_t;

typedef enum nvmlMemoryErrorType_enum {
	NVML_MEMORY_ERROR_TYPE_CORRECTED = 0,
	NVML_MEMORY_ERROR_TYPE_UNCORRECTED = 1,
	NVML_MEMORY_ERROR_TYPE_COUNT,
} nvmlMemoryErrorType_t;

/* Older names of the type and its values. */
typedef nvmlMemoryErrorType_t nvmlEccBitType_t;
#define NVML_SINGLE_BIT_ECC NVML_MEMORY_ERROR_TYPE_CORRECTED
#define NVML_DOUBLE_BIT_ECC NVML_MEMORY_ERROR_TYPE_UNCORRECTED

typedef enum nvmlEccCounterType_enum {
	NVML_VOLATILE_ECC = 0,
	NVML_AGGREGATE_ECC = 1,
	NVML_ECC_COUNTER_TYPE_COUNT,
} nvmlEccCounterType_t;

typedef enum nvmlMemoryLocation_enum {
	NVML_MEMORY_LOCATION_L1_CACHE = 0,
	NVML_MEMORY_LOCATION_L2_CACHE = 1,
	NVML_MEMORY_LOCATION_DRAM = 2,
	NVML_MEMORY_LOCATION_DEVICE_MEMORY = 2,
	NVML_MEMORY_LOCATION_REGISTER_FILE = 3,
	NVML_MEMORY_LOCATION_TEXTURE_MEMORY = 4,
	NVML_MEMORY_LOCATION_TEXTURE_SHM = 5,
	NVML_MEMORY_LOCATION_CBU = 6,
	NVML_MEMORY_LOCATION_SRAM = 7,
	NVML_MEMORY_LOCATION_COUNT,
} nvmlMemoryLocation_t;

typedef enum nvmlPageRetirementCause_enum {
	NVML_PAGE_RETIREMENT_CAUSE_MULTIPLE_SINGLE_BIT_ECC_ERRORS = 0,
	NVML_PAGE_RETIREMENT_CAUSE_DOUBLE_BIT_ECC_ERROR = 1,
	NVML_PAGE_RETIREMENT_CAUSE_COUNT,
} nvmlPageRetirementCause_t;

typedef struct {
	unsigned int version;
	unsigned long long aggregateUncParity;
	unsigned long long aggregateUncSecDed;
	unsigned long long aggregateCor;
	unsigned long long volatileUncParity;
	unsigned long long volatileUncSecDed;
	unsigned long long volatileCor;
	unsigned long long aggregateUncBucketL2;
	unsigned long long aggregateUncBucketSm;
	unsigned long long aggregateUncBucketPcie;
	unsigned long long aggregateUncBucketMcu;
	unsigned long long aggregateUncBucketOther;
	unsigned int bThresholdExceeded;
} nvmlEccSramErrorStatus_v1_t;
typedef nvmlEccSramErrorStatus_v1_t nvmlEccSramErrorStatus_t;
#define nvmlEccSramErrorStatus_v1 NVML_STRUCT_VERSION(EccSramErrorStatus, 1)

typedef struct {
	unsigned int unit;
	unsigned int location;
	unsigned int sublocation;
	unsigned int extlocation;
	unsigned int address;
	unsigned int isParity;
	unsigned int count;
} nvmlEccSramUniqueUncorrectedErrorEntry_v1_t;

typedef struct {
	unsigned int version;
	unsigned int entryCount;
	nvmlEccSramUniqueUncorrectedErrorEntry_v1_t *entries;
} nvmlEccSramUniqueUncorrectedErrorCounts_v1_t;
typedef nvmlEccSramUniqueUncorrectedErrorCounts_v1_t
    nvmlEccSramUniqueUncorrectedErrorCounts_t;
#define nvmlEccSramUniqueUncorrectedErrorCounts_v1                             \
	NVML_STRUCT_VERSION(EccSramUniqueUncorrectedErrorCounts, 1)

typedef struct nvmlRemappedRowsInfo_v2_t {
	unsigned int corrActiveRemaps;
	unsigned int corrInactiveRemaps;
	unsigned int uncActiveRemaps;
	unsigned int uncInactiveRemaps;
	unsigned int bPending;
	unsigned int bFailureOccurred;
} nvmlRemappedRowsInfo_v2_t;

#endif
