/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nccl_abi.h - the functions, types and constants of NCCL's host interface.
 * Enumerations are int here, because programs may pass any number, and all of
 * them are checked.
 */
#ifndef GK_ABI_NCCL_ABI_H
#define GK_ABI_NCCL_ABI_H

#include "abi/cuda/cuda_abi.h"

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ncclComm *ncclComm_t;
typedef struct ncclWindow *ncclWindow_t;

#define NCCL_UNIQUE_ID_BYTES 128
typedef struct ncclUniqueId {
	char internal[NCCL_UNIQUE_ID_BYTES];
} ncclUniqueId;

typedef enum ncclResult {
#define NCCL_RESULT(name, value, text) nccl##name = (value),
#include "abi/libraries/nccl_result.def"
#undef NCCL_RESULT
} ncclResult_t;

typedef int ncclDataType_t;
enum {
	ncclInt8 = 0,
	ncclUint8 = 1,
	ncclInt32 = 2,
	ncclUint32 = 3,
	ncclInt64 = 4,
	ncclUint64 = 5,
	ncclFloat16 = 6,
	ncclFloat32 = 7,
	ncclFloat64 = 8,
	ncclBfloat16 = 9,
	ncclFloat8e4m3 = 10, /* since 2.24 */
	ncclFloat8e5m2 = 11,
	ncclNumTypes = 12,
};

/*
 * Values from ncclNumOps on are operations created by
 * ncclRedOpCreatePreMulSum().
 */
typedef int ncclRedOp_t;
enum {
	ncclSum = 0,
	ncclProd = 1,
	ncclMax = 2,
	ncclMin = 3,
	ncclAvg = 4,
	ncclNumOps = 5,
	ncclMaxRedOp = INT_MAX,
};

typedef int ncclScalarResidence_t;
enum { ncclScalarDevice = 0, ncclScalarHostImmediate = 1 };

/*
 * Other versions have fewer or more members; `size` is the size in the caller's
 * version.
 */
typedef struct ncclConfig {
	size_t size;
	unsigned int magic;
	unsigned int version;
	int blocking;
	int cgaClusterSize;
	int minCTAs;
	int maxCTAs;
	const char *netName;
	int splitShare;
	int trafficClass;
	const char *commName;
	int collnetEnable;
	int CTAPolicy;
	int shrinkShare;
	int nvlsCTAs;
	int nChannelsPerNetPeer;
	int nvlinkCentricSched;
} ncclConfig_t;

#define NCCL_CONFIG_MAGIC     0xcafebeefu
#define NCCL_CONFIG_UNDEF_INT INT_MIN

typedef struct ncclSimInfo {
	size_t size;
	unsigned int magic;
	unsigned int version;
	float estimatedTime;
} ncclSimInfo_t;

#define NCCL_SIM_INFO_MAGIC 0x74685283u

#define NCCL_SPLIT_NOCOLOR (-1)

enum { NCCL_SHRINK_DEFAULT = 0, NCCL_SHRINK_ABORT = 1 };
enum { NCCL_WIN_DEFAULT = 0, NCCL_WIN_COLL_SYMMETRIC = 1 };

#define NCCL(since, symbol, params)                                            \
	ncclResult_t symbol params;                                            \
	ncclResult_t p##symbol params;
#define NCCL_OTHER(since, type, symbol, params)                                \
	type symbol params;                                                    \
	type p##symbol params;
#include "abi/libraries/nccl.def"
#undef NCCL_OTHER
#undef NCCL

#endif
