/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph_update.c - gives an instance the parameters of another graph of the
 * same form. Nodes are paired from the last ones backwards; all checks precede
 * all changes.
 */
#include "base/assert.h"
#include "fronts/cuda/graph/graph_kind.h"
#include "fronts/cuda/module/module_use.h"

#include <stdlib.h>

/* The first difference found, and the nodes concerned. */
struct trouble {
	CUgraphExecUpdateResult result;
	CUgraphNode node, from;
};

static bool tell_trouble(struct trouble *t, CUgraphExecUpdateResult result,
			 CUgraphNode node)
{
	t->result = result;
	t->node = node;
	return false;
}

/* ---- pairing nodes ---- */

/* Paired nodes whose dependencies are still to be paired. */
struct layers {
	CUgraphNode *waiting; /* nodes of the instance */
	unsigned count;
	struct trouble *trouble;
};

static bool lay_pair(struct layers *l, CUgraphNode own, CUgraphNode other)
{
	own->pair = other;
	other->pair = own;
	l->waiting[l->count++] = own;
	return own->in.count == other->in.count ||
	       tell_trouble(l->trouble,
			    CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, other);
}

static bool lay_edge(struct layers *l, CUgraphNode own, CUgraphNode other,
		     CUgraphNode to)
{
	if (own->pair == other && other->pair == own)
		return true;
	if (!own->pair && !other->pair)
		return lay_pair(l, own, other);
	l->trouble->from = other;
	return tell_trouble(l->trouble,
			    CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, to);
}

static bool lay_waiting(struct layers *l)
{
	CUgraphNode own, other;
	bool ok = true;

	while (ok && l->count) {
		own = l->waiting[--l->count];
		other = own->pair;
		for (unsigned i = 0; ok && i < own->in.count; i++)
			ok = lay_edge(l, own->in.at[i].node,
				      other->in.at[i].node, other);
	}
	return ok;
}

static CUgraphNode next_exit(CUgraphNode node)
{
	while (node && node->out.count)
		node = node->next;
	return node;
}

static void forget_pairs(CUgraph graph)
{
	for (CUgraphNode n = graph->first; n; n = n->next)
		n->pair = NULL;
}

static bool lay_exits(struct layers *l, CUgraph own, CUgraph other)
{
	CUgraphNode a = next_exit(own->first), b = next_exit(other->first);
	bool ok = true;

	for (; ok && a && b; a = next_exit(a->next), b = next_exit(b->next))
		ok = lay_pair(l, a, b) && lay_waiting(l);
	return ok && (a || b)
		   ? tell_trouble(l->trouble,
				  CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED,
				  b)
		   : ok;
}

static bool lay_graphs(CUgraph own, CUgraph other, struct trouble *t)
{
	struct layers l = {.trouble = t};
	bool ok;

	if (own->count != other->count)
		return tell_trouble(
		    t, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, NULL);
	l.waiting = malloc((own->count + 1) * sizeof(*l.waiting));
	if (!l.waiting)
		return tell_trouble(t, CU_GRAPH_EXEC_UPDATE_ERROR, NULL);
	forget_pairs(own);
	forget_pairs(other);
	ok = lay_exits(&l, own, other);
	free(l.waiting);
	return ok;
}

/* ---- changing nodes ---- */

static bool check_graphs(CUgraph own, CUgraph other, struct trouble *t);
static CUresult change_graphs(CUgraph own, CUgraph other);

static bool is_part(CUgraphNode node)
{
	return node->params.type == CU_GRAPH_NODE_TYPE_GRAPH;
}

static bool is_conditional(CUgraphNode node)
{
	return node->params.type == CU_GRAPH_NODE_TYPE_CONDITIONAL;
}

/*
 * The type and the number of bodies must match; the contents of the bodies may
 * change.
 */
static bool check_bodies(CUgraphNode own, CUgraphNode other, struct trouble *t)
{
	const struct conditional *a = own->own, *b = other->own;
	bool ok = true;

	if (own->params.conditional.type != other->params.conditional.type ||
	    a->count != b->count)
		return tell_trouble(
		    t, CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED, other);
	for (unsigned i = 0; ok && i < a->count; i++)
		ok = check_graphs(a->body[i], b->body[i], t);
	return ok;
}

/*
 * Memory nodes cannot change, so the other node must be the original of this
 * one.
 */
static bool check_memory(CUgraphNode own, CUgraphNode other, struct trouble *t)
{
	return own->original == other ||
	       tell_trouble(t, CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED, other);
}

static bool check_change(CUgraphNode own, CUgraphNode other, struct trouble *t)
{
	CUgraphExecUpdateResult r = node_kind(own)->change
					? node_kind(own)->change(own, other)
					: CU_GRAPH_EXEC_UPDATE_SUCCESS;

	return !r || tell_trouble(t, r, other);
}

