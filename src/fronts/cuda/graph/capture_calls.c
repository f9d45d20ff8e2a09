/* SPDX-License-Identifier: Apache-2.0 */
/*
 * capture_calls.c - begins, ends and queries captures, and sets the capture
 * mode of threads.
 */
#include "fronts/cuda/graph/capture_private.h"

#include <stdlib.h>

/*
 * Programs change the mode temporarily, for calls that should not invalidate a
 * capture.
 */
CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode)
{
	CUstreamCaptureMode before = *capture_mode();

	ENTER(cuThreadExchangeStreamCaptureMode);
	if (!mode || (unsigned)*mode > CU_STREAM_CAPTURE_MODE_RELAXED)
		return CUDA_ERROR_INVALID_VALUE;
	*capture_mode() = *mode;
	*mode = before;
	return CUDA_SUCCESS;
}

/* ---- beginning ---- */

/* If `graph` is NULL, creates a graph, which the capture owns until it ends. */
static CUresult begin_capture(CUstream s, CUgraph graph,
			      const struct graph_deps *deps,
			      CUstreamCaptureMode mode)
{
	static uint64_t last_id;
	struct capture *c;
	CUresult r = CUDA_SUCCESS;

	if (s->capture)
		return CUDA_ERROR_ILLEGAL_STATE;
	c = calloc(1, sizeof(*c));
	if (!c)
		return CUDA_ERROR_OUT_OF_MEMORY;
	c->owns_graph = !graph;
	c->graph = graph;
	if (!graph)
		r = graph_new(&c->graph);
	if (r) {
		free(c);
		return r;
	}
	c->id = ++last_id;
	c->thread = capture_thread();
	c->mode = mode;
	c->origin = s;
	c->graph->capture = c;
	c->next = captures;
	captures = c;
	atomic_fetch_add(&captures_open, 1);
	capture_enter(c, s);
	return capture_deps_add(&s->deps, deps->node, deps->data, deps->count);
}

static CUresult check_begin(CUstream s, CUstreamCaptureMode mode)
{
	if ((unsigned)mode > CU_STREAM_CAPTURE_MODE_RELAXED)
		return CUDA_ERROR_INVALID_VALUE;
	return s->kind == STREAM_LEGACY ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
					: CUDA_SUCCESS;
}

static CUresult begin_on(enum cuda_row row, bool per_thread, CUstream hStream,
			 CUstreamCaptureMode mode)
{
	const struct graph_deps none = {NULL, NULL, 0};
	CUstream s;
	CUresult r = stream_enter(row, hStream, per_thread, &s);

	if (!r)
		r = check_begin(s, mode);
	return r ? r : GRAPH_LOCKED(begin_capture(s, NULL, &none, mode));
}

BOTH_STREAMS(cuStreamBeginCapture, _ptsz, (CUstream hStream), (hStream))
{
	return begin_on(row, per_thread, hStream,
			CU_STREAM_CAPTURE_MODE_GLOBAL);
}

BOTH_STREAMS(cuStreamBeginCapture_v2, _ptsz,
	     (CUstream hStream, CUstreamCaptureMode mode), (hStream, mode))
{
	return begin_on(row, per_thread, hStream, mode);
}

static CUresult begin_to_graph(CUstream s, CUgraph graph,
			       const struct graph_deps *deps,
			       CUstreamCaptureMode mode)
{
	CUresult r;

	if (!graph_is(graph) || graph->is_exec || graph->capture)
		return CUDA_ERROR_INVALID_VALUE;
	r = graph_check_deps(graph, deps, CU_GRAPH_NODE_TYPE_KERNEL);
	return r ? r : begin_capture(s, graph, deps, mode);
}

