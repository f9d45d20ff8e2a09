/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph_exec_node.c - changes, disables and enables nodes of instances, which
 * it finds by the nodes of the original graph.
 */
#include "base/assert.h"
#include "fronts/cuda/graph/graph.h"

static CUgraphNode find_node(CUgraph graph, CUgraphNode original)
{
	CUgraphNode found = NULL;
	const struct conditional *c;

	for (CUgraphNode n = graph->first; n && !found; n = n->next) {
		if (n->original == original &&
		    n->original_life == handle_life(original))
			return n;
		if (n->params.type == CU_GRAPH_NODE_TYPE_GRAPH)
			found = find_node(n->params.graph.graph, original);
		c = n->own;
		if (n->params.type == CU_GRAPH_NODE_TYPE_CONDITIONAL)
			for (unsigned i = 0; i < c->count && !found; i++)
				found = find_node(c->body[i], original);
	}
	return found;
}

/*
 * Tries the latest copy of the node first, which is nearly always the right
 * one.
 */
CUgraphNode exec_node(CUgraphExec exec, CUgraphNode node)
{
	CUgraphNode copy = node->pair;

	GK_ASSERT(gk_lock_held(&graph_mutex));
	if (node_is(copy) && copy->original == node &&
	    copy->original_life == handle_life(node) &&
	    graph_root(copy->graph) == exec->exec->graph)
		return copy;
	return find_node(exec->exec->graph, node);
}

CUresult exec_set(CUgraphExec exec, CUgraphNode node, CUgraphNodeParams *params)
{
	struct CUgraphNode_st fresh;
	CUgraphNode own;
	CUresult r;

	GK_ASSERT(gk_lock_held(&graph_mutex));
	if (!exec_is(exec) || !node_is(node) ||
	    node->params.type != params->type)
		return CUDA_ERROR_INVALID_VALUE;
	own = exec_node(exec, node);
	if (!own)
		return CUDA_ERROR_INVALID_VALUE;
	if (params->type == CU_GRAPH_NODE_TYPE_GRAPH)
		return graph_is(params->graph.graph)
			   ? graph_update(own->params.graph.graph,
					  params->graph.graph,
					  &(CUgraphExecUpdateResultInfo){0})
			   : CUDA_ERROR_INVALID_VALUE;
	r = node_prepare(own, params, &fresh);
	if (r)
		return r;
	if (node_kind(own)->change && node_kind(own)->change(own, &fresh)) {
		node_drop(&fresh);
		return CUDA_ERROR_INVALID_VALUE;
	}
	node_take_over(own, &fresh);
	return CUDA_SUCCESS;
}

static CUresult find_resting(CUgraphExec exec, CUgraphNode node,
			     CUgraphNode *ret_own)
{
	if (!exec_is(exec) || !node_is(node) || !node_kind(node)->can_rest)
		return CUDA_ERROR_INVALID_VALUE;
	*ret_own = exec_node(exec, node);
	return *ret_own ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static CUresult set_enabled(CUgraphExec exec, CUgraphNode node, unsigned on)
{
	CUgraphNode own;
	CUresult r = find_resting(exec, node, &own);

	if (!r)
		own->disabled = !on;
	return r;
}

CUresult cuGraphNodeSetEnabled(CUgraphExec hGraphExec, CUgraphNode hNode,
			       unsigned int isEnabled)
{
	ENTER(cuGraphNodeSetEnabled);
	exec_settle(hGraphExec);
	return GRAPH_LOCKED(set_enabled(hGraphExec, hNode, isEnabled));
}

static CUresult get_enabled(CUgraphExec exec, CUgraphNode node,
			    unsigned *ret_on)
{
	CUgraphNode own;
	CUresult r = find_resting(exec, node, &own);

	if (!r && !ret_on)
		r = CUDA_ERROR_INVALID_VALUE;
	if (!r)
		*ret_on = !own->disabled;
	return r;
}

CUresult cuGraphNodeGetEnabled(CUgraphExec hGraphExec, CUgraphNode hNode,
			       unsigned int *isEnabled)
{
	ENTER(cuGraphNodeGetEnabled);
	return GRAPH_LOCKED(get_enabled(hGraphExec, hNode, isEnabled));
}
