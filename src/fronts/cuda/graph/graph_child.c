/* SPDX-License-Identifier: Apache-2.0 */
/* graph_child.c - child graphs: nodes that contain a graph. */
#include "fronts/cuda/graph/graph_kind.h"

static bool is_inside(CUgraph graph, CUgraph of)
{
	for (; graph; graph = graph->parent ? graph->parent->graph : NULL)
		if (graph == of)
			return true;
	return false;
}

static bool is_in_body(CUgraph graph)
{
	for (; graph->parent; graph = graph->parent->graph)
		if (graph->parent->params.type ==
		    CU_GRAPH_NODE_TYPE_CONDITIONAL)
			return true;
	return false;
}

/*
 * Whether all nodes of a graph are allowed in the body of a conditional node.
 */
static bool fits_in_body(CUgraph graph)
{
	for (CUgraphNode n = graph->first; n; n = n->next)
		if (!node_kind(n)->in_body ||
		    (n->params.type == CU_GRAPH_NODE_TYPE_GRAPH &&
		     !fits_in_body(n->params.graph.graph)))
			return false;
	return true;
}

static CUresult hold_child(CUgraphNode node, CUgraph child)
{
	child->parent = node;
	node->params.graph.graph = child;
	return CUDA_SUCCESS;
}

/*
 * Memory and conditions belong to one graph, so a graph that has either can
 * only be moved, not cloned.
 */
CUresult child_node_take(CUgraphNode node, CUgraphNodeParams *given)
{
	const CUDA_CHILD_GRAPH_NODE_PARAMS *p = &given->graph;
	CUgraph copy;
	CUresult r;

	if (!graph_is(p->graph) || p->graph->capture ||
	    is_inside(node->graph, p->graph))
		return CUDA_ERROR_INVALID_VALUE;
	if (is_in_body(node->graph) && !fits_in_body(p->graph))
		return CUDA_ERROR_NOT_SUPPORTED;
	if (p->ownership == CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE)
		return p->graph->parent || p->graph->is_exec || p->graph->execs
			   ? CUDA_ERROR_INVALID_VALUE
			   : hold_child(node, p->graph);
	if (p->ownership != CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE)
		return CUDA_ERROR_INVALID_VALUE;
	if (p->graph->has_memory || graph_has_conditions(p->graph))
		return CUDA_ERROR_NOT_SUPPORTED;
	r = graph_copy(p->graph, false, &copy);
	return r ? r : hold_child(node, copy);
}

CUresult child_node_copy(CUgraphNode node, CUgraphNode from)
{
	CUgraph copy;
	CUresult r =
	    graph_copy(from->params.graph.graph, node->graph->is_exec, &copy);

	node->params.graph = from->params.graph;
	return r ? r : hold_child(node, copy);
}

void child_node_drop(CUgraphNode node)
{
	graph_free(node->params.graph.graph);
}
