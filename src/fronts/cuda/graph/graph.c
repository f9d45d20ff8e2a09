/* SPDX-License-Identifier: Apache-2.0 */
/* graph.c - owns graphs and their nodes: makes, copies and frees them. */
#include "fronts/cuda/graph/graph_kind.h"
#include "base/assert.h"
#include "fronts/cuda/graph/capture.h"
#include "fronts/cuda/module/module_use.h"

#include <stdlib.h>
#include <string.h>

/* ---- nodes ---- */

/* Sets the context of a node; NULL means the current context. */
CUresult node_context(CUgraphNode node, CUcontext given)
{
	CUcontext ctx;
	CUresult r = ctx_of(given, &ctx);

	if (r)
		return r;
	node->ctx = ctx;
	node->ctx_id = ctx->id;
	return CUDA_SUCCESS;
}

bool node_context_lives(CUgraphNode node)
{
	return !node->ctx || (node->ctx->id == node->ctx_id &&
			      atomic_load(&node->ctx->alive));
}

void node_drop(CUgraphNode node)
{
	GK_ASSERT(gk_lock_held(&graph_mutex));
	if (node_kind(node)->drop)
		node_kind(node)->drop(node);
}

static void link_node(CUgraphNode node, CUgraph graph)
{
	node->graph = graph;
	node->id = graph->next_id++;
	node->at = graph->end;
	*graph->end = node;
	graph->end = &node->next;
	graph->count++;
}

static void unlink_node(CUgraphNode node)
{
	*node->at = node->next;
	if (node->next)
		node->next->at = node->at;
	else
		node->graph->end = node->at;
	node->graph->count--;
}

/* Frees a node without removing it from its neighbours' edges. */
static void free_node(CUgraphNode node)
{
	node_drop(node);
	free(node->in.at);
	free(node->out.at);
	handle_free(node);
}

static void cut_edges(CUgraphNode node)
{
	for (unsigned i = 0; i < node->in.count; i++)
		edges_remove(&node->in.at[i].node->out, node);
	for (unsigned i = 0; i < node->out.count; i++)
		edges_remove(&node->out.at[i].node->in, node);
}

static void end_node(CUgraphNode node)
{
	cut_edges(node);
	unlink_node(node);
	free_node(node);
}

/*
 * Bodies of conditional nodes accept only nodes that run entirely on a device.
 */
static bool is_kind_allowed(CUgraph graph, const struct graph_kind *kind)
{
	for (; graph->parent; graph = graph->parent->graph)
		if (graph->parent->params.type ==
			CU_GRAPH_NODE_TYPE_CONDITIONAL &&
		    !kind->in_body)
			return false;
	return true;
}

static bool has_memory(CUgraphNode node)
{
	CUgraphNodeType type = node->params.type;

	if (type == CU_GRAPH_NODE_TYPE_GRAPH)
		return node->params.graph.graph->has_memory;
	return type == CU_GRAPH_NODE_TYPE_MEM_ALLOC ||
	       type == CU_GRAPH_NODE_TYPE_MEM_FREE;
}

static void mark_memory(CUgraphNode node)
{
	CUgraph graph = node->graph;

	if (!has_memory(node))
		return;
	graph->has_memory = true;
	while (graph->parent) {
		graph = graph->parent->graph;
		graph->has_memory = true;
	}
}

static CUresult new_node(CUgraph graph, const struct graph_kind *kind,
			 CUgraphNodeType type, CUgraphNode *ret_node)
{
	CUgraphNode node = handle_new(HANDLE_NODE, sizeof(*node));

	if (!node)
		return CUDA_ERROR_OUT_OF_MEMORY;
	node->graph = graph;
	node->kind = kind;
	node->params.type = type;
	*ret_node = node;
	return CUDA_SUCCESS;
}

CUresult node_add(CUgraph graph, const struct graph_kind *kind,
		  const struct graph_deps *deps, CUgraphNodeParams *params,
		  CUgraphNode *ret_node)
{
	CUgraphNode node;
	CUresult r;

	GK_ASSERT(gk_lock_held(&graph_mutex));
	r = graph_check_deps(graph, deps, params->type);
	if (r)
		return r;
	if (!kind->take || !is_kind_allowed(graph, kind))
		return CUDA_ERROR_NOT_SUPPORTED;
	r = new_node(graph, kind, params->type, &node);
	if (r)
		return r;
	r = kind->take(node, params);
	if (r) {
		handle_free(node);
		return r;
	}
	link_node(node, graph);
	for (size_t i = 0; !r && i < deps->count; i++)
		r = edge_add(deps->node[i], node, edge_data_at(deps->data, i));
	if (r) {
		end_node(node);
		return r;
	}
	mark_memory(node);
	*ret_node = node;
	return CUDA_SUCCESS;
}