BOTH_STREAMS(cuStreamBeginCaptureToGraph, _ptsz,
	     (CUstream hStream, CUgraph hGraph, const CUgraphNode *dependencies,
	      const CUgraphEdgeData *dependencyData, size_t numDependencies,
	      CUstreamCaptureMode mode),
	     (hStream, hGraph, dependencies, dependencyData, numDependencies,
	      mode))
{
	const struct graph_deps deps = {dependencies, dependencyData,
					numDependencies};
	CUstream s;
	CUresult r = stream_enter(row, hStream, per_thread, &s);

	if (!r)
		r = check_begin(s, mode);
	return r ? r : GRAPH_LOCKED(begin_to_graph(s, hGraph, &deps, mode));
}

/* ---- ending ---- */

/* Marks the nodes of a list and all nodes that they depend on. */
static void mark_reached(const struct capture_deps *deps, unsigned mark)
{
	CUgraphNode stack = NULL, node;

	for (unsigned i = 0; i < deps->count; i++) {
		node = deps->node[i];
		if (!node_is(node) || node->mark == mark)
			continue;
		node->mark = mark;
		node->pair = stack;
		stack = node;
	}
	while ((node = stack)) {
		stack = node->pair;
		for (unsigned i = 0; i < node->in.count; i++) {
			CUgraphNode from = node->in.at[i].node;

			if (from->mark == mark)
				continue;
			from->mark = mark;
			from->pair = stack;
			stack = from;
		}
	}
}

/*
 * Whether the capture's first stream depends on the last nodes of all its other
 * streams.
 */
static bool is_joined(struct capture *c)
{
	for (CUgraphNode n = c->graph->first; n; n = n->next)
		n->mark = 0;
	mark_reached(&c->origin->deps, 1);
	for (CUstream s = c->streams; s; s = s->next_captured)
		for (unsigned i = 0; i < s->deps.count; i++)
			if (node_is(s->deps.node[i]) && !s->deps.node[i]->mark)
				return false;
	return true;
}

