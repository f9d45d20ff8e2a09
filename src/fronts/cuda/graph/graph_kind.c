/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph_kind.c - owns the table of node types, and implements the simple types:
 * checks and copies their parameters and makes their tasks.
 */
#include "fronts/cuda/graph/graph_kind.h"
#include "base/assert.h"
#include "fronts/cuda/memory/copy.h"
#include "fronts/cuda/stream/stream_private.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- copies ---- */

static CUresult take_memcpy(CUgraphNode node, CUgraphNodeParams *given)
{
	const CUDA_MEMCPY_NODE_PARAMS *p = &given->memcpy;
	const CUDA_MEMCPY3D *c = &p->copyParams;
	struct copy copy;
	CUresult r;

	if (p->flags || p->reserved || !c->WidthInBytes || !c->Height ||
	    !c->Depth)
		return CUDA_ERROR_INVALID_VALUE;
	r = copy_3d_find(c, &copy);
	if (!r)
		r = node_context(node, p->copyCtx);
	if (r)
		return r;
	node->params.memcpy = *p;
	node->params.memcpy.copyCtx = node->ctx;
	return CUDA_SUCCESS;
}

/*
 * Fails if the memory was freed. On a real device the copy itself would fail.
 */
static CUresult make_memcpy(CUgraphNode node, struct gkf_task **ret_task)
{
	struct copy copy;
	CUresult r = copy_3d_find(&node->params.memcpy.copyParams, &copy);

	if (r)
		return r;
	*ret_task = copy_make(&copy);
	return *ret_task ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

static bool is_row(const CUDA_MEMCPY3D *c)
{
	return c->Height == 1 && c->Depth == 1;
}

/*
 * Compares everything except addresses, field by field because structs have
 * padding.
 */
static bool has_same_shape(const CUDA_MEMCPY3D *a, const CUDA_MEMCPY3D *b)
{
	return a->WidthInBytes == b->WidthInBytes && a->Height == b->Height &&
	       a->Depth == b->Depth && a->srcXInBytes == b->srcXInBytes &&
	       a->srcY == b->srcY && a->srcZ == b->srcZ &&
	       a->srcLOD == b->srcLOD && a->srcPitch == b->srcPitch &&
	       a->srcHeight == b->srcHeight &&
	       a->dstXInBytes == b->dstXInBytes && a->dstY == b->dstY &&
	       a->dstZ == b->dstZ && a->dstLOD == b->dstLOD &&
	       a->dstPitch == b->dstPitch && a->dstHeight == b->dstHeight;
}

static CUgraphExecUpdateResult change_memcpy(CUgraphNode node, CUgraphNode to)
{
	const CUDA_MEMCPY3D *a = &node->params.memcpy.copyParams;
	const CUDA_MEMCPY3D *b = &to->params.memcpy.copyParams;

	if (node->ctx != to->ctx || a->srcMemoryType != b->srcMemoryType ||
	    a->dstMemoryType != b->dstMemoryType)
		return CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
	if (is_row(a) && is_row(b))
		return CU_GRAPH_EXEC_UPDATE_SUCCESS;
	return has_same_shape(a, b)
		   ? CU_GRAPH_EXEC_UPDATE_SUCCESS
		   : CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
}

static void print_memcpy(CUgraphNode node, FILE *file)
{
	const CUDA_MEMCPY3D *c = &node->params.memcpy.copyParams;

	fprintf(file, "|{src|%p}|{dst|%p}|{bytes|%zu x %zu x %zu}",
		c->srcArray    ? (void *)c->srcArray
		: c->srcDevice ? (void *)(uintptr_t)c->srcDevice
			       : (void *)(uintptr_t)c->srcHost,
		c->dstArray    ? (void *)c->dstArray
		: c->dstDevice ? (void *)(uintptr_t)c->dstDevice
			       : c->dstHost,
		c->WidthInBytes, c->Height, c->Depth);
}

/* ---- memsets ---- */

static struct memset_ask ask_of(const CUDA_MEMSET_NODE_PARAMS_v2 *p)
{
	return (struct memset_ask){.at = p->dst,
				   .pitch = p->height > 1 ? p->pitch : 0,
				   .width = p->width,
				   .height = p->height,
				   .size = p->elementSize,
				   .value = p->value};
}

static CUresult make_memset(CUgraphNode node, struct gkf_task **ret_task)
{
	const struct memset_ask ask = ask_of(&node->params.memset);
	struct copy_side side;

	return memset_make(&ask, &side, ret_task);
}

static CUresult take_memset(CUgraphNode node, CUgraphNodeParams *given)
{
	const CUDA_MEMSET_NODE_PARAMS_v2 *p = &given->memset;
	const struct memset_ask ask = ask_of(p);
	struct copy_side side;
	struct gkf_task *task;
	CUresult r;

	if (!p->width || !p->height ||
	    (p->elementSize != 1 && p->elementSize != 2 && p->elementSize != 4))
		return CUDA_ERROR_INVALID_VALUE;
	r = memset_make(&ask, &side, &task);
	if (r)
		return r;
	gkf_task_free(task);
	r = node_context(node, p->ctx);
	if (r)
		return r;
	node->params.memset = *p;
	node->params.memset.ctx = node->ctx;
	return CUDA_SUCCESS;
}

/* If the memory has several rows, only the address and the value may change. */
static CUgraphExecUpdateResult change_memset(CUgraphNode node, CUgraphNode to)
{
	const CUDA_MEMSET_NODE_PARAMS_v2 *a = &node->params.memset,
					 *b = &to->params.memset;
	bool same = a->width == b->width && a->pitch == b->pitch &&
		    a->elementSize == b->elementSize;

	return node->ctx == to->ctx && a->height == b->height &&
		       (a->height == 1 || same)
		   ? CU_GRAPH_EXEC_UPDATE_SUCCESS
		   : CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
}

static void print_memset(CUgraphNode node, FILE *file)
{
	const CUDA_MEMSET_NODE_PARAMS_v2 *p = &node->params.memset;

	fprintf(file, "|{dst|%#" PRIx64 "}|{value|%u}|{values|%zu x %zu, %u}",
		(uint64_t)p->dst, p->value, p->width, p->height,
		p->elementSize);
}

/* ---- host functions ---- */

static CUresult take_host(CUgraphNode node, CUgraphNodeParams *given)
{
	if (!given->host.fn)
		return CUDA_ERROR_INVALID_VALUE;
	node->params.host = given->host;
	return CUDA_SUCCESS;
}

static CUresult make_host(CUgraphNode node, struct gkf_task **ret_task)
{
	*ret_task =
	    hostfunc_make(node->params.host.fn, node->params.host.userData);
	return *ret_task ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

static void print_host(CUgraphNode node, FILE *file)
{
	fprintf(file, "|{fn|%p}|{userData|%p}", (void *)node->params.host.fn,
		node->params.host.userData);
}

/* ---- empty nodes, events ---- */

static CUresult take_empty(CUgraphNode node, CUgraphNodeParams *given)
{
	(void)node;
	(void)given;
	return CUDA_SUCCESS;
}

static CUresult take_event(CUgraphNode node, CUgraphNodeParams *given)
{
	struct gkf_ticket ticket;
	CUresult r = event_check(given->eventRecord.event, &ticket);

	/* The parameters for recording and for waiting have the same layout. */
	if (r)
		return CUDA_ERROR_INVALID_VALUE;
	node->params.eventRecord = given->eventRecord;
	if (node->params.type != CU_GRAPH_NODE_TYPE_EVENT_RECORD)
		return CUDA_SUCCESS;
	node->ctx = event_context(given->eventRecord.event);
	node->ctx_id = node->ctx->id;
	return CUDA_SUCCESS;
}

static void print_event(CUgraphNode node, FILE *file)
{
	fprintf(file, "|{event|%p}", (void *)node->params.eventRecord.event);
}

/* ---- words in memory ---- */

static CUresult take_values(CUgraphNode node, CUgraphNodeParams *given)
{
	const CUDA_BATCH_MEM_OP_NODE_PARAMS_v2 *p = &given->memOp;
	CUstreamBatchMemOpParams *own;
	CUresult r;

	if (p->flags || !p->count)
		return CUDA_ERROR_INVALID_VALUE;
	r = values_check(p->paramArray, p->count);
	if (!r)
		r = node_context(node, p->ctx);
	if (r)
		return r;
	own = malloc(p->count * sizeof(*own));
	if (!own)
		return CUDA_ERROR_OUT_OF_MEMORY;
	memcpy(own, p->paramArray, p->count * sizeof(*own));
	node->params.memOp = *p;
	node->params.memOp.ctx = node->ctx;
	node->params.memOp.paramArray = own;
	node->own = own;
	return CUDA_SUCCESS;
}

static void free_own(CUgraphNode node)
{
	free(node->own);
}

static CUresult make_values(CUgraphNode node, struct gkf_task **ret_task)
{
	*ret_task = values_make(node->params.memOp.paramArray,
				node->params.memOp.count);
	return *ret_task ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

/* Only the addresses and values of the operations may change. */
static CUgraphExecUpdateResult change_values(CUgraphNode node, CUgraphNode to)
{
	const CUDA_BATCH_MEM_OP_NODE_PARAMS_v2 *a = &node->params.memOp,
					       *b = &to->params.memOp;

	if (a->count != b->count || a->ctx != b->ctx)
		return CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
	for (unsigned i = 0; i < a->count; i++)
		if (a->paramArray[i].operation != b->paramArray[i].operation)
			return CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
	return CU_GRAPH_EXEC_UPDATE_SUCCESS;
}

static void print_values(CUgraphNode node, FILE *file)
{
	fprintf(file, "|{operations|%u}", node->params.memOp.count);
}

#define DOT(name)    CU_GRAPH_DEBUG_DOT_FLAGS_##name
#define SIZE(member) sizeof(((CUgraphNodeParams *)0)->member)

/* There are no rows for external semaphores, which are not supported. */
const struct graph_kind graph_kinds[GRAPH_KINDS] = {
    [CU_GRAPH_NODE_TYPE_KERNEL] = {.name = "KERNEL",
				   .size = SIZE(kernel),
				   .take = kernel_node_take,
				   .copy = kernel_node_copy,
				   .drop = kernel_node_drop,
				   .keep = kernel_node_keep,
				   .task = kernel_node_task,
				   .change = kernel_node_change,
				   .print = kernel_node_print,
				   .dot_flags = DOT(KERNEL_NODE_PARAMS) |
						DOT(KERNEL_NODE_ATTRIBUTES),
				   .in_body = true,
				   .can_rest = true},
    [CU_GRAPH_NODE_TYPE_MEMCPY] = {.name = "MEMCPY",
				   .size = SIZE(memcpy),
				   .take = take_memcpy,
				   .task = make_memcpy,
				   .change = change_memcpy,
				   .print = print_memcpy,
				   .dot_flags = DOT(MEMCPY_NODE_PARAMS),
				   .in_body = true,
				   .can_rest = true},
    [CU_GRAPH_NODE_TYPE_MEMSET] = {.name = "MEMSET",
				   .size = SIZE(memset),
				   .take = take_memset,
				   .task = make_memset,
				   .change = change_memset,
				   .print = print_memset,
				   .dot_flags = DOT(MEMSET_NODE_PARAMS),
				   .in_body = true,
				   .can_rest = true},
    [CU_GRAPH_NODE_TYPE_HOST] = {.name = "HOST",
				 .size = SIZE(host),
				 .take = take_host,
				 .task = make_host,
				 .print = print_host,
				 .dot_flags = DOT(HOST_NODE_PARAMS)},
    [CU_GRAPH_NODE_TYPE_GRAPH] = {.name = "GRAPH",
				  .size = SIZE(graph),
				  .take = child_node_take,
				  .copy = child_node_copy,
				  .drop = child_node_drop,
				  .in_body = true},
    [CU_GRAPH_NODE_TYPE_EMPTY] = {.name = "EMPTY",
				  .take = take_empty,
				  .in_body = true},
    [CU_GRAPH_NODE_TYPE_WAIT_EVENT] = {.name = "EVENT_WAIT",
				       .size = SIZE(eventWait),
				       .take = take_event,
				       .print = print_event,
				       .dot_flags = DOT(EVENT_NODE_PARAMS)},
    [CU_GRAPH_NODE_TYPE_EVENT_RECORD] = {.name = "EVENT_RECORD",
					 .size = SIZE(eventRecord),
					 .take = take_event,
					 .print = print_event,
					 .dot_flags = DOT(EVENT_NODE_PARAMS)},
    [CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL] = {.name = "EXT_SEMAS_SIGNAL",
					     .size = SIZE(extSemSignal)},
    [CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT] = {.name = "EXT_SEMAS_WAIT",
					   .size = SIZE(extSemWait)},
    [CU_GRAPH_NODE_TYPE_MEM_ALLOC] = {.name = "MEM_ALLOC",
				      .size = SIZE(alloc),
				      .take = alloc_node_take,
				      .copy = alloc_node_copy,
				      .drop = alloc_node_drop,
				      .print = alloc_node_print,
				      .dot_flags = DOT(MEM_ALLOC_NODE_PARAMS),
				      .is_fixed = true},
    [CU_GRAPH_NODE_TYPE_MEM_FREE] = {.name = "MEM_FREE",
				     .size = SIZE(free),
				     .take = free_node_take,
				     .copy = free_node_copy,
				     .drop = free_node_drop,
				     .print = free_node_print,
				     .dot_flags = DOT(MEM_FREE_NODE_PARAMS),
				     .is_fixed = true},
    [CU_GRAPH_NODE_TYPE_BATCH_MEM_OP] = {.name = "BATCH_MEM_OP",
					 .size = SIZE(memOp),
					 .take = take_values,
					 .drop = free_own,
					 .task = make_values,
					 .change = change_values,
					 .print = print_values,
					 .dot_flags =
					     DOT(BATCH_MEM_OP_NODE_PARAMS)},
    [CU_GRAPH_NODE_TYPE_CONDITIONAL] = {.name = "CONDITIONAL",
					.size = SIZE(conditional),
					.take = conditional_node_take,
					.copy = conditional_node_copy,
					.drop = conditional_node_drop,
					.task = conditional_node_task,
					.print = conditional_node_print,
					.dot_flags =
					    DOT(CONDITIONAL_NODE_PARAMS),
					.is_fixed = true,
					.in_body = true},
};

CUresult graph_add(CUgraph graph, const struct graph_deps *deps,
		   CUgraphNodeParams *params, CUgraphNode *ret_node)
{
	GK_ASSERT(gk_lock_held(&graph_mutex));
	if ((unsigned)params->type >= GRAPH_KINDS ||
	    !graph_kinds[params->type].name)
		return CUDA_ERROR_INVALID_VALUE;
	return node_add(graph, &graph_kinds[params->type], deps, params,
			ret_node);
}