CUresult node_prepare(CUgraphNode node, CUgraphNodeParams *params,
		      CUgraphNode ret_fresh)
{
	const struct graph_kind *kind = node_kind(node);
	struct CUgraphNode_st fresh = {
	    .graph = node->graph, .kind = kind, .params.type = params->type};
	CUresult r;

	GK_ASSERT(gk_lock_held(&graph_mutex));
	if (params->type != node->params.type)
		return CUDA_ERROR_INVALID_VALUE;
	if (kind->is_fixed || !kind->take)
		return CUDA_ERROR_NOT_SUPPORTED;
	r = kind->take(&fresh, params);
	if (r)
		return r;
	r = kind->keep ? kind->keep(&fresh, node) : CUDA_SUCCESS;
	if (r)
		node_drop(&fresh);
	else
		*ret_fresh = fresh;
	return r;
}

void node_take_over(CUgraphNode node, CUgraphNode fresh)
{
	GK_ASSERT(gk_lock_held(&graph_mutex));
	GK_ASSERT(node->kind == fresh->kind);
	node_drop(node);
	node->params = fresh->params;
	node->own = fresh->own;
	node->ctx = fresh->ctx;
	node->ctx_id = fresh->ctx_id;
	if (node->params.type == CU_GRAPH_NODE_TYPE_GRAPH)
		node->params.graph.graph->parent = node;
}

CUresult node_set(CUgraphNode node, CUgraphNodeParams *params)
{
	struct CUgraphNode_st fresh;
	CUresult r;

	GK_ASSERT(gk_lock_held(&graph_mutex));
	/* A child graph that allocates or frees memory cannot be replaced. */
	if (has_memory(node))
		return CUDA_ERROR_NOT_SUPPORTED;
	r = node_prepare(node, params, &fresh);
	if (r)
		return r;
	node_take_over(node, &fresh);
	mark_memory(node);
	return CUDA_SUCCESS;
}

/* ---- graphs ---- */

CUresult graph_new(CUgraph *ret_graph)
{
	static unsigned made;
	CUgraph graph = handle_new(HANDLE_GRAPH, sizeof(*graph));

	GK_ASSERT(gk_lock_held(&graph_mutex));
	if (!graph)
		return CUDA_ERROR_OUT_OF_MEMORY;
	graph->id = ++made;
	graph->end = &graph->first;
	*ret_graph = graph;
	return CUDA_SUCCESS;
}

static void drop_conditions(CUgraph graph)
{
	struct condition *next;

	for (struct condition *c = graph->conditions; c; c = next) {
		next = c->next;
		if (!--c->holders)
			handle_free(c);
	}
}

/*
 * Adds references to a graph's conditions and returns their list, so that two
 * graphs share it. New conditions are added at the front, so the shared part
 * never changes.
 */
static struct condition *hold_conditions(CUgraph graph)
{
	for (struct condition *c = graph->conditions; c; c = c->next)
		c->holders++;
	return graph->conditions;
}

void graph_take_conditions(CUgraph graph, CUgraph of)
{
	struct condition *held = hold_conditions(of);

	GK_ASSERT(gk_lock_held(&graph_mutex));
	drop_conditions(graph);
	graph->conditions = held;
}

void graph_free(CUgraph graph)
{
	CUgraphNode next;

	GK_ASSERT(gk_lock_held(&graph_mutex));
	if (graph->capture)
		capture_lose_graph(graph->capture);
	for (CUgraphNode node = graph->first; node; node = next) {
		next = node->next;
		free_node(node);
	}
	drop_conditions(graph);
	graph_objects_drop(graph);
	handle_free(graph);
}

static CUresult copy_node(CUgraphNode node, CUgraph to)
{
	const struct graph_kind *kind = node_kind(node);
	CUgraphNode copy;
	CUresult r = new_node(to, kind, node->params.type, &copy);

	if (r)
		return r;
	r = kind->copy ? kind->copy(copy, node)
		       : kind->take(copy, &node->params);
	if (r) {
		handle_free(copy);
		return r;
	}
	copy->original = node;
	copy->original_life = handle_life(node);
	copy->disabled = node->disabled;
	link_node(copy, to);
	node->pair = copy;
	return CUDA_SUCCESS;
}

static CUresult copy_edges(CUgraph graph)
{
	CUresult r = CUDA_SUCCESS;

	for (CUgraphNode n = graph->first; n; n = n->next)
		for (unsigned i = 0; !r && i < n->in.count; i++)
			r = edge_add(n->in.at[i].node->pair, n->pair,
				     n->in.at[i].data);
	return r;
}