static CUresult end_capture(CUstream s, CUgraph *ret_graph)
{
	struct capture *c = s->capture;
	CUgraph graph;
	bool owns;
	CUresult r = CUDA_SUCCESS;

	if (!c)
		return CUDA_ERROR_ILLEGAL_STATE;
	if (c->origin != s)
		return capture_invalidate(c,
					  CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
	if (c->mode != CU_STREAM_CAPTURE_MODE_RELAXED &&
	    c->thread != capture_thread())
		return CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
	if (c->is_invalid)
		r = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
	else if (!is_joined(c))
		r = CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
	graph = c->graph;
	owns = c->owns_graph;
	capture_end(c);
	if (r && owns)
		graph_free(graph);
	*ret_graph = r ? NULL : graph;
	return r;
}

BOTH_STREAMS(cuStreamEndCapture, _ptsz, (CUstream hStream, CUgraph *phGraph),
	     (hStream, phGraph))
{
	CUstream s;
	CUresult r = stream_enter(row, hStream, per_thread, &s);

	if (!r && !phGraph)
		r = CUDA_ERROR_INVALID_VALUE;
	return r ? r : GRAPH_LOCKED(end_capture(s, phGraph));
}

/* ---- queries ---- */

/* The destinations of a query's results; all except `status` may be NULL. */
struct info {
	CUstreamCaptureStatus *status;
	cuuint64_t *id;
	CUgraph *graph;
	const CUgraphNode **node;
	const CUgraphEdgeData **data;
	size_t *count;
};

static bool has_data(const struct capture_deps *deps)
{
	for (unsigned i = 0; i < deps->count; i++)
		if (!edge_is_plain(&deps->data[i]))
			return true;
	return false;
}

static void tell_active(CUstream s, const struct info *i)
{
	const struct capture *c = s->capture;

	if (i->id)
		*i->id = c->id;
	if (i->graph)
		*i->graph = c->graph;
	if (i->node)
		*i->node = s->deps.node;
	if (i->data)
		*i->data = s->deps.data;
	if (i->count)
		*i->count = s->deps.count;
}

static CUresult report_capture(CUstream s, const struct info *i)
{
	const struct capture *c = s->capture;

	if (!i->status || (i->data && !i->node))
		return CUDA_ERROR_INVALID_VALUE;
	if (s->kind == STREAM_LEGACY && s->of->capturing_blocking)
		return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
	if (c && i->node && !i->data && has_data(&s->deps))
		return CUDA_ERROR_LOSSY_QUERY;
	*i->status = !c              ? CU_STREAM_CAPTURE_STATUS_NONE
		     : c->is_invalid ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
				     : CU_STREAM_CAPTURE_STATUS_ACTIVE;
	if (c && !c->is_invalid)
		tell_active(s, i);
	return CUDA_SUCCESS;
}

#define INFO(symbol, params, names, ...)                                       \
	BOTH_STREAMS(symbol, _ptsz, params, names)                             \
	{                                                                      \
		const struct info i = __VA_ARGS__;                             \
		CUstream s;                                                    \
		CUresult r = stream_enter(row, hStream, per_thread, &s);       \
                                                                               \
		return r ? r : GRAPH_LOCKED(report_capture(s, &i));            \
	}

/* clang-format off */
INFO(cuStreamIsCapturing,
     (CUstream hStream, CUstreamCaptureStatus *status), (hStream, status),
     {.status = status})
INFO(cuStreamGetCaptureInfo,
     (CUstream hStream, CUstreamCaptureStatus *status, cuuint64_t *id),
     (hStream, status, id), {.status = status, .id = id})
INFO(cuStreamGetCaptureInfo_v2,
     (CUstream hStream, CUstreamCaptureStatus *status, cuuint64_t *id,
      CUgraph *graph, const CUgraphNode **nodes, size_t *count),
     (hStream, status, id, graph, nodes, count),
     {status, id, graph, nodes, NULL, count})
INFO(cuStreamGetCaptureInfo_v3,
     (CUstream hStream, CUstreamCaptureStatus *status, cuuint64_t *id,
      CUgraph *graph, const CUgraphNode **nodes, const CUgraphEdgeData **data,
      size_t *count),
     (hStream, status, id, graph, nodes, data, count),
     {status, id, graph, nodes, data, count})
/* clang-format on */

/* ---- changing dependencies ---- */

static CUresult change_deps(CUstream s, const struct graph_deps *deps,
			    unsigned flags)
{
	struct capture *c = s->capture;
	CUresult r;

	if (!c)
		return CUDA_ERROR_ILLEGAL_STATE;
	if (c->is_invalid)
		return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
	if (flags > CU_STREAM_SET_CAPTURE_DEPENDENCIES)
		return CUDA_ERROR_INVALID_VALUE;
	r = graph_check_deps(c->graph, deps, CU_GRAPH_NODE_TYPE_KERNEL);
	if (r)
		return r;
	if (flags == CU_STREAM_SET_CAPTURE_DEPENDENCIES)
		s->deps.count = 0;
	return capture_deps_add(&s->deps, deps->node, deps->data, deps->count);
}

static CUresult change_on(enum cuda_row row, bool per_thread, CUstream hStream,
			  const struct graph_deps *deps, unsigned flags)
{
	CUstream s;
	CUresult r = stream_enter(row, hStream, per_thread, &s);

	return r ? r : GRAPH_LOCKED(change_deps(s, deps, flags));
}

BOTH_STREAMS(cuStreamUpdateCaptureDependencies, _ptsz,
	     (CUstream hStream, CUgraphNode *dependencies,
	      size_t numDependencies, unsigned int flags),
	     (hStream, dependencies, numDependencies, flags))
{
	const struct graph_deps deps = {dependencies, NULL, numDependencies};

	return change_on(row, per_thread, hStream, &deps, flags);
}

BOTH_STREAMS(cuStreamUpdateCaptureDependencies_v2, _ptsz,
	     (CUstream hStream, CUgraphNode *dependencies,
	      const CUgraphEdgeData *dependencyData, size_t numDependencies,
	      unsigned int flags),
	     (hStream, dependencies, dependencyData, numDependencies, flags))
{
	const struct graph_deps deps = {dependencies, dependencyData,
					numDependencies};

	return change_on(row, per_thread, hStream, &deps, flags);
}
