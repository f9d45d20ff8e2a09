/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph_query.c - lists the nodes and edges of graphs, and returns the types of
 * nodes. For a list, the caller gets either only its length, or as many
 * elements as fit in the caller's arrays.
 */
#include "fronts/cuda/graph/graph.h"

/* The caller's arrays for a list; NULL: not requested. */
struct list {
	CUgraphNode *node, *other;
	CUgraphEdgeData *data;
	size_t *count;
	size_t room, used;
};

static void list_open(struct list *l)
{
	l->room = l->node || l->other ? *l->count : 0;
}

static void list_add(struct list *l, CUgraphNode node, CUgraphNode other,
		     const CUgraphEdgeData *data)
{
	if (l->used < l->room) {
		if (l->node)
			l->node[l->used] = node;
		if (l->other)
			l->other[l->used] = other;
		if (l->data && data)
			l->data[l->used] = *data;
	}
	l->used++;
}

/* Sets the unused entries to NULL. */
static CUresult list_close(struct list *l)
{
	if (!l->node && !l->other) {
		*l->count = l->used;
		return CUDA_SUCCESS;
	}
	for (size_t i = l->used; i < l->room; i++) {
		if (l->node)
			l->node[i] = NULL;
		if (l->other)
			l->other[i] = NULL;
	}
	*l->count = l->used < l->room ? l->used : l->room;
	return CUDA_SUCCESS;
}

/* Whether an edge has data that the caller did not ask for. */
static bool is_lossy(const struct list *l, const struct graph_edges *e)
{
	for (unsigned i = 0; l->node && !l->data && i < e->count; i++)
		if (!edge_is_plain(&e->at[i].data))
			return true;
	return false;
}

static CUresult list_nodes(CUgraph graph, struct list *l, bool roots)
{
	if (!graph_is(graph) || !l->count)
		return CUDA_ERROR_INVALID_VALUE;
	list_open(l);
	for (CUgraphNode n = graph->first; n; n = n->next)
		if (!roots || !n->in.count)
			list_add(l, n, NULL, NULL);
	return list_close(l);
}

CUresult cuGraphGetNodes(CUgraph hGraph, CUgraphNode *nodes, size_t *numNodes)
{
	struct list l = {.node = nodes, .count = numNodes};

	ENTER(cuGraphGetNodes);
	return GRAPH_LOCKED(list_nodes(hGraph, &l, false));
}

CUresult cuGraphGetRootNodes(CUgraph hGraph, CUgraphNode *rootNodes,
			     size_t *numRootNodes)
{
	struct list l = {.node = rootNodes, .count = numRootNodes};

	ENTER(cuGraphGetRootNodes);
	return GRAPH_LOCKED(list_nodes(hGraph, &l, true));
}

static CUresult list_all_edges(CUgraph graph, struct list *l)
{
	if (!graph_is(graph) || !l->count || !l->node != !l->other ||
	    (l->data && !l->node))
		return CUDA_ERROR_INVALID_VALUE;
	for (CUgraphNode n = graph->first; n; n = n->next)
		if (is_lossy(l, &n->in))
			return CUDA_ERROR_LOSSY_QUERY;
	list_open(l);
	for (CUgraphNode n = graph->first; n; n = n->next)
		for (unsigned i = 0; i < n->in.count; i++)
			list_add(l, n->in.at[i].node, n, &n->in.at[i].data);
	return list_close(l);
}

CUresult cuGraphGetEdges(CUgraph hGraph, CUgraphNode *from, CUgraphNode *to,
			 size_t *numEdges)
{
	struct list l = {.node = from, .other = to, .count = numEdges};

	ENTER(cuGraphGetEdges);
	return GRAPH_LOCKED(list_all_edges(hGraph, &l));
}

CUresult cuGraphGetEdges_v2(CUgraph hGraph, CUgraphNode *from, CUgraphNode *to,
			    CUgraphEdgeData *edgeData, size_t *numEdges)
{
	struct list l = {from, to, edgeData, numEdges, 0, 0};

	ENTER(cuGraphGetEdges_v2);
	return GRAPH_LOCKED(list_all_edges(hGraph, &l));
}

static CUresult list_edges(CUgraphNode node, struct list *l, bool in)
{
	const struct graph_edges *e;

	if (!node_is(node) || !l->count || (l->data && !l->node))
		return CUDA_ERROR_INVALID_VALUE;
	e = in ? &node->in : &node->out;
	if (is_lossy(l, e))
		return CUDA_ERROR_LOSSY_QUERY;
	list_open(l);
	for (unsigned i = 0; i < e->count; i++)
		list_add(l, e->at[i].node, NULL, &e->at[i].data);
	return list_close(l);
}

#define EDGES(symbol, is_in)                                                   \
	CUresult symbol(CUgraphNode hNode, CUgraphNode *nodes, size_t *count)  \
	{                                                                      \
		struct list l = {.node = nodes, .count = count};               \
                                                                               \
		ENTER(symbol);                                                 \
		return GRAPH_LOCKED(list_edges(hNode, &l, is_in));             \
	}                                                                      \
	CUresult symbol##_v2(CUgraphNode hNode, CUgraphNode *nodes,            \
			     CUgraphEdgeData *edgeData, size_t *count)         \
	{                                                                      \
		struct list l = {                                              \
		    .node = nodes, .data = edgeData, .count = count};          \
                                                                               \
		ENTER(symbol##_v2);                                            \
		return GRAPH_LOCKED(list_edges(hNode, &l, is_in));             \
	}

EDGES(cuGraphNodeGetDependencies, true)
EDGES(cuGraphNodeGetDependentNodes, false)
#undef EDGES

static CUresult get_type(CUgraphNode node, CUgraphNodeType *ret_type)
{
	if (!node_is(node) || !ret_type)
		return CUDA_ERROR_INVALID_VALUE;
	*ret_type = node->params.type;
	return CUDA_SUCCESS;
}

CUresult cuGraphNodeGetType(CUgraphNode hNode, CUgraphNodeType *type)
{
	ENTER(cuGraphNodeGetType);
	return GRAPH_LOCKED(get_type(hNode, type));
}