CUresult graph_copy(CUgraph graph, bool is_exec, CUgraph *ret_graph)
{
	CUgraph copy;
	CUresult r = graph_new(&copy);

	GK_ASSERT(gk_lock_held(&graph_mutex));
	if (r)
		return r;
	copy->is_exec = is_exec;
	copy->has_memory = graph->has_memory;
	copy->original = graph;
	copy->original_life = handle_life(graph);
	copy->conditions = is_exec ? hold_conditions(graph) : NULL;
	r = graph_objects_copy(graph, copy);
	for (CUgraphNode n = graph->first; !r && n; n = n->next)
		r = copy_node(n, copy);
	if (!r)
		r = copy_edges(graph);
	if (r)
		graph_free(copy);
	else
		*ret_graph = copy;
	return r;
}

/* ---- entry points ---- */

CUresult cuGraphCreate(CUgraph *phGraph, unsigned int flags)
{
	ENTER(cuGraphCreate);
	if (!phGraph || flags)
		return CUDA_ERROR_INVALID_VALUE;
	return GRAPH_LOCKED(graph_new(phGraph));
}

/*
 * Programs may not destroy child graphs, the copies that belong to instances,
 * or graphs being captured.
 */
static bool is_free_graph(CUgraph graph)
{
	return graph_is(graph) && !graph->parent && !graph->is_exec &&
	       !graph->capture;
}

static CUresult destroy_graph(CUgraph graph)
{
	if (!is_free_graph(graph))
		return CUDA_ERROR_INVALID_VALUE;
	graph_free(graph);
	return CUDA_SUCCESS;
}

CUresult cuGraphDestroy(CUgraph hGraph)
{
	ENTER(cuGraphDestroy);
	return GRAPH_LOCKED(destroy_graph(hGraph));
}

bool graph_has_conditions(CUgraph graph)
{
	GK_ASSERT(gk_lock_held(&graph_mutex));
	for (CUgraphNode n = graph->first; n; n = n->next)
		if (n->params.type == CU_GRAPH_NODE_TYPE_CONDITIONAL ||
		    (n->params.type == CU_GRAPH_NODE_TYPE_GRAPH &&
		     graph_has_conditions(n->params.graph.graph)))
			return true;
	return graph->conditions;
}

static CUresult clone_graph(CUgraph *ret_clone, CUgraph graph)
{
	if (!ret_clone || !graph_is(graph) || graph->has_memory)
		return CUDA_ERROR_INVALID_VALUE;
	/*
	 * The kernels have the handles of conditions among their parameters, so
	 * the clone would use the conditions of the original.
	 */
	if (graph_has_conditions(graph)) {
		front_count_refusal(ROW_cuGraphClone);
		return CUDA_ERROR_NOT_SUPPORTED;
	}
	return graph_copy(graph, false, ret_clone);
}

CUresult cuGraphClone(CUgraph *phGraphClone, CUgraph originalGraph)
{
	READS_CODE;

	ENTER(cuGraphClone);
	return GRAPH_LOCKED(clone_graph(phGraphClone, originalGraph));
}

/* Searches the graph and all its child graphs. */
static CUgraphNode find_copy(CUgraph graph, CUgraphNode original)
{
	CUgraphNode found = NULL;

	for (CUgraphNode n = graph->first; n && !found; n = n->next) {
		if (n->original == original &&
		    n->original_life == handle_life(original))
			found = n;
		else if (n->params.type == CU_GRAPH_NODE_TYPE_GRAPH)
			found = find_copy(n->params.graph.graph, original);
	}
	return found;
}

static CUresult find_in_clone(CUgraphNode *ret_node, CUgraphNode original,
			      CUgraph clone)
{
	CUgraphNode found;

	if (!ret_node || !node_is(original) || !graph_is(clone))
		return CUDA_ERROR_INVALID_VALUE;
	found = find_copy(clone, original);
	if (!found)
		return CUDA_ERROR_INVALID_VALUE;
	*ret_node = found;
	return CUDA_SUCCESS;
}

CUresult cuGraphNodeFindInClone(CUgraphNode *phNode, CUgraphNode hOriginalNode,
				CUgraph hClonedGraph)
{
	ENTER(cuGraphNodeFindInClone);
	return GRAPH_LOCKED(find_in_clone(phNode, hOriginalNode, hClonedGraph));
}

/* A node cannot be destroyed if its graph allocates or frees memory. */
static CUresult destroy_node(CUgraphNode node)
{
	if (!node_is(node) || node->graph->has_memory || node->graph->capture)
		return CUDA_ERROR_INVALID_VALUE;
	end_node(node);
	return CUDA_SUCCESS;
}

CUresult cuGraphDestroyNode(CUgraphNode hNode)
{
	ENTER(cuGraphDestroyNode);
	return GRAPH_LOCKED(destroy_node(hNode));
}