static bool check_node(CUgraphNode own, CUgraphNode other, struct trouble *t)
{
	if (own->params.type != other->params.type)
		return tell_trouble(
		    t, CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED, other);
	if (is_part(own))
		return check_graphs(own->params.graph.graph,
				    other->params.graph.graph, t);
	if (is_conditional(own))
		return check_bodies(own, other, t);
	return node_kind(own)->is_fixed ? check_memory(own, other, t)
					: check_change(own, other, t);
}

static bool check_graphs(CUgraph own, CUgraph other, struct trouble *t)
{
	bool ok = lay_graphs(own, other, t);

	for (CUgraphNode n = own->first; ok && n; n = n->next)
		ok = check_node(n, n->pair, t);
	return ok;
}

static CUresult change_bodies(CUgraphNode own, CUgraphNode other)
{
	const struct conditional *a = own->own, *b = other->own;
	CUresult r = CUDA_SUCCESS;

	own->params.conditional.handle = other->params.conditional.handle;
	for (unsigned i = 0; !r && i < a->count; i++)
		r = change_graphs(a->body[i], b->body[i]);
	return r;
}

/* Copies the parameters of `other` to `own`, a node of the instance. */
static CUresult change_node(CUgraphNode own, CUgraphNode other)
{
	struct CUgraphNode_st fresh = {.graph = own->graph,
				       .kind = own->kind,
				       .params.type = own->params.type};
	CUresult r;

	if (is_part(own))
		return change_graphs(own->params.graph.graph,
				     other->params.graph.graph);
	if (is_conditional(own))
		return change_bodies(own, other);
	if (node_kind(own)->is_fixed)
		return CUDA_SUCCESS;
	r = node_kind(own)->copy ? node_kind(own)->copy(&fresh, other)
				 : node_kind(own)->take(&fresh, &other->params);
	if (r)
		return r;
	node_take_over(own, &fresh);
	return CUDA_SUCCESS;
}

static CUresult change_graphs(CUgraph own, CUgraph other)
{
	CUresult r = CUDA_SUCCESS;

	graph_take_conditions(own, other);

	for (CUgraphNode n = own->first; !r && n; n = n->next)
		r = change_node(n, n->pair);
	return r;
}

CUresult graph_update(CUgraph graph, CUgraph to,
		      CUgraphExecUpdateResultInfo *ret_info)
{
	struct trouble t = {CU_GRAPH_EXEC_UPDATE_SUCCESS, NULL, NULL};
	CUresult r;

	GK_ASSERT(gk_lock_held(&graph_mutex));
	if (!check_graphs(graph, to, &t)) {
		*ret_info =
		    (CUgraphExecUpdateResultInfo){t.result, t.node, t.from};
		return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
	}
	r = change_graphs(graph, to);
	*ret_info = (CUgraphExecUpdateResultInfo){
	    r ? CU_GRAPH_EXEC_UPDATE_ERROR : CU_GRAPH_EXEC_UPDATE_SUCCESS, NULL,
	    NULL};
	return r;
}

/*
 * The bodies of conditional nodes read their nodes while they run, so this
 * waits for the last launch.
 */
void exec_settle(CUgraphExec handle)
{
	struct gkf_ticket last = {0};

	pthread_mutex_lock(&graph_mutex);
	if (exec_is(handle) && handle->exec->has_conditions)
		last = handle->exec->last;
	pthread_mutex_unlock(&graph_mutex);
	if (!gkf_ticket_done(last))
		gkf_ticket_wait(last);
}

/* ---- entry points ---- */

static CUresult update_exec(CUgraphExec exec, CUgraph graph,
			    CUgraphExecUpdateResultInfo *ret_info)
{
	if (!exec_is(exec) || !graph_is(graph) || graph->capture) {
		ret_info->result = CU_GRAPH_EXEC_UPDATE_ERROR;
		return CUDA_ERROR_INVALID_VALUE;
	}
	return graph_update(exec->exec->graph, graph, ret_info);
}

CUresult cuGraphExecUpdate_v2(CUgraphExec hGraphExec, CUgraph hGraph,
			      CUgraphExecUpdateResultInfo *resultInfo)
{
	READS_CODE;

	ENTER(cuGraphExecUpdate_v2);
	if (!resultInfo)
		return CUDA_ERROR_INVALID_VALUE;
	exec_settle(hGraphExec);
	return GRAPH_LOCKED(update_exec(hGraphExec, hGraph, resultInfo));
}

CUresult cuGraphExecUpdate(CUgraphExec hGraphExec, CUgraph hGraph,
			   CUgraphNode *hErrorNode_out,
			   CUgraphExecUpdateResult *updateResult_out)
{
	READS_CODE;
	CUgraphExecUpdateResultInfo info = {0};
	CUresult r;

	ENTER(cuGraphExecUpdate);
	if (!updateResult_out)
		return CUDA_ERROR_INVALID_VALUE;
	exec_settle(hGraphExec);
	r = GRAPH_LOCKED(update_exec(hGraphExec, hGraph, &info));
	*updateResult_out = info.result;
	if (hErrorNode_out)
		*hErrorNode_out = info.errorNode;
	return r;
}
