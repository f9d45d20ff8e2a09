/*
 * capture.c - captures: which streams are in one, what their next nodes depend
 * on, and what makes them invalid.
 */
#include "fronts/cuda/capture_private.h"

#include <stdlib.h>
#include <string.h>

struct capture *captures;
_Atomic unsigned captures_open;

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

CUresult deps_add(struct capture_deps *deps, const CUgraphNode *node,
		  const CUgraphEdgeData *data, size_t count)
{
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

void capture_lose_graph(struct capture *c)
{
	c->graph = NULL;
	c->owns_graph = false;
	c->is_invalid = true;
}

/* Its nodes are nobody's, unless the graph was there before. */
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

bool capture_finds(CUcontext ctx, CUstream given, bool per_thread,
		   CUstream *ret_stream)
{
	return capture_is_open() &&
	       !stream_find(ctx, given, per_thread, ret_stream) &&
	       stream_captures(*ret_stream);
}

/* ---- what is not allowed ---- */

CUresult capture_invalidate(struct capture *c, CUresult why)
{
	if (c->is_invalid)
		return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
	c->is_invalid = true;
	return why;
}

/* All captures that have a stream in this context, of one kind or of any. */
static CUresult invalidate_in(CUcontext ctx, bool blocking_only, CUresult why)
{
	for (struct capture *c = captures; c; c = c->next)
		for (CUstream s = c->streams; s; s = s->next_captured)
			if (s->ctx == ctx &&
			    (s->kind == STREAM_BLOCKING || !blocking_only))
				c->is_invalid = true;
	return why;
}

static CUresult refuse_stream(CUstream s)
{
	struct capture *c = s->capture;

	if (c)
		return capture_invalidate(
		    c, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
	return s->kind == STREAM_LEGACY && s->of->capturing_blocking
		   ? invalidate_in(s->ctx, true,
				   CUDA_ERROR_STREAM_CAPTURE_IMPLICIT)
		   : CUDA_SUCCESS;
}

CUresult stream_usable(CUstream s)
{
	return capture_is_open() ? GRAPH_LOCKED(refuse_stream(s))
				 : CUDA_SUCCESS;
}

CUresult capture_permit_stream(CUcontext ctx, CUstream given, bool per_thread)
{
	CUstream s;
	CUresult r = stream_find(ctx, given, per_thread, &s);

	return r ? r : stream_usable(s);
}

CUresult capture_permit_context(CUcontext ctx)
{
	struct streams *streams = streams_of(ctx);

	if (!capture_is_open() ||
	    (!streams->capturing_blocking && !streams->capturing_others))
		return CUDA_SUCCESS;
	return GRAPH_LOCKED(
	    invalidate_in(ctx, false, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED));
}

/*
 * Calls whose effect a capture would not see: most of all those that allocate,
 * free or wait. `legacy`: they use the legacy stream.
 */
static const struct {
	enum cuda_row row;
	bool legacy;
} unsafe[] = {
#define UNSAFE(symbol) {ROW_##symbol, false},
#define UNSAFE_LEGACY(symbol)                                                  \
	{ROW_##symbol, true}, {ROW_##symbol##_ptds, false},
#define UNSAFE_OLD(symbol) {ROW_##symbol, true},
#include "fronts/cuda/capture_unsafe.def"
#undef UNSAFE
#undef UNSAFE_LEGACY
#undef UNSAFE_OLD
};

static bool is_prohibited(const struct capture *c)
{
	bool own = c->thread == capture_thread();

	if (own)
		return c->mode != CU_STREAM_CAPTURE_MODE_RELAXED;
	return c->mode == CU_STREAM_CAPTURE_MODE_GLOBAL &&
	       *capture_mode() == CU_STREAM_CAPTURE_MODE_GLOBAL;
}

static CUresult refuse_call(bool legacy)
{
	CUcontext ctx = ctx_current();
	CUresult r = CUDA_SUCCESS;

	if (legacy && ctx && handle_is(ctx, HANDLE_CONTEXT) &&
	    streams_of(ctx) && streams_of(ctx)->capturing_blocking)
		return invalidate_in(ctx, true,
				     CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
	if (*capture_mode() == CU_STREAM_CAPTURE_MODE_RELAXED)
		return r;
	for (struct capture *c = captures; c; c = c->next)
		if (is_prohibited(c))
			r = capture_invalidate(
			    c, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
	return r;
}

CUresult capture_permit_call(enum cuda_row row)
{
	for (size_t i = 0; i < sizeof unsafe / sizeof *unsafe; i++)
		if (unsafe[i].row == row)
			return GRAPH_LOCKED(refuse_call(unsafe[i].legacy));
	return CUDA_SUCCESS;
}

/* ---- events ---- */

CUresult capture_record(CUstream s, struct capture_point *point)
{
	struct capture *c = s->capture;
	CUresult r;

	if (!c || c->is_invalid)
		return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
	point->deps.count = 0;
	r = deps_add(&point->deps, s->deps.node, s->deps.data, s->deps.count);
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
	return s->capture ? capture_invalidate(
				s->capture, CUDA_ERROR_STREAM_CAPTURE_ISOLATION)
			  : CUDA_SUCCESS;
}

/* Nodes that the program took out of the graph are gone. */
static CUresult join_nodes(CUstream s, const struct capture_deps *deps)
{
	CUresult r = CUDA_SUCCESS;

	for (unsigned i = 0; !r && i < deps->count; i++)
		if (node_is(deps->node[i]))
			r = deps_add(&s->deps, &deps->node[i], &deps->data[i],
				     1);
	return r;
}

CUresult capture_join(CUstream s, const struct capture_point *point)
{
	struct capture *c = find_capture(atomic_load(&point->id));

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
