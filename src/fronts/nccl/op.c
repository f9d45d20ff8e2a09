/* SPDX-License-Identifier: Apache-2.0 */
/* op.c - names of types, operators and functions; sizes of types. */
#include "fronts/nccl/front.h"

static const struct {
	const char *name;
	size_t size;
} types[ncclNumTypes] = {
    [ncclInt8] = {"int8", 1},
    [ncclUint8] = {"uint8", 1},
    [ncclInt32] = {"int32", 4},
    [ncclUint32] = {"uint32", 4},
    [ncclInt64] = {"int64", 8},
    [ncclUint64] = {"uint64", 8},
    [ncclFloat16] = {"float16", 2},
    [ncclFloat32] = {"float32", 4},
    [ncclFloat64] = {"float64", 8},
    [ncclBfloat16] = {"bfloat16", 2},
    [ncclFloat8e4m3] = {"float8e4m3", 1},
    [ncclFloat8e5m2] = {"float8e5m2", 1},
};

static const char *const ops[] = {
    [ncclSum] = "sum", [ncclProd] = "prod", [ncclMax] = "max",
    [ncclMin] = "min", [ncclAvg] = "avg",   [OP_SCALED] = "premulsum"};

static const char *const functions[FUNCTIONS] = {
    [ALL_GATHER] = "AllGather",
    [ALL_REDUCE] = "AllReduce",
    [ALL_TO_ALL] = "AlltoAll",
    [BROADCAST] = "Broadcast",
    [GATHER] = "Gather",
    [REDUCE] = "Reduce",
    [REDUCE_SCATTER] = "ReduceScatter",
    [SCATTER] = "Scatter",
};

size_t type_size(ncclDataType_t type)
{
	return type < 0 || type >= ncclNumTypes ? 0 : types[type].size;
}

const char *type_name(uint32_t type)
{
	return type < ncclNumTypes ? types[type].name : "unknown";
}

const char *op_name(uint32_t op)
{
	return op <= OP_SCALED ? ops[op] : "unknown";
}

const char *function_name(uint32_t function)
{
	return function < FUNCTIONS ? functions[function] : "unknown";
}
