/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph_id.c - implements the functions of CUDA 13.1 and 13.2 that return the
 * numbers of graphs and nodes, and facts about a node.
 */
#include "fronts/cuda/graph/graph.h"
#include "fronts/cuda/module/module_use.h"

static CUresult get_graph_id(CUgraph graph, unsigned int *ret_id)
{
	if (!graph_is(graph) || !ret_id)
		return CUDA_ERROR_INVALID_VALUE;
	*ret_id = graph->id;
	return CUDA_SUCCESS;
}

CUresult cuGraphGetId(CUgraph hGraph, unsigned int *graphId)
{
	ENTER(cuGraphGetId);
	return GRAPH_LOCKED(get_graph_id(hGraph, graphId));
}

/* An instance has the number of its private copy of the graph. */
static CUresult get_exec_id(CUgraphExec exec, unsigned int *ret_id)
{
	return exec_is(exec) ? get_graph_id(exec->exec->graph, ret_id)
			     : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGraphExecGetId(CUgraphExec hGraphExec, unsigned int *graphId)
{
	ENTER(cuGraphExecGetId);
	return GRAPH_LOCKED(get_exec_id(hGraphExec, graphId));
}

static CUresult get_node_id(CUgraphNode node, unsigned int *ret_id)
{
	if (!node_is(node) || !ret_id)
		return CUDA_ERROR_INVALID_VALUE;
	*ret_id = node->id;
	return CUDA_SUCCESS;
}

CUresult cuGraphNodeGetLocalId(CUgraphNode hNode, unsigned int *nodeId)
{
	ENTER(cuGraphNodeGetLocalId);
	return GRAPH_LOCKED(get_node_id(hNode, nodeId));
}

/* Combines the numbers of graph and node, which makes the result unique. */
static CUresult get_tools_id(CUgraphNode node, unsigned long long *ret_id)
{
	if (!node_is(node) || !ret_id)
		return CUDA_ERROR_INVALID_VALUE;
	*ret_id = (unsigned long long)node->graph->id << 32 | node->id;
	return CUDA_SUCCESS;
}

CUresult cuGraphNodeGetToolsId(CUgraphNode hNode,
			       unsigned long long *toolsNodeId)
{
	ENTER(cuGraphNodeGetToolsId);
	return GRAPH_LOCKED(get_tools_id(hNode, toolsNodeId));
}

static CUresult get_graph(CUgraphNode node, CUgraph *ret_graph)
{
	if (!node_is(node) || !ret_graph)
		return CUDA_ERROR_INVALID_VALUE;
	*ret_graph = node->graph;
	return CUDA_SUCCESS;
}

CUresult cuGraphNodeGetContainingGraph(CUgraphNode hNode, CUgraph *phGraph)
{
	ENTER(cuGraphNodeGetContainingGraph);
	return GRAPH_LOCKED(get_graph(hNode, phGraph));
}

/* Pointers in the result point to data that the node owns. */
static CUresult get_params(CUgraphNode node, CUgraphNodeParams *ret_params)
{
	if (!node_is(node) || !ret_params)
		return CUDA_ERROR_INVALID_VALUE;
	*ret_params = node->params;
	return CUDA_SUCCESS;
}

CUresult cuGraphNodeGetParams(CUgraphNode hNode, CUgraphNodeParams *nodeParams)
{
	ENTER(cuGraphNodeGetParams);
	return GRAPH_LOCKED(get_params(hNode, nodeParams));
}
