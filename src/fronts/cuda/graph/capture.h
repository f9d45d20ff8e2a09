/* SPDX-License-Identifier: Apache-2.0 */
/*
 * capture.h - stream captures: work put in a captured stream is not done, but
 * becomes nodes of a graph.
 *
 * A capture begins in one stream; other streams join it by waiting for its
 * events. A call that is not allowed during a capture makes it invalid: from
 * then until it is ended, nothing more is captured. graph_mutex (graph.h)
 * guards captures.
 */
#ifndef GKF_CUDA_CAPTURE_H
#define GKF_CUDA_CAPTURE_H

#include "base/assert.h"
#include "fronts/cuda/graph/capture_deps.h"
#include "fronts/cuda/graph/graph.h"
#include "fronts/cuda/stream/stream_private.h"

struct copy;
struct launch;
struct memset_ask;

/* Called when a capture ends. */
struct capture_watch {
	void (*ended)(void *data);
	void *data;
	struct capture_watch *next;
};

struct capture {
	uint64_t id; /* never reused */
	uint64_t thread;
	CUstreamCaptureMode mode;
	/* NULL: the graph was freed during the capture, which is now invalid */
	CUgraph graph;
	bool owns_graph; /* false: the graph existed before the capture */
	bool is_invalid;
	CUstream origin, streams;
	struct capture_watch *watches;
	struct capture *next;
};

/* The number of open captures; read without the lock. */
extern _Atomic unsigned captures_open;
static inline bool capture_is_open(void)
{
	return __builtin_expect(
	    atomic_load_explicit(&captures_open, memory_order_relaxed) != 0, 0);
}

/* Whether work put in the stream is captured. Takes no lock. */
static inline bool stream_captures(CUstream s)
{
	return __builtin_expect(
	    atomic_load_explicit(&s->capture, memory_order_acquire) != NULL, 0);
}

/*
 * Like stream_captures(), but takes the stream argument of a call and also
 * returns the stream. Returns false for an invalid handle. Takes no lock. See
 * stream.c.
 */
bool capture_finds(CUcontext ctx, CUstream given, bool per_thread,
		   CUstream *ret_stream);

/*
 * Returns an error if the stream cannot be used now: no work may be put in it,
 * and no thread may wait for it. That is so if it is being captured, or if it
 * is the legacy stream of a context with captured blocking streams. In that
 * case, also makes those captures invalid. Takes graph_mutex if any capture is
 * open.
 */
CUresult stream_usable(CUstream s);

/*
 * Like stream_usable(), but takes the stream argument of a call. See stream.c.
 */
CUresult capture_permit_stream(CUcontext ctx, CUstream given, bool per_thread);

/*
 * capture_permit_context() does the same for all streams of a context.
 * capture_permit_call() returns an error if the call cannot be captured and the
 * capture modes of the thread and of the open captures prohibit it; it also
 * makes those captures invalid. Both take graph_mutex.
 */
CUresult capture_permit_context(CUcontext ctx);
CUresult capture_permit_call(enum cuda_row row);

/* ---- captured work; the caller holds graph_mutex ---- */

/* Each of these adds a node to the capture of the stream. */
CUresult capture_kernel(CUstream s, const struct launch *l);
CUresult capture_copy(CUstream s, const struct copy *copy);
CUresult capture_memset(CUstream s, const struct memset_ask *ask);
CUresult capture_host(CUstream s, CUhostFn function, void *data);
CUresult capture_values(CUstream s, CUstreamBatchMemOpParams *ops,
			unsigned count);
CUresult capture_event(CUstream s, CUevent event, CUgraphNodeType type);
CUresult capture_alloc(CUstream s, CUdevice device, size_t size,
		       CUdeviceptr *ret_address);
CUresult capture_free(CUstream s, CUdeviceptr address);
CUresult capture_graph(CUstream s, CUgraphExec exec);

/*
 * capture_record() records an event in a captured stream; capture_join() makes
 * any stream wait for such an event.
 */
CUresult capture_record(CUstream s, struct capture_point *point);
CUresult capture_join(CUstream s, const struct capture_point *point);

/*
 * Makes the capture of a stream invalid because the stream would wait for
 * something outside that capture.
 */
CUresult capture_isolation(CUstream s);

/* Calls ended(data) once, under graph_mutex, when the stream's capture ends. */
CUresult capture_watch(CUstream s, void (*ended)(void *data), void *data);

/*
 * Called when the capture's graph is about to be freed together with the graph
 * that contains it.
 */
static inline void capture_lose_graph(struct capture *c)
{
	GK_ASSERT(gk_lock_held(&graph_mutex));
	c->graph = NULL;
	c->owns_graph = false;
	c->is_invalid = true;
}

/* ---- streams ---- */

/*
 * Removes a stream from its capture before the stream is freed; takes
 * graph_mutex if necessary.
 */
void capture_leave(CUstream s);

#endif
