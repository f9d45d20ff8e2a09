/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream_value_calls.c - cuStreamWaitValue*, cuStreamWriteValue* and
 * cuStreamBatchMemOp.
 */
#include "fronts/cuda/graph/capture.h"
#include "fronts/cuda/stream/stream_private.h"

/* Pushes all operations, or none if one of them is invalid. */
static CUresult push_memory_ops(CUstream s, CUstreamBatchMemOpParams *ops,
				unsigned count)
{
	struct gkf_task *task;
	CUresult r = values_check(ops, count);

	if (r || !count)
		return r;
	if (stream_captures(s))
		return GRAPH_LOCKED(capture_values(s, ops, count));
	r = stream_usable(s);
	if (r)
		return r;
	task = values_make(ops, count);
	if (!task)
		return CUDA_ERROR_OUT_OF_MEMORY;
	stream_push(s, task);
	return CUDA_SUCCESS;
}

static CUresult batch_on(enum cuda_row row, bool per_thread, CUstream stream,
			 unsigned count, CUstreamBatchMemOpParams *ops,
			 unsigned flags)
{
	CUstream s;
	CUresult r = stream_enter(row, stream, per_thread, &s);

	if (r)
		return r;
	return flags ? CUDA_ERROR_INVALID_VALUE
		     : push_memory_ops(s, ops, count);
}

static CUresult value_on(enum cuda_row row, bool per_thread, CUstream stream,
			 CUstreamBatchMemOpType type, CUdeviceptr addr,
			 uint64_t value, unsigned flags)
{
	CUstreamBatchMemOpParams op = {.waitValue = {.operation = type,
						     .address = addr,
						     .value64 = value,
						     .flags = flags}};

	return batch_on(row, per_thread, stream, 1, &op, 0);
}

/*
 * Defines the entry points for batches. The first and second versions of these
 * functions differ only in the hardware support that they require.
 */
#define BATCH(symbol)                                                          \
	BOTH_STREAMS(symbol, _ptsz,                                            \
		     (CUstream stream, unsigned int count,                     \
		      CUstreamBatchMemOpParams *paramArray,                    \
		      unsigned int flags),                                     \
		     (stream, count, paramArray, flags))                       \
	{                                                                      \
		return batch_on(row, per_thread, stream, count, paramArray,    \
				flags);                                        \
	}

#define VALUE(symbol, type, operation)                                         \
	BOTH_STREAMS(symbol, _ptsz,                                            \
		     (CUstream stream, CUdeviceptr addr, type value,           \
		      unsigned int flags),                                     \
		     (stream, addr, value, flags))                             \
	{                                                                      \
		return value_on(row, per_thread, stream,                       \
				CU_STREAM_MEM_OP_##operation, addr, value,     \
				flags);                                        \
	}

BATCH(cuStreamBatchMemOp)
BATCH(cuStreamBatchMemOp_v2)
VALUE(cuStreamWaitValue32, cuuint32_t, WAIT_VALUE_32)
VALUE(cuStreamWaitValue32_v2, cuuint32_t, WAIT_VALUE_32)
VALUE(cuStreamWaitValue64, cuuint64_t, WAIT_VALUE_64)
VALUE(cuStreamWaitValue64_v2, cuuint64_t, WAIT_VALUE_64)
VALUE(cuStreamWriteValue32, cuuint32_t, WRITE_VALUE_32)
VALUE(cuStreamWriteValue32_v2, cuuint32_t, WRITE_VALUE_32)
VALUE(cuStreamWriteValue64, cuuint64_t, WRITE_VALUE_64)
VALUE(cuStreamWriteValue64_v2, cuuint64_t, WRITE_VALUE_64)
#undef BATCH
#undef VALUE
