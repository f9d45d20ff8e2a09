/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream_value.c - makes tasks that write words in memory or wait for them. A
 * waiting stream occupies no thread. It checks its word again when any task has
 * written a word, and periodically, because writes by the host are not noticed.
 */
#include "device/space.h"
#include "fronts/cuda/generation.h"
#include "fronts/cuda/stream/stream_private.h"

#include <string.h>

/* The maximum number of operations in one cuStreamBatchMemOp(). */
#define BATCH_MOST 256

struct batch {
	struct gkf_task task;
	/* next: index of the first operation that is not done yet */
	unsigned count, next;
	CUstreamBatchMemOpParams op[];
};

/* An operation that waits for a word of 32 or 64 bits, or writes a word. */
struct word {
	CUdeviceptr address;
	uint64_t value;
	unsigned size; /* bytes; 0: the operation has no word */
	bool is_wait;
};

static struct word word_of_operation(const CUstreamBatchMemOpParams *op)
{
	struct word w = {.address = op->waitValue.address};

	switch (op->operation) {
	case CU_STREAM_MEM_OP_WAIT_VALUE_32:
	case CU_STREAM_MEM_OP_WAIT_VALUE_64:
		w.is_wait = true;
		w.size =
		    op->operation == CU_STREAM_MEM_OP_WAIT_VALUE_32 ? 4 : 8;
		break;
	case CU_STREAM_MEM_OP_WRITE_VALUE_32:
		w.size = 4;
		break;
	case CU_STREAM_MEM_OP_WRITE_VALUE_64:
		w.size = 8;
		break;
	case CU_STREAM_MEM_OP_BARRIER:
	case CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES:
		break;
	}
	w.value = w.size == 8 ? op->waitValue.value64 : op->waitValue.value;
	return w;
}

/*
 * Other threads of the program access these words, so each is read or written
 * by a single atomic access.
 */
static uint64_t load_value(const void *at, unsigned size)
{
	return size == 8
		   ? __atomic_load_n((const uint64_t *)at, __ATOMIC_ACQUIRE)
		   : __atomic_load_n((const uint32_t *)at, __ATOMIC_ACQUIRE);
}

static void store_value(void *at, unsigned size, uint64_t value)
{
	if (size == 8)
		__atomic_store_n((uint64_t *)at, value, __ATOMIC_RELEASE);
	else
		__atomic_store_n((uint32_t *)at, (uint32_t)value,
				 __ATOMIC_RELEASE);
}

/*
 * "Greater or equal" wraps around: the sign of the difference is what counts.
 */
static bool is_met(unsigned flags, unsigned size, uint64_t now, uint64_t value)
{
	switch (flags & 3) {
	case CU_STREAM_WAIT_VALUE_GEQ:
		return size == 8 ? (int64_t)(now - value) >= 0
				 : (int32_t)(uint32_t)(now - value) >= 0;
	case CU_STREAM_WAIT_VALUE_EQ:
		return now == value;
	case CU_STREAM_WAIT_VALUE_AND:
		return (now & value) != 0;
	default: /* NOR */
		return size == 8 ? ~(now | value) != 0
				 : (uint32_t) ~(now | value) != 0;
	}
}

/* ---- reductions, since CUDA 13.1 ---- */

/* A member that CUDA 13.1 added to CUstreamBatchMemOpParams. */
struct reduction_params {
	CUstreamBatchMemOpType operation;
	unsigned int flags;
	CUstreamAtomicReductionOpType reductionOp;
	CUstreamAtomicReductionDataType dataType;
	CUdeviceptr address;
	cuuint64_t value;
	CUdeviceptr alias;
};

struct reduction {
	struct reduction_params params;
	unsigned size; /* bytes */
};

static bool is_reduction(const CUstreamBatchMemOpParams *op)
{
	return (int)op->operation == CU_STREAM_MEM_OP_ATOMIC_REDUCTION &&
	       front_generation->cuda >= 13010;
}

static struct reduction read_reduction(const CUstreamBatchMemOpParams *op)
{
	struct reduction r;

	memcpy(&r.params, op, sizeof r.params);
	r.size = r.params.dataType == CU_STREAM_ATOMIC_REDUCTION_UNSIGNED_64
		     ? sizeof(uint64_t)
		     : sizeof(uint32_t);
	return r;
}

#define REDUCE(type, at, op, value)                                            \
	do {                                                                   \
		if ((op) == CU_STREAM_ATOMIC_REDUCTION_OP_ADD)                 \
			__atomic_fetch_add((type *)(at), (type)(value),        \
					   __ATOMIC_SEQ_CST);                  \
		else if ((op) == CU_STREAM_ATOMIC_REDUCTION_OP_AND)            \
			__atomic_fetch_and((type *)(at), (type)(value),        \
					   __ATOMIC_SEQ_CST);                  \
		else                                                           \
			__atomic_fetch_or((type *)(at), (type)(value),         \
					  __ATOMIC_SEQ_CST);                   \
	} while (0)

