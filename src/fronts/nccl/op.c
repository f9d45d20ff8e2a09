/* op.c - types, operators and functions by number, and scaled sums. */
#include "fronts/nccl/front.h"

#include <string.h>

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

static ncclResult_t use_scaled(struct ncclComm *c, ncclRedOp_t op,
			       ncclDataType_t type, struct collective *to)
{
	struct scaled s = {0};

	pthread_mutex_lock(&c->lock);
	if (op - ncclNumOps < SCALED_MAX)
		s = c->scaled[op - ncclNumOps];
	pthread_mutex_unlock(&c->lock);
	if (!s.used)
		return error_set(ncclInvalidArgument,
				 "operator %d: the communicator has none", op);
	if (s.type != type)
		return error_set(ncclInvalidArgument,
				 "operator %d is of %s, the buffer of %s", op,
				 type_name((uint32_t)s.type),
				 type_name((uint32_t)type));
	to->call.op = OP_SCALED;
	to->call.scalar = s.scalar;
	to->scalar = s.address;
	return ncclSuccess;
}

ncclResult_t op_resolve(struct ncclComm *c, ncclRedOp_t op, ncclDataType_t type,
			struct collective *to)
{
	if (op < 0)
		return error_set(ncclInvalidArgument,
				 "operator %d: there is none", op);
	if (op >= ncclNumOps)
		return use_scaled(c, op, type, to);
	if (type >= ncclFloat8e4m3 && c->capability < 90)
		return error_set(ncclInvalidArgument,
				 "%s: GPUs since compute capability 9.0 reduce "
				 "it, this one has %d.%d",
				 type_name((uint32_t)type), c->capability / 10,
				 c->capability % 10);
	to->call.op = (uint32_t)op;
	return ncclSuccess;
}

static ncclResult_t create_scaled(struct ncclComm *c, ncclRedOp_t *op,
				  const void *scalar, ncclDataType_t type,
				  ncclScalarResidence_t residence)
{
	struct scaled s = {.used = true, .type = type};
	int i = 0;

	if (residence == ncclScalarDevice)
		s.address = (CUdeviceptr)(uintptr_t)scalar;
	else
		memcpy(&s.scalar, scalar, type_size(type));
	pthread_mutex_lock(&c->lock);
	while (i < SCALED_MAX && c->scaled[i].used)
		i++;
	if (i < SCALED_MAX)
		c->scaled[i] = s;
	pthread_mutex_unlock(&c->lock);
	if (i == SCALED_MAX)
		return error_set(ncclInternalError,
				 "%d operators are all that there may be",
				 SCALED_MAX);
	*op = ncclNumOps + i;
	return ncclSuccess;
}

FRONT(ncclRedOpCreatePreMulSum,
      (ncclRedOp_t * op, void *scalar, ncclDataType_t datatype,
       ncclScalarResidence_t residence, ncclComm_t comm))
{
	struct ncclComm *c;
	ncclResult_t r;

	if (!op || !scalar || !type_size(datatype) ||
	    (residence != ncclScalarDevice &&
	     residence != ncclScalarHostImmediate))
		return group_note(error_set(ncclInvalidArgument,
					    "an operator of type %d, residence "
					    "%d",
					    datatype, residence));
	r = comm_enter(comm, &c);
	if (r)
		return group_note(r);
	r = create_scaled(c, op, scalar, datatype, residence);
	comm_leave(c);
	return group_note(r);
}

FRONT(ncclRedOpDestroy, (ncclRedOp_t op, ncclComm_t comm))
{
	struct ncclComm *c = comm_use(comm);
	bool was = false;

	if (c && op >= ncclNumOps && op - ncclNumOps < SCALED_MAX) {
		pthread_mutex_lock(&c->lock);
		was = c->scaled[op - ncclNumOps].used;
		c->scaled[op - ncclNumOps].used = false;
		pthread_mutex_unlock(&c->lock);
	}
	if (c)
		comm_leave(c);
	return was ? ncclSuccess
		   : error_set(ncclInvalidArgument,
			       "operator %d: the communicator has none", op);
}
