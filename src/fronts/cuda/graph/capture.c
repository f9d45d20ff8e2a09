/* SPDX-License-Identifier: Apache-2.0 */
/*
 * capture.c - keeps track of the streams in captures, and of the nodes on which
 * each stream's next node will depend.
 */
#include "base/assert.h"
#include "fronts/cuda/graph/capture_private.h"

#include <stdlib.h>
#include <string.h>

/* ---- lists of nodes ---- */

void capture_deps_free(struct capture_deps *deps)
{
	free(deps->node);
	free(deps->data);
	*deps = (struct capture_deps){0};
}

static bool has_room(struct capture_deps *deps, unsigned more)
{
	unsigned room = deps->room ? deps->room : 4;
	CUgraphNode *node;
	CUgraphEdgeData *data;

	while (room < deps->count + more)
		room *= 2;
	if (room == deps->room)
		return true;
	node = realloc(deps->node, room * sizeof(*node));
	if (node)
		deps->node = node;
	data = realloc(deps->data, room * sizeof(*data));
	if (data)
		deps->data = data;
	if (!node || !data)
		return false;
	deps->room = room;
	return true;
}

static bool holds_node(const struct capture_deps *deps, CUgraphNode node)
{
	for (unsigned i = 0; i < deps->count; i++)
		if (deps->node[i] == node)
			return true;
	return false;
}

CUresult capture_deps_add(struct capture_deps *deps, const CUgraphNode *node,
			  const CUgraphEdgeData *data, size_t count)
{
	GK_ASSERT(gk_lock_held(&graph_mutex));
	if (count > 1u << 20 || !has_room(deps, (unsigned)count))
		return CUDA_ERROR_OUT_OF_MEMORY;
	for (size_t i = 0; i < count; i++) {
		if (holds_node(deps, node[i]))
			continue;
		deps->node[deps->count] = node[i];
		deps->data[deps->count++] =
		    data ? data[i] : (CUgraphEdgeData){0};
	}
	return CUDA_SUCCESS;
}

/* ---- streams in captures ---- */

static _Atomic unsigned *blocking_count(CUstream s)
{
	return s->kind == STREAM_BLOCKING ? &s->of->capturing_blocking
					  : &s->of->capturing_others;
}

void capture_enter(struct capture *c, CUstream s)
{
	GK_ASSERT(gk_lock_held(&graph_mutex));
	GK_ASSERT(!s->capture);
	s->next_captured = c->streams;
	c->streams = s;
	s->deps.count = 0;
	atomic_fetch_add(blocking_count(s), 1);
	atomic_store(&s->capture, c);
}

static void leave_capture(CUstream s)
{
	atomic_store(&s->capture, NULL);
	atomic_fetch_sub(blocking_count(s), 1);
	capture_deps_free(&s->deps);
}

CUresult capture_watch(CUstream s, void (*ended)(void *data), void *data)
{
	struct capture *c = s->capture;
	struct capture_watch *w;

	GK_ASSERT(gk_lock_held(&graph_mutex));
	if (!c || c->is_invalid)
		return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
	w = malloc(sizeof(*w));
	if (!w)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*w = (struct capture_watch){ended, data, c->watches};
	c->watches = w;
	return CUDA_SUCCESS;
}

static void tell_watches(const struct capture *c)
{
	struct capture_watch *next;

	for (struct capture_watch *w = c->watches; w; w = next) {
		next = w->next;
		w->ended(w->data);
		free(w);
	}
}

void capture_end(struct capture *c)
{
	struct capture **at = &captures;
	CUstream next;

	GK_ASSERT(gk_lock_held(&graph_mutex));
	for (CUstream s = c->streams; s; s = next) {
		next = s->next_captured;
		leave_capture(s);
	}
	while (*at != c)
		at = &(*at)->next;
	*at = c->next;
	atomic_fetch_sub(&captures_open, 1);
	if (c->graph)
		c->graph->capture = NULL;
	tell_watches(c);
	free(c);
}

/*
 * Ends a capture without returning a graph; frees the graph if the capture
 * created it.
 */
static void abandon_capture(struct capture *c)
{
	CUgraph graph = c->owns_graph ? c->graph : NULL;

	capture_end(c);
	if (graph)
		graph_free(graph);
}

static void leave_destroyed(CUstream s)
{
	struct capture *c = s->capture;
	CUstream *at;

	if (!c)
		return;
	if (c->origin == s) {
		abandon_capture(c);
		return;
	}
	for (at = &c->streams; *at != s;)
		at = &(*at)->next_captured;
	*at = s->next_captured;
	leave_capture(s);
	c->is_invalid = true;
}

void capture_leave(CUstream s)
{
	if (!stream_captures(s))
		return;
	pthread_mutex_lock(&graph_mutex);
	leave_destroyed(s);
	pthread_mutex_unlock(&graph_mutex);
}

/* ---- events ---- */

CUresult capture_record(CUstream s, struct capture_point *point)
{
	struct capture *c = s->capture;
	CUresult r;

	GK_ASSERT(gk_lock_held(&graph_mutex));
	if (!c || c->is_invalid)
		return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
	point->deps.count = 0;
	r = capture_deps_add(&point->deps, s->deps.node, s->deps.data,
			     s->deps.count);
	atomic_store(&point->id, r ? 0 : c->id);
	return r;
}

static struct capture *find_capture(uint64_t id)
{
	struct capture *c = captures;

	while (c && c->id != id)
		c = c->next;
	return c;
}

CUresult capture_isolation(CUstream s)
{
	GK_ASSERT(gk_lock_held(&graph_mutex));
	return s->capture ? capture_invalidate(
				s->capture, CUDA_ERROR_STREAM_CAPTURE_ISOLATION)
			  : CUDA_SUCCESS;
}

/* Skips nodes that the program has destroyed since the event was recorded. */
static CUresult join_nodes(CUstream s, const struct capture_deps *deps)
{
	CUresult r = CUDA_SUCCESS;

	for (unsigned i = 0; !r && i < deps->count; i++)
		if (node_is(deps->node[i]))
			r = capture_deps_add(&s->deps, &deps->node[i],
					     &deps->data[i], 1);
	return r;
}

CUresult capture_join(CUstream s, const struct capture_point *point)
{
	struct capture *c = find_capture(atomic_load(&point->id));

	GK_ASSERT(gk_lock_held(&graph_mutex));
	if (!c)
		return s->capture ? capture_isolation(s)
				  : CUDA_ERROR_CAPTURED_EVENT;
	if (c->is_invalid)
		return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
	if (s->kind == STREAM_LEGACY)
		return capture_invalidate(c,
					  CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
	if (s->capture && s->capture != c) {
		((struct capture *)s->capture)->is_invalid = true;
		return capture_invalidate(c, CUDA_ERROR_STREAM_CAPTURE_MERGE);
	}
	if (!s->capture)
		capture_enter(c, s);
	return join_nodes(s, &point->deps);
}
