/* SPDX-License-Identifier: Apache-2.0 */
/* calls.c - defines the functions of NCCL for collectives and messages. */
#include "fronts/nccl/front.h"

/* Which buffers a call needs on this rank. */
enum { NEEDS_IN = 1, NEEDS_OUT = 2 };

static unsigned buffers_of(enum function function, bool is_root)
{
	switch (function) {
	case BROADCAST:
	case SCATTER:
		return NEEDS_OUT | (is_root ? NEEDS_IN : 0);
	case GATHER:
	case REDUCE:
		return NEEDS_IN | (is_root ? NEEDS_OUT : 0);
	case ALL_GATHER:
	case ALL_REDUCE:
	case ALL_TO_ALL:
	case REDUCE_SCATTER:
	case FUNCTIONS:
		break;
	}
	return NEEDS_IN | NEEDS_OUT;
}

static bool has_root(enum function f)
{
	return f == BROADCAST || f == GATHER || f == REDUCE || f == SCATTER;
}

static bool has_op(enum function f)
{
	return f == ALL_REDUCE || f == REDUCE || f == REDUCE_SCATTER;
}

/* The arguments of a collective. */
struct asked {
	enum function function;
	const void *in;
	void *out;
	size_t count;
	ncclDataType_t type;
	ncclRedOp_t op;
	int root;
};

static ncclResult_t check_call(const struct ncclComm *c, const struct asked *a)
{
	const char *name = function_name(a->function);
	unsigned needs = buffers_of(a->function, a->root == (int)c->rank);
	size_t bytes;

	if (!type_size(a->type))
		return error_set(ncclInvalidArgument, "%s: invalid type %d",
				 name, a->type);
	if (has_root(a->function) &&
	    (a->root < 0 || (unsigned)a->root >= c->ranks))
		return error_set(ncclInvalidArgument,
				 "%s: invalid root %d of %u ranks", name,
				 a->root, c->ranks);
	if (__builtin_mul_overflow(a->count, type_size(a->type), &bytes) ||
	    __builtin_mul_overflow(bytes, c->ranks, &bytes))
		return error_set(ncclInvalidArgument,
				 "%s: count %zu is too large", name, a->count);
	if (a->count && (((needs & NEEDS_IN) && !a->in) ||
			 ((needs & NEEDS_OUT) && !a->out)))
		return error_set(ncclInvalidArgument, "%s: a buffer is NULL",
				 name);
	return ncclSuccess;
}

static ncclResult_t make_collective(struct ncclComm *c, const struct asked *a,
				    struct collective *ret)
{
	unsigned needs = buffers_of(a->function, a->root == (int)c->rank);
	ncclResult_t r = check_call(c, a);

	if (r)
		return r;
	*ret = (struct collective){
	    .call = {.function = a->function,
		     .type = (uint32_t)a->type,
		     .root = has_root(a->function) ? (uint32_t)a->root : 0,
		     .count = a->count},
	    .in = needs & NEEDS_IN ? (CUdeviceptr)(uintptr_t)a->in : 0,
	    .out = needs & NEEDS_OUT ? (CUdeviceptr)(uintptr_t)a->out : 0};
	return has_op(a->function) ? op_resolve(c, a->op, a->type, ret)
				   : ncclSuccess;
}

static ncclResult_t add_collective(ncclComm_t comm, struct asked asked,
				   CUstream stream)
{
	struct collective what;
	struct ncclComm *c;
	ncclResult_t r = comm_enter(comm, &c);

	if (r)
		return group_note(r);
	r = make_collective(c, &asked, &what);
	/* With zero elements there is nothing to do, and no rank waits. */
	if (!r && asked.count)
		r = group_collective(c, &what, stream);
	comm_leave(c);
	return group_note(r);
}

FRONT(ncclAllGather,
      (const void *sendbuff, void *recvbuff, size_t sendcount,
       ncclDataType_t datatype, ncclComm_t comm, CUstream stream))
{
	return add_collective(comm,
			      (struct asked){ALL_GATHER, sendbuff, recvbuff,
					     sendcount, datatype, 0, 0},
			      stream);
}

FRONT(ncclAllReduce, (const void *sendbuff, void *recvbuff, size_t count,
		      ncclDataType_t datatype, ncclRedOp_t op, ncclComm_t comm,
		      CUstream stream))
{
	return add_collective(comm,
			      (struct asked){ALL_REDUCE, sendbuff, recvbuff,
					     count, datatype, op, 0},
			      stream);
}

