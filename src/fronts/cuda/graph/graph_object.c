/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph_object.c - user objects that graphs hold: counts the references to them
 * and calls the program's destructor when the last one is released. Destructors
 * run in a queue of their own, shared with other deferred calls.
 */
#include "base/assert.h"
#include "fronts/cuda/graph/graph.h"
#include "fronts/cuda/graph/graph_later.h"
#include "fronts/cuda/stream/stream_private.h"

#include <limits.h>
#include <stdlib.h>

struct CUuserObject_st {
	void *data;
	CUhostFn destroy;
	unsigned holders;
	unsigned graphs; /* the number of references held by graphs */
};

/* ---- deferred calls ---- */

static struct gkf_queue *later_queue(void)
{
	static struct gkf_queue *queue;
	const struct gkf_queue_ask ask = {.machine = cuda.machine,
					  .device = cuda.device[0].index};

	if (!queue && gkf_queue_new(&ask, &queue))
		queue = NULL;
	return queue;
}

void graph_later_call(struct gkf_ticket after, void (*function)(void *data),
		      void *data)
{
	struct gkf_queue *queue = later_queue();
	struct gkf_task *task = queue ? hostfunc_make(function, data) : NULL;

	GK_ASSERT(gk_lock_held(&graph_mutex));
	if (!task)
		return;
	gkf_queue_after(queue, after);
	gkf_queue_push(queue, task);
}

/* ---- objects ---- */

static bool is_object(CUuserObject object)
{
	return handle_is(object, HANDLE_OBJECT);
}

static bool is_count(unsigned count)
{
	return count && count <= INT_MAX;
}

/* The number of references that the program holds and may release. */
static unsigned count_own(CUuserObject object)
{
	return object->holders - object->graphs;
}

static void drop_object(CUuserObject object, unsigned count)
{
	object->holders -= count;
	if (object->holders)
		return;
	graph_later_call((struct gkf_ticket){0}, object->destroy, object->data);
	handle_free(object);
}

CUresult cuUserObjectCreate(CUuserObject *object_out, void *ptr,
			    CUhostFn destroy, unsigned int initialRefcount,
			    unsigned int flags)
{
	CUuserObject object;

	ENTER(cuUserObjectCreate);
	if (!object_out || !destroy || !is_count(initialRefcount) ||
	    flags != CU_USER_OBJECT_NO_DESTRUCTOR_SYNC)
		return CUDA_ERROR_INVALID_VALUE;
	object = handle_new(HANDLE_OBJECT, sizeof(*object));
	if (!object)
		return CUDA_ERROR_OUT_OF_MEMORY;
	object->data = ptr;
	object->destroy = destroy;
	object->holders = initialRefcount;
	*object_out = object;
	return CUDA_SUCCESS;
}

static CUresult add_holders(CUuserObject object, unsigned count)
{
	if (count > UINT_MAX - object->holders)
		return CUDA_ERROR_INVALID_VALUE;
	object->holders += count;
	return CUDA_SUCCESS;
}

static CUresult hold_object(CUuserObject object, unsigned count)
{
	return is_object(object) && is_count(count) ? add_holders(object, count)
						    : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuUserObjectRetain(CUuserObject object, unsigned int count)
{
	ENTER(cuUserObjectRetain);
	return GRAPH_LOCKED(hold_object(object, count));
}

static CUresult release_object(CUuserObject object, unsigned count)
{
	if (!is_object(object) || !is_count(count) || count > count_own(object))
		return CUDA_ERROR_INVALID_VALUE;
	drop_object(object, count);
	return CUDA_SUCCESS;
}

CUresult cuUserObjectRelease(CUuserObject object, unsigned int count)
{
	ENTER(cuUserObjectRelease);
	return GRAPH_LOCKED(release_object(object, count));
}

/* ---- references of graphs ---- */

static struct graph_object *find_reference(CUgraph graph, CUuserObject object)
{
	for (unsigned i = 0; i < graph->object_count; i++)
		if (graph->objects[i].object == object)
			return &graph->objects[i];
	return NULL;
}

static CUresult add_reference(CUgraph graph, CUuserObject object,
			      unsigned count)
{
	struct graph_object *at = find_reference(graph, object);

	if (!at) {
		at = realloc(graph->objects,
			     (graph->object_count + 1) * sizeof(*at));
		if (!at)
			return CUDA_ERROR_OUT_OF_MEMORY;
		graph->objects = at;
		at += graph->object_count++;
		*at = (struct graph_object){.object = object};
	}
	at->count += count;
	object->graphs += count;
	return CUDA_SUCCESS;
}

static void drop_reference(CUuserObject object, unsigned count)
{
	object->graphs -= count;
	drop_object(object, count);
}

static CUresult retain_for_graph(CUgraph graph, CUuserObject object,
				 unsigned count, unsigned flags)
{
	bool moves = flags & CU_GRAPH_USER_OBJECT_MOVE;
	CUresult r;

	if (!graph_is(graph) || !is_object(object) || !is_count(count) ||
	    flags & ~(unsigned)CU_GRAPH_USER_OBJECT_MOVE ||
	    (moves && count > count_own(object)))
		return CUDA_ERROR_INVALID_VALUE;
	r = moves ? CUDA_SUCCESS : add_holders(object, count);
	if (r)
		return r;
	r = add_reference(graph, object, count);
	if (r && !moves)
		object->holders -= count;
	return r;
}

CUresult cuGraphRetainUserObject(CUgraph graph, CUuserObject object,
				 unsigned int count, unsigned int flags)
{
	ENTER(cuGraphRetainUserObject);
	return GRAPH_LOCKED(retain_for_graph(graph, object, count, flags));
}

static CUresult release_of_graph(CUgraph graph, CUuserObject object,
				 unsigned count)
{
	struct graph_object *at;

	if (!graph_is(graph) || !is_object(object) || !is_count(count))
		return CUDA_ERROR_INVALID_VALUE;
	at = find_reference(graph, object);
	if (!at || count > at->count)
		return CUDA_ERROR_INVALID_VALUE;
	at->count -= count;
	if (!at->count)
		*at = graph->objects[--graph->object_count];
	drop_reference(object, count);
	return CUDA_SUCCESS;
}

CUresult cuGraphReleaseUserObject(CUgraph graph, CUuserObject object,
				  unsigned int count)
{
	ENTER(cuGraphReleaseUserObject);
	return GRAPH_LOCKED(release_of_graph(graph, object, count));
}

CUresult graph_objects_copy(CUgraph from, CUgraph to)
{
	CUresult r = CUDA_SUCCESS;

	GK_ASSERT(gk_lock_held(&graph_mutex));
	for (unsigned i = 0; !r && i < from->object_count; i++) {
		const struct graph_object *o = &from->objects[i];

		r = add_holders(o->object, o->count);
		if (r)
			break;
		r = add_reference(to, o->object, o->count);
		if (r)
			o->object->holders -= o->count;
	}
	return r;
}

void graph_objects_drop(CUgraph graph)
{
	GK_ASSERT(gk_lock_held(&graph_mutex));
	for (unsigned i = 0; i < graph->object_count; i++)
		drop_reference(graph->objects[i].object,
			       graph->objects[i].count);
	free(graph->objects);
}