static int do_reduction(const CUstreamBatchMemOpParams *op)
{
	struct reduction r = read_reduction(op);
	void *at = gkf_space_view(r.params.address, r.size);

	if (!at)
		return CUDA_ERROR_ILLEGAL_ADDRESS;
	if (r.size == sizeof(uint64_t))
		REDUCE(uint64_t, at, r.params.reductionOp, r.params.value);
	else
		REDUCE(uint32_t, at, r.params.reductionOp, r.params.value);
	return 0;
}

static CUresult check_reduction(const CUstreamBatchMemOpParams *op)
{
	struct reduction r = read_reduction(op);
	unsigned type = r.params.dataType, kind = r.params.reductionOp;

	if (r.params.flags ||
	    (type != CU_STREAM_ATOMIC_REDUCTION_UNSIGNED_32 &&
	     type != CU_STREAM_ATOMIC_REDUCTION_UNSIGNED_64) ||
	    (kind != CU_STREAM_ATOMIC_REDUCTION_OP_ADD &&
	     kind != CU_STREAM_ATOMIC_REDUCTION_OP_AND &&
	     kind != CU_STREAM_ATOMIC_REDUCTION_OP_OR) ||
	    r.params.address & (r.size - 1) ||
	    !gkf_space_view(r.params.address, r.size))
		return CUDA_ERROR_INVALID_VALUE;
	return CUDA_SUCCESS;
}

/* ---- batches ---- */

static int do_one(const CUstreamBatchMemOpParams *op)
{
	struct word w = word_of_operation(op);
	void *at;

	if (is_reduction(op))
		return do_reduction(op);
	if (!w.size) {
		atomic_thread_fence(memory_order_seq_cst);
		return 0;
	}
	at = gkf_space_view(w.address, w.size);
	if (!at)
		return CUDA_ERROR_ILLEGAL_ADDRESS;
	if (w.is_wait)
		return is_met(op->waitValue.flags, w.size,
			      load_value(at, w.size), w.value)
			   ? 0
			   : GKF_TASK_AGAIN;
	store_value(at, w.size, w.value);
	return 0;
}

static int run_value_batch(struct gkf_task *task)
{
	struct batch *batch = (struct batch *)task;
	int r = 0;

	while (!r && batch->next < batch->count) {
		r = do_one(&batch->op[batch->next]);
		if (!r)
			batch->next++;
	}
	return r;
}

static CUresult check_word(const CUstreamBatchMemOpParams *op)
{
	struct word w = word_of_operation(op);
	bool flags_ok =
	    w.is_wait
		? !(op->waitValue.flags & ~(3u | CU_STREAM_WAIT_VALUE_FLUSH))
		: op->writeValue.flags <= 1;

	if (!flags_ok || w.address & (w.size - 1) ||
	    !gkf_space_view(w.address, w.size))
		return CUDA_ERROR_INVALID_VALUE;
	return CUDA_SUCCESS;
}

static CUresult check_one(const CUstreamBatchMemOpParams *op)
{
	switch (op->operation) {
	case CU_STREAM_MEM_OP_WAIT_VALUE_32:
	case CU_STREAM_MEM_OP_WAIT_VALUE_64:
	case CU_STREAM_MEM_OP_WRITE_VALUE_32:
	case CU_STREAM_MEM_OP_WRITE_VALUE_64:
		return check_word(op);
	case CU_STREAM_MEM_OP_BARRIER:
		return op->memoryBarrier.flags <= 1 ? CUDA_SUCCESS
						    : CUDA_ERROR_INVALID_VALUE;
	case CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES:
		return op->flushRemoteWrites.flags ? CUDA_ERROR_INVALID_VALUE
						   : CUDA_SUCCESS;
	}
	return is_reduction(op) ? check_reduction(op)
				: CUDA_ERROR_INVALID_VALUE;
}

CUresult values_check(const CUstreamBatchMemOpParams *ops, unsigned count)
{
	CUresult r = CUDA_SUCCESS;

	if (count > BATCH_MOST || (count && !ops))
		return CUDA_ERROR_INVALID_VALUE;
	for (unsigned i = 0; i < count && !r; i++)
		r = check_one(&ops[i]);
	return r;
}

struct gkf_task *values_make(const CUstreamBatchMemOpParams *ops,
			     unsigned count)
{
	struct batch *batch =
	    gkf_task_new(sizeof(*batch) + count * sizeof(*ops));

	if (!batch)
		return NULL;
	batch->task.run = run_value_batch;
	batch->count = count;
	batch->next = 0;
	memcpy(batch->op, ops, count * sizeof(*ops));
	return &batch->task;
}
