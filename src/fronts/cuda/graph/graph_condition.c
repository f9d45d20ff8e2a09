/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph_condition.c - conditional nodes: a value set by kernels decides which
 * body runs when the node is reached.
 *
 * The node's task starts a body, which runs in streams of its own; the node's
 * queue waits until the body is done.
 */
#include "fronts/cuda/graph/graph_kind.h"
#include "fronts/cuda/module/module_use.h"
#include "fronts/cuda/stream/stream_private.h"

#include <stdlib.h>

struct condition *condition_of(CUgraphConditionalHandle handle)
{
	struct condition *c = (struct condition *)(uintptr_t)handle;

	return handle_is(c, HANDLE_CONDITION) ? c : NULL;
}

bool condition_set(uint64_t handle, uint32_t value)
{
	struct condition *c = condition_of(handle);

	if (c)
		atomic_store(&c->value, value);
	return c;
}

static CUresult new_condition(CUgraphConditionalHandle *ret_handle,
			      CUgraph graph, CUcontext given, unsigned value,
			      unsigned flags)
{
	struct condition *c;
	CUcontext ctx;
	CUresult r;

	if (!ret_handle || !graph_is(graph) || graph->is_exec ||
	    flags & ~(unsigned)CU_GRAPH_COND_ASSIGN_DEFAULT)
		return CUDA_ERROR_INVALID_VALUE;
	r = ctx_of(given, &ctx);
	if (r)
		return r;
	c = handle_new(HANDLE_CONDITION, sizeof(*c));
	if (!c)
		return CUDA_ERROR_OUT_OF_MEMORY;
	c->holders = 1;
	c->graph = graph;
	c->ctx = ctx;
	c->ctx_id = ctx->id;
	c->default_value = value;
	c->has_default = flags & CU_GRAPH_COND_ASSIGN_DEFAULT;
	c->next = graph->conditions;
	graph->conditions = c;
	*ret_handle = (uintptr_t)c;
	return CUDA_SUCCESS;
}

CUresult cuGraphConditionalHandleCreate(CUgraphConditionalHandle *pHandle_out,
					CUgraph hGraph, CUcontext ctx,
					unsigned int defaultLaunchValue,
					unsigned int flags)
{
	ENTER(cuGraphConditionalHandleCreate);
	return GRAPH_LOCKED(
	    new_condition(pHandle_out, hGraph, ctx, defaultLaunchValue, flags));
}

/* Includes the conditions of child graphs and bodies. */
void condition_begin(CUgraph graph)
{
	const struct conditional *bodies;

	for (struct condition *c = graph->conditions; c; c = c->next)
		if (c->has_default)
			atomic_store(&c->value, c->default_value);
	for (CUgraphNode n = graph->first; n; n = n->next) {
		if (n->params.type == CU_GRAPH_NODE_TYPE_GRAPH)
			condition_begin(n->params.graph.graph);
		if (n->params.type != CU_GRAPH_NODE_TYPE_CONDITIONAL)
			continue;
		bodies = n->own;
		for (unsigned i = 0; i < bodies->count; i++)
			condition_begin(bodies->body[i]);
	}
}

/* ---- nodes ---- */

static bool is_size(CUgraphConditionalNodeType type, unsigned size)
{
	switch (type) {
	case CU_GRAPH_COND_TYPE_IF:
		return size == 1 || size == 2;
	case CU_GRAPH_COND_TYPE_WHILE:
		return size == 1;
	case CU_GRAPH_COND_TYPE_SWITCH:
		return size > 0 && size <= 4096;
	}
	return false;
}

static struct conditional *new_conditional(unsigned count)
{
	struct conditional *c = calloc(1, sizeof *c);

	if (!c)
		return NULL;
	c->count = count;
	c->body = calloc(count, sizeof *c->body);
	c->plan = calloc(count, sizeof(struct graph_plan *));
	if (c->body && c->plan)
		return c;
	free(c->body);
	free(c->plan);
	free(c);
	return NULL;
}

static void free_conditional(struct conditional *c)
{
	for (unsigned i = 0; i < c->count; i++) {
		plan_free(c->plan[i]);
		if (c->body[i])
			graph_free(c->body[i]);
	}
	free(c->body);
	free(c->plan);
	free(c);
}

/* Creates empty bodies or, if `of` is not NULL, copies the bodies of `of`. */
static CUresult fill_conditional(CUgraphNode node, const struct conditional *of)
{
	struct conditional *c = node->own;
	CUresult r = CUDA_SUCCESS;

	for (unsigned i = 0; !r && i < c->count; i++) {
		r = of ? graph_copy(of->body[i], true, &c->body[i])
		       : graph_new(&c->body[i]);
		if (!r)
			c->body[i]->parent = node;
	}
	if (r) {
		free_conditional(c);
		return r;
	}
	node->params.conditional.phGraph_out = c->body;
	return CUDA_SUCCESS;
}

