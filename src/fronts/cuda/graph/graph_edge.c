/* SPDX-License-Identifier: Apache-2.0 */
/* graph_edge.c - adds and removes the edges between the nodes of a graph. */
#include "base/assert.h"
#include "fronts/cuda/graph/graph.h"

#include <stdlib.h>
#include <string.h>

bool edges_push(struct graph_edges *edges, struct graph_edge edge)
{
	unsigned room = edges->room ? 2 * edges->room : 4;
	struct graph_edge *at;

	GK_ASSERT(gk_lock_held(&graph_mutex));
	if (edges->count == edges->room) {
		at = realloc(edges->at, room * sizeof(*at));
		if (!at)
			return false;
		edges->at = at;
		edges->room = room;
	}
	edges->at[edges->count++] = edge;
	return true;
}

CUresult edge_add(CUgraphNode from, CUgraphNode to, CUgraphEdgeData data)
{
	GK_ASSERT(gk_lock_held(&graph_mutex));
	if (!edges_push(&from->out, (struct graph_edge){to, data}))
		return CUDA_ERROR_OUT_OF_MEMORY;
	if (edges_push(&to->in, (struct graph_edge){from, data}))
		return CUDA_SUCCESS;
	from->out.count--;
	return CUDA_ERROR_OUT_OF_MEMORY;
}

static struct graph_edge *find_edge(struct graph_edges *edges, CUgraphNode node)
{
	for (unsigned i = 0; i < edges->count; i++)
		if (edges->at[i].node == node)
			return &edges->at[i];
	return NULL;
}

void edges_remove(struct graph_edges *edges, CUgraphNode node)
{
	struct graph_edge *at = find_edge(edges, node);

	GK_ASSERT(gk_lock_held(&graph_mutex));
	if (at)
		memmove(at, at + 1,
			(size_t)(&edges->at[edges->count--] - (at + 1)) *
			    sizeof(*at));
}

/*
 * Only edges between two kernels may name a port. Here every port means the end
 * of the first kernel.
 */
static bool is_edge_sound(CUgraphNodeType from, CUgraphNodeType to,
			  const CUgraphEdgeData *data)
{
	static const unsigned char zeros[sizeof data->reserved];

	if (data->to_port || memcmp(data->reserved, zeros, sizeof zeros))
		return false;
	if (data->type == CU_GRAPH_DEPENDENCY_TYPE_DEFAULT)
		return !data->from_port;
	return data->type == CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC &&
	       from == CU_GRAPH_NODE_TYPE_KERNEL &&
	       to == CU_GRAPH_NODE_TYPE_KERNEL &&
	       (data->from_port == CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC ||
		data->from_port == CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER);
}

CUgraphEdgeData edge_data_at(const CUgraphEdgeData *data, size_t i)
{
	return data ? data[i] : (CUgraphEdgeData){0};
}

CUresult graph_check_deps(CUgraph graph, const struct graph_deps *deps,
			  CUgraphNodeType to)
{
	static uint64_t round;
	CUgraphEdgeData data;

	GK_ASSERT(gk_lock_held(&graph_mutex));
	if (deps->count && !deps->node)
		return CUDA_ERROR_INVALID_VALUE;
	round++;
	for (size_t i = 0; i < deps->count; i++) {
		CUgraphNode n = deps->node[i];

		if (!node_is(n) || n->graph != graph || n->seen == round)
			return CUDA_ERROR_INVALID_VALUE;
		data = edge_data_at(deps->data, i);
		if (!is_edge_sound(n->params.type, to, &data))
			return CUDA_ERROR_INVALID_VALUE;
		n->seen = round;
	}
	return CUDA_SUCCESS;
}

/* The edges passed in one call: edge i leads from from[i] to to[i]. */
struct pairs {
	const CUgraphNode *from, *to;
	const CUgraphEdgeData *data;
	size_t count;
};

static bool are_pairs(CUgraph graph, const struct pairs *p)
{
	if (!graph_is(graph) || (p->count && (!p->from || !p->to)))
		return false;
	for (size_t i = 0; i < p->count; i++)
		if (!node_is(p->from[i]) || !node_is(p->to[i]) ||
		    p->from[i]->graph != graph || p->to[i]->graph != graph)
			return false;
	return true;
}

static CUresult add_pair(CUgraphNode from, CUgraphNode to, CUgraphEdgeData data)
{
	if (from == to || find_edge(&from->out, to) ||
	    !is_edge_sound(from->params.type, to->params.type, &data))
		return CUDA_ERROR_INVALID_VALUE;
	return edge_add(from, to, data);
}

static void remove_pair(CUgraphNode from, CUgraphNode to)
{
	edges_remove(&from->out, to);
	edges_remove(&to->in, from);
}

/* Adds all of the edges or none. */
static CUresult add_pairs(CUgraph graph, const struct pairs *p)
{
	CUresult r = CUDA_SUCCESS;
	size_t i;

	if (!are_pairs(graph, p))
		return CUDA_ERROR_INVALID_VALUE;
	for (i = 0; !r && i < p->count; i++)
		r = add_pair(p->from[i], p->to[i], edge_data_at(p->data, i));
	if (r)
		for (i--; i > 0; i--)
			remove_pair(p->from[i - 1], p->to[i - 1]);
	return r;
}

static CUresult remove_one_pair(CUgraphNode from, CUgraphNode to,
				CUgraphEdgeData data)
{
	struct graph_edge *edge = find_edge(&from->out, to);

	if (!edge || memcmp(&edge->data, &data, sizeof data))
		return CUDA_ERROR_INVALID_VALUE;
	remove_pair(from, to);
	return CUDA_SUCCESS;
}

static CUresult remove_pairs(CUgraph graph, const struct pairs *p)
{
	CUresult r = CUDA_SUCCESS;
	size_t i;

	if (!are_pairs(graph, p) || (p->count && graph->has_memory))
		return CUDA_ERROR_INVALID_VALUE;
	for (i = 0; !r && i < p->count; i++)
		r = remove_one_pair(p->from[i], p->to[i],
				    edge_data_at(p->data, i));
	if (r)
		for (i--; i > 0; i--)
			edge_add(p->from[i - 1], p->to[i - 1],
				 edge_data_at(p->data, i - 1));
	return r;
}

#define PAIRS(symbol, what)                                                    \
	CUresult symbol(CUgraph hGraph, const CUgraphNode *from,               \
			const CUgraphNode *to, size_t numDependencies)         \
	{                                                                      \
		const struct pairs p = {from, to, NULL, numDependencies};      \
                                                                               \
		ENTER(symbol);                                                 \
		return GRAPH_LOCKED(what(hGraph, &p));                         \
	}                                                                      \
	CUresult symbol##_v2(                                                  \
	    CUgraph hGraph, const CUgraphNode *from, const CUgraphNode *to,    \
	    const CUgraphEdgeData *edgeData, size_t numDependencies)           \
	{                                                                      \
		const struct pairs p = {from, to, edgeData, numDependencies};  \
                                                                               \
		ENTER(symbol##_v2);                                            \
		return GRAPH_LOCKED(what(hGraph, &p));                         \
	}

PAIRS(cuGraphAddDependencies, add_pairs)
PAIRS(cuGraphRemoveDependencies, remove_pairs)
#undef PAIRS