FRONT(ncclAlltoAll, (const void *sendbuff, void *recvbuff, size_t count,
		     ncclDataType_t datatype, ncclComm_t comm, CUstream stream))
{
	return add_collective(comm,
			      (struct asked){ALL_TO_ALL, sendbuff, recvbuff,
					     count, datatype, 0, 0},
			      stream);
}

FRONT(ncclBroadcast,
      (const void *sendbuff, void *recvbuff, size_t count,
       ncclDataType_t datatype, int root, ncclComm_t comm, CUstream stream))
{
	return add_collective(comm,
			      (struct asked){BROADCAST, sendbuff, recvbuff,
					     count, datatype, 0, root},
			      stream);
}

FRONT(ncclBcast, (void *buff, size_t count, ncclDataType_t datatype, int root,
		  ncclComm_t comm, CUstream stream))
{
	return ncclBroadcast(buff, buff, count, datatype, root, comm, stream);
}

FRONT(ncclGather,
      (const void *sendbuff, void *recvbuff, size_t count,
       ncclDataType_t datatype, int root, ncclComm_t comm, CUstream stream))
{
	return add_collective(comm,
			      (struct asked){GATHER, sendbuff, recvbuff, count,
					     datatype, 0, root},
			      stream);
}

FRONT(ncclReduce, (const void *sendbuff, void *recvbuff, size_t count,
		   ncclDataType_t datatype, ncclRedOp_t op, int root,
		   ncclComm_t comm, CUstream stream))
{
	return add_collective(comm,
			      (struct asked){REDUCE, sendbuff, recvbuff, count,
					     datatype, op, root},
			      stream);
}

FRONT(ncclReduceScatter, (const void *sendbuff, void *recvbuff,
			  size_t recvcount, ncclDataType_t datatype,
			  ncclRedOp_t op, ncclComm_t comm, CUstream stream))
{
	return add_collective(comm,
			      (struct asked){REDUCE_SCATTER, sendbuff, recvbuff,
					     recvcount, datatype, op, 0},
			      stream);
}

FRONT(ncclScatter,
      (const void *sendbuff, void *recvbuff, size_t count,
       ncclDataType_t datatype, int root, ncclComm_t comm, CUstream stream))
{
	return add_collective(comm,
			      (struct asked){SCATTER, sendbuff, recvbuff, count,
					     datatype, 0, root},
			      stream);
}

/* ---- messages ---- */

static ncclResult_t make_message(const struct ncclComm *c, struct message *m,
				 size_t count, ncclDataType_t type, int peer)
{
	const char *name = m->sends ? "Send" : "Recv";
	size_t bytes;

	if (!type_size(type))
		return error_set(ncclInvalidArgument, "%s: invalid type %d",
				 name, type);
	if (peer < 0 || (unsigned)peer >= c->ranks)
		return error_set(ncclInvalidArgument,
				 "%s: invalid peer %d of %u ranks", name, peer,
				 c->ranks);
	if (__builtin_mul_overflow(count, type_size(type), &bytes) ||
	    (count && !m->address))
		return error_set(ncclInvalidArgument,
				 "%s: %zu elements at NULL, or too many", name,
				 count);
	m->peer = (unsigned)peer;
	m->bytes = bytes;
	return ncclSuccess;
}

static ncclResult_t add_message(ncclComm_t comm, bool sends, const void *at,
				size_t count, ncclDataType_t type, int peer,
				CUstream stream)
{
	struct message m = {.sends = sends,
			    .address = (CUdeviceptr)(uintptr_t)at};
	struct ncclComm *c;
	ncclResult_t r = comm_enter(comm, &c);

	if (r)
		return group_note(r);
	r = make_message(c, &m, count, type, peer);
	if (!r && count)
		r = group_message(c, &m, stream);
	comm_leave(c);
	return group_note(r);
}

FRONT(ncclSend, (const void *sendbuff, size_t count, ncclDataType_t datatype,
		 int peer, ncclComm_t comm, CUstream stream))
{
	return add_message(comm, true, sendbuff, count, datatype, peer, stream);
}

FRONT(ncclRecv, (void *recvbuff, size_t count, ncclDataType_t datatype,
		 int peer, ncclComm_t comm, CUstream stream))
{
	return add_message(comm, false, recvbuff, count, datatype, peer,
			   stream);
}
