/* SPDX-License-Identifier: Apache-2.0 */
/* event_record.c - cuEventRecord*: records events in streams and captures. */
#include "fronts/cuda/stream/event_private.h"

static CUresult record_in(CUevent e, CUstream s)
{
	CUresult r;

	stream_begin(s);
	r = event_put(e, s->queue);
	stream_unlock(s);
	return r;
}

/*
 * Adds the record to the capture: if `flags` is set, as a node that records the
 * event in each launch; otherwise as a position in the graph.
 */
static CUresult capture_moment(CUstream s, CUevent e, unsigned flags)
{
	return flags ? capture_event(s, e, CU_GRAPH_NODE_TYPE_EVENT_RECORD)
		     : capture_record(s, &e->point);
}

static CUresult record_on(enum cuda_row row, bool per_thread, CUevent hEvent,
			  CUstream hStream, unsigned flags)
{
	CUstream s;
	CUresult r = stream_enter(row, hStream, per_thread, &s);

	if (r)
		return r;
	/* This flag is valid only in captures. */
	if (flags & ~(unsigned)CU_EVENT_RECORD_EXTERNAL ||
	    (flags && !stream_captures(s)))
		return CUDA_ERROR_INVALID_VALUE;
	r = event_usable(hEvent);
	if (r)
		return r;
	if (hEvent->ctx != s->ctx->base)
		return CUDA_ERROR_INVALID_HANDLE;
	if (stream_captures(s))
		return GRAPH_LOCKED(capture_moment(s, hEvent, flags));
	r = stream_usable(s);
	return r ? r : record_in(hEvent, s);
}

BOTH_STREAMS(cuEventRecord, _ptsz, (CUevent hEvent, CUstream hStream),
	     (hEvent, hStream))
{
	return record_on(row, per_thread, hEvent, hStream, 0);
}

BOTH_STREAMS(cuEventRecordWithFlags, _ptsz,
	     (CUevent hEvent, CUstream hStream, unsigned int flags),
	     (hEvent, hStream, flags))
{
	return record_on(row, per_thread, hEvent, hStream, flags);
}