/*
 * Whether `graph` is `around` or lies inside it. If so, `graph` is freed no
 * later than `around`.
 */
static bool is_around(CUgraph around, CUgraph graph)
{
	while (graph != around && graph->parent)
		graph = graph->parent->graph;
	return graph == around;
}

CUresult conditional_node_take(CUgraphNode node, CUgraphNodeParams *given)
{
	CUDA_CONDITIONAL_NODE_PARAMS *p = &given->conditional;
	struct condition *c = condition_of(p->handle);
	CUresult r;

	if (!c || c->node || !is_around(c->graph, node->graph) ||
	    (p->ctx && p->ctx != c->ctx) || !is_size(p->type, p->size))
		return CUDA_ERROR_INVALID_VALUE;
	r = node_context(node, c->ctx);
	if (r)
		return r;
	node->params.conditional = *p;
	node->params.conditional.ctx = node->ctx;
	node->own = new_conditional(p->size);
	if (!node->own)
		return CUDA_ERROR_OUT_OF_MEMORY;
	r = fill_conditional(node, NULL);
	if (r)
		return r;
	c->node = node;
	p->phGraph_out = node->params.conditional.phGraph_out;
	return CUDA_SUCCESS;
}

CUresult conditional_node_copy(CUgraphNode node, CUgraphNode from)
{
	const struct conditional *of = from->own;

	node->params.conditional = from->params.conditional;
	node->ctx = from->ctx;
	node->ctx_id = from->ctx_id;
	node->own = new_conditional(of->count);
	return node->own ? fill_conditional(node, of)
			 : CUDA_ERROR_OUT_OF_MEMORY;
}

void conditional_node_drop(CUgraphNode node)
{
	struct condition *c = condition_of(node->params.conditional.handle);

	if (c && c->node == node)
		c->node = NULL;
	free_conditional(node->own);
}

void conditional_node_print(CUgraphNode node, FILE *file)
{
	static const char *const types[] = {"IF", "WHILE", "SWITCH"};
	const CUDA_CONDITIONAL_NODE_PARAMS *p = &node->params.conditional;

	fprintf(file, "|{handle|%#llx}|{type|%s}|{size|%u}",
		(unsigned long long)p->handle, types[p->type], p->size);
}

/* ---- running ---- */

struct conditional_task {
	struct gkf_task task;
	CUgraphNode node;
	bool is_begun;
	struct gkf_ticket body; /* ticket of the running body */
};

/* Returns the body that the value selects; NULL: none. */
static struct graph_plan *choose_body(CUgraphNode node, unsigned value)
{
	const CUDA_CONDITIONAL_NODE_PARAMS *p = &node->params.conditional;
	const struct conditional *c = node->own;

	switch (p->type) {
	case CU_GRAPH_COND_TYPE_IF:
		if (!value)
			return c->count == 2 ? c->plan[1] : NULL;
		return c->plan[0];
	case CU_GRAPH_COND_TYPE_WHILE:
		return value ? c->plan[0] : NULL;
	case CU_GRAPH_COND_TYPE_SWITCH:
		break;
	}
	return value < c->count ? c->plan[value] : NULL;
}

static CUresult begin_body(struct conditional_task *t, struct graph_plan *plan)
{
	CUresult r = plan_make(plan);

	if (r)
		return r;
	plan_push(plan, NULL);
	t->body = gkf_queue_ticket(plan_queue(plan, 0));
	return CUDA_SUCCESS;
}

/* Runs one body after another until the condition selects none. */
static int run_conditional(struct gkf_task *task)
{
	READS_CODE;
	struct conditional_task *t = (struct conditional_task *)task;
	const struct condition *c;
	struct graph_plan *plan;
	CUresult r;

	if (t->is_begun && !gkf_ticket_done(t->body))
		return GKF_TASK_AGAIN;
	if (t->is_begun &&
	    t->node->params.conditional.type != CU_GRAPH_COND_TYPE_WHILE)
		return 0;
	/*
	 * Conditions of an outer graph do not exist in an instance of its child
	 * graph.
	 */
	c = condition_of(t->node->params.conditional.handle);
	if (!c)
		return CUDA_ERROR_ILLEGAL_ADDRESS;
	plan = choose_body(t->node, atomic_load(&c->value));
	if (!plan)
		return 0;
	t->is_begun = true;
	r = GRAPH_LOCKED(begin_body(t, plan));
	return r ? (int)r : GKF_TASK_AGAIN;
}

CUresult conditional_node_task(CUgraphNode node, struct gkf_task **ret_task)
{
	struct conditional_task *t = gkf_task_new(sizeof(*t));

	if (!t)
		return CUDA_ERROR_OUT_OF_MEMORY;
	t->task.run = run_conditional;
	t->node = node;
	t->is_begun = false;
	*ret_task = &t->task;
	return CUDA_SUCCESS;
}
