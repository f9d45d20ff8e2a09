/* SPDX-License-Identifier: Apache-2.0 */
/* op_scaled.c - creates, resolves and destroys operators of scaled sums. */
#include "fronts/nccl/front.h"

#include <string.h>

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
				 "the communicator has no operator %d", op);
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
		return error_set(ncclInvalidArgument, "invalid operator %d",
				 op);
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
				 "a communicator can have %d operators",
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
					    "invalid operator: type %d, "
					    "residence %d",
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
			       "the communicator has no operator %d", op);
}
