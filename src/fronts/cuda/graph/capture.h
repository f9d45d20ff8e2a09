/*
 * capture.h - streams whose work is not done but becomes nodes of a graph.
 *
 * A capture begins in one stream; others join it when they wait for events of
 * it. What is not allowed meanwhile makes it invalid: then nothing more is
 * captured until it is ended. All with the lock of graphs (graph.h), unless
 * said otherwise.
 */
#ifndef GKF_CUDA_CAPTURE_H
#define GKF_CUDA_CAPTURE_H

#include "fronts/cuda/capture_deps.h"
#include "fronts/cuda/graph.h"
#include "fronts/cuda/stream_private.h"

struct copy;
struct launch;
struct set_ask;

/* Somebody who wants to know when a capture ends. */
struct capture_watch {
	void (*ended)(void *data);
	void *data;
	struct capture_watch *next;
};

struct capture {
	uint64_t id; /* never used twice */
	uint64_t thread;
	CUstreamCaptureMode mode;
	CUgraph graph;   /* NULL: gone, and the capture is invalid */
	bool owns_graph; /* else it was there before */
	bool is_invalid;
	CUstream origin, streams;
	struct capture_watch *watches;
	struct capture *next;
};

/* How many there are; no lock. */
extern _Atomic unsigned captures_open;
static inline bool capture_is_open(void)
{
	return __builtin_expect(
	    atomic_load_explicit(&captures_open, memory_order_relaxed) != 0, 0);
}

/* Is what is put into the stream captured? No lock. */
static inline bool stream_captures(CUstream s)
{
	return __builtin_expect(
	    atomic_load_explicit(&s->capture, memory_order_acquire) != NULL, 0);
}

/* The same by name; false for what is no stream, too. No lock. */
bool capture_finds(CUcontext ctx, CUstream given, bool per_thread,
		   CUstream *ret_stream);

/*
 * May work be put into a stream, or it be waited for? Not if it is captured,
 * or the legacy stream of others that are: then these captures are invalid.
 * Takes the lock if there is any.
 */
CUresult stream_usable(CUstream s);

/* The same by name. */
CUresult capture_permit_stream(CUcontext ctx, CUstream given, bool per_thread);

/*
 * The same about all streams of a context; and about a call that would not be
 * captured, by the mode of the thread and of the captures. Takes the lock.
 */
CUresult capture_permit_context(CUcontext ctx);
CUresult capture_permit_call(enum cuda_row row);

/* Each adds a node to the capture of the stream. */
CUresult capture_kernel(CUstream s, const struct launch *l);
CUresult capture_copy(CUstream s, const struct copy *copy);
CUresult capture_set(CUstream s, const struct set_ask *ask);
CUresult capture_host(CUstream s, CUhostFn function, void *data);
CUresult capture_values(CUstream s, CUstreamBatchMemOpParams *ops,
			unsigned count);
CUresult capture_event(CUstream s, CUevent event, CUgraphNodeType type);
CUresult capture_alloc(CUstream s, CUdevice device, size_t size,
		       CUdeviceptr *ret_address);
CUresult capture_free(CUstream s, CUdeviceptr address);
CUresult capture_graph(CUstream s, CUgraphExec exec);

/* An event is recorded in a captured stream, and waited for by any. */
CUresult capture_record(CUstream s, struct capture_point *point);
CUresult capture_join(CUstream s, const struct capture_point *point);

/* A captured stream waits for something that is not of its capture. */
CUresult capture_isolation(CUstream s);

/* Calls `ended` once when the capture of the stream ends, with the lock. */
CUresult capture_watch(CUstream s, void (*ended)(void *data), void *data);

/* The graph that it adds to goes, as a part of another one. */
void capture_lose_graph(struct capture *c);

/* The stream goes; takes the lock if need be. */
void capture_leave(CUstream s);

#endif
