/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph_calls.c - the entry points that add, read and change nodes of graphs
 * and of instances. They convert all parameters to CUgraphNodeParams.
 */
#include "fronts/cuda/graph/graph.h"
#include "fronts/cuda/module/module_use.h"

#include <string.h>

/* ---- adding ---- */

static CUresult add_to_graph(CUgraphNode *ret_node, CUgraph graph,
			     const struct graph_deps *deps,
			     CUgraphNodeParams *params)
{
	if (!ret_node || !graph_is(graph) || graph->is_exec)
		return CUDA_ERROR_INVALID_VALUE;
	return graph_add(graph, deps, params, ret_node);
}

static CUresult add_by(enum cuda_row row, CUgraphNode *ret_node, CUgraph graph,
		       const struct graph_deps *deps, CUgraphNodeParams *params)
{
	READS_CODE;
	CUresult r = front_enter(row);

	if (!r)
		r = params ? GRAPH_LOCKED(
				 add_to_graph(ret_node, graph, deps, params))
			   : CUDA_ERROR_INVALID_VALUE;
	if (r == CUDA_ERROR_NOT_SUPPORTED)
		front_count_refusal(row);
	return r;
}

/*
 * Defines a function that adds a node: ADD(symbol, its further parameters, a
 * condition that they must meet, node type, member of CUgraphNodeParams to set,
 * value of that member).
 */
#define ADD(symbol, given, valid, kind, member, ...)                           \
	CUresult symbol(CUgraphNode *phGraphNode, CUgraph hGraph,              \
			const CUgraphNode *dependencies,                       \
			size_t numDependencies, UNWRAP given)                  \
	{                                                                      \
		const struct graph_deps deps = {dependencies, NULL,            \
						numDependencies};              \
		CUgraphNodeParams p = {.type = CU_GRAPH_NODE_TYPE_##kind};     \
                                                                               \
		if (valid)                                                     \
			p.member = (__typeof__(p.member))__VA_ARGS__;          \
		return add_by(ROW_##symbol, phGraphNode, hGraph, &deps,        \
			      (valid) ? &p : NULL);                            \
	}

/* The fields that both versions of the struct have. */
#define KERNEL_V1(p)                                                           \
	.func = (p)->func, .gridDimX = (p)->gridDimX,                          \
	.gridDimY = (p)->gridDimY, .gridDimZ = (p)->gridDimZ,                  \
	.blockDimX = (p)->blockDimX, .blockDimY = (p)->blockDimY,              \
	.blockDimZ = (p)->blockDimZ, .sharedMemBytes = (p)->sharedMemBytes,    \
	.kernelParams = (p)->kernelParams, .extra = (p)->extra
#define KERNEL_V2(p) KERNEL_V1(p), .kern = (p)->kern, .ctx = (p)->ctx
#define MEMSET_V1(p)                                                           \
	.dst = (p)->dst, .pitch = (p)->pitch, .value = (p)->value,             \
	.elementSize = (p)->elementSize, .width = (p)->width,                  \
	.height = (p)->height
#define VALUES(p)                                                              \
	.ctx = (p)->ctx, .count = (p)->count, .paramArray = (p)->paramArray,   \
	.flags = (p)->flags

/* clang-format off */
ADD(cuGraphAddKernelNode, (const CUDA_KERNEL_NODE_PARAMS_v1 *nodeParams),
    nodeParams, KERNEL, kernel, {KERNEL_V1(nodeParams)})
ADD(cuGraphAddKernelNode_v2, (const CUDA_KERNEL_NODE_PARAMS *nodeParams),
    nodeParams, KERNEL, kernel, {KERNEL_V2(nodeParams)})
ADD(cuGraphAddMemcpyNode, (const CUDA_MEMCPY3D *copyParams, CUcontext ctx),
    copyParams, MEMCPY, memcpy, {.copyCtx = ctx, .copyParams = *copyParams})
ADD(cuGraphAddMemsetNode,
    (const CUDA_MEMSET_NODE_PARAMS *memsetParams, CUcontext ctx),
    memsetParams, MEMSET, memset, {MEMSET_V1(memsetParams), .ctx = ctx})
ADD(cuGraphAddHostNode, (const CUDA_HOST_NODE_PARAMS *nodeParams),
    nodeParams, HOST, host, {nodeParams->fn, nodeParams->userData})
ADD(cuGraphAddChildGraphNode, (CUgraph childGraph),
    true, GRAPH, graph, {childGraph, CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE})
ADD(cuGraphAddEventRecordNode, (CUevent event),
    true, EVENT_RECORD, eventRecord, {event})
ADD(cuGraphAddEventWaitNode, (CUevent event),
    true, WAIT_EVENT, eventWait, {event})
ADD(cuGraphAddBatchMemOpNode, (const CUDA_BATCH_MEM_OP_NODE_PARAMS *nodeParams),
    nodeParams, BATCH_MEM_OP, memOp, {VALUES(nodeParams)})
ADD(cuGraphAddMemFreeNode, (CUdeviceptr dptr), true, MEM_FREE, free, {dptr})
/* clang-format on */

CUresult cuGraphAddEmptyNode(CUgraphNode *phGraphNode, CUgraph hGraph,
			     const CUgraphNode *dependencies,
			     size_t numDependencies)
{
	const struct graph_deps deps = {dependencies, NULL, numDependencies};
	CUgraphNodeParams p = {.type = CU_GRAPH_NODE_TYPE_EMPTY};

	return add_by(ROW_cuGraphAddEmptyNode, phGraphNode, hGraph, &deps, &p);
}

/* Stores the address of the memory in the caller's parameters. */
CUresult cuGraphAddMemAllocNode(CUgraphNode *phGraphNode, CUgraph hGraph,
				const CUgraphNode *dependencies,
				size_t numDependencies,
				CUDA_MEM_ALLOC_NODE_PARAMS *nodeParams)
{
	const struct graph_deps deps = {dependencies, NULL, numDependencies};
	CUgraphNodeParams p = {.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC};
	CUresult r;

	if (nodeParams)
		memcpy(&p.alloc, nodeParams, sizeof p.alloc);
	r = add_by(ROW_cuGraphAddMemAllocNode, phGraphNode, hGraph, &deps,
		   nodeParams ? &p : NULL);
	if (!r)
		nodeParams->dptr = p.alloc.dptr;
	return r;
}

/* Whether all bytes that the node type does not use are zero. */
static bool is_clean(const CUgraphNodeParams *p)
{
	const unsigned char *bytes = (const unsigned char *)p;
	size_t used = offsetof(CUgraphNodeParams, kernel);

	if (p->reserved0[0] || p->reserved0[1] || p->reserved0[2] ||
	    (unsigned)p->type >= GRAPH_KINDS)
		return false;
	for (used += graph_kinds[p->type].size; used < sizeof *p; used++)
		if (bytes[used])
			return false;
	return true;
}

CUresult cuGraphAddNode(CUgraphNode *phGraphNode, CUgraph hGraph,
			const CUgraphNode *dependencies, size_t numDependencies,
			CUgraphNodeParams *nodeParams)
{
	const struct graph_deps deps = {dependencies, NULL, numDependencies};

	return add_by(ROW_cuGraphAddNode, phGraphNode, hGraph, &deps,
		      nodeParams && is_clean(nodeParams) ? nodeParams : NULL);
}

CUresult cuGraphAddNode_v2(CUgraphNode *phGraphNode, CUgraph hGraph,
			   const CUgraphNode *dependencies,
			   const CUgraphEdgeData *dependencyData,
			   size_t numDependencies,
			   CUgraphNodeParams *nodeParams)
{
	const struct graph_deps deps = {dependencies, dependencyData,
					numDependencies};

	return add_by(ROW_cuGraphAddNode_v2, phGraphNode, hGraph, &deps,
		      nodeParams && is_clean(nodeParams) ? nodeParams : NULL);
}

/* ---- reading ---- */

static CUresult read_params(CUgraphNode node, CUgraphNodeType type,
			    size_t offset, void *ret_params, size_t size)
{
	if (!node_is(node) || node->params.type != type || !ret_params)
		return CUDA_ERROR_INVALID_VALUE;
	memcpy(ret_params, (const char *)&node->params + offset, size);
	return CUDA_SUCCESS;
}

/* Each of these structs is a prefix of its newest version. */
#define GET(symbol, struct_type, kind, member)                                 \
	CUresult symbol(CUgraphNode hNode, struct_type *ret_params)            \
	{                                                                      \
		ENTER(symbol);                                                 \
		return GRAPH_LOCKED(                                           \
		    read_params(hNode, CU_GRAPH_NODE_TYPE_##kind,              \
				offsetof(CUgraphNodeParams, member),           \
				ret_params, sizeof *ret_params));              \
	}

GET(cuGraphKernelNodeGetParams, CUDA_KERNEL_NODE_PARAMS_v1, KERNEL, kernel)
GET(cuGraphKernelNodeGetParams_v2, CUDA_KERNEL_NODE_PARAMS, KERNEL, kernel)
GET(cuGraphMemcpyNodeGetParams, CUDA_MEMCPY3D, MEMCPY, memcpy.copyParams)
GET(cuGraphMemsetNodeGetParams, CUDA_MEMSET_NODE_PARAMS, MEMSET, memset)
GET(cuGraphHostNodeGetParams, CUDA_HOST_NODE_PARAMS, HOST, host)
GET(cuGraphBatchMemOpNodeGetParams, CUDA_BATCH_MEM_OP_NODE_PARAMS, BATCH_MEM_OP,
    memOp)
GET(cuGraphMemAllocNodeGetParams, CUDA_MEM_ALLOC_NODE_PARAMS, MEM_ALLOC, alloc)
GET(cuGraphMemFreeNodeGetParams, CUdeviceptr, MEM_FREE, free.dptr)
GET(cuGraphEventRecordNodeGetEvent, CUevent, EVENT_RECORD, eventRecord.event)
GET(cuGraphEventWaitNodeGetEvent, CUevent, WAIT_EVENT, eventWait.event)
GET(cuGraphChildGraphNodeGetGraph, CUgraph, GRAPH, graph.graph)

/* ---- changing ---- */

static CUresult set_params(CUgraphNode node, CUgraphNodeParams *params)
{
	return node_is(node) ? node_set(node, params)
			     : CUDA_ERROR_INVALID_VALUE;
}

static CUresult set_by(enum cuda_row row, CUgraphNode node,
		       CUgraphNodeParams *params)
{
	READS_CODE;
	CUresult r = front_enter(row);

	if (!r)
		r = params ? GRAPH_LOCKED(set_params(node, params))
			   : CUDA_ERROR_INVALID_VALUE;
	if (r == CUDA_ERROR_NOT_SUPPORTED)
		front_count_refusal(row);
	return r;
}

static CUresult exec_set_by(enum cuda_row row, CUgraphExec exec,
			    CUgraphNode node, CUgraphNodeParams *params)
{
	READS_CODE;
	CUresult r = front_enter(row);

	if (!r && !params)
		r = CUDA_ERROR_INVALID_VALUE;
	if (r)
		return r;
	exec_settle(exec);
	r = GRAPH_LOCKED(exec_set(exec, node, params));
	if (r == CUDA_ERROR_NOT_SUPPORTED)
		front_count_refusal(row);
	return r;
}

/* Returns the node's present context, for calls without a context parameter. */
static CUcontext context_of(CUgraphNode node)
{
	return node_is(node) ? node->ctx : NULL;
}

#define PARAMS(valid, kind, member, ...)                                       \
	CUgraphNodeParams p = {.type = CU_GRAPH_NODE_TYPE_##kind};             \
                                                                               \
	if (valid)                                                             \
		p.member = (__typeof__(p.member))__VA_ARGS__;
#define SET(symbol, given, valid, kind, member, ...)                           \
	CUresult symbol(CUgraphNode hNode, UNWRAP given)                       \
	{                                                                      \
		PARAMS(valid, kind, member, __VA_ARGS__)                       \
		return set_by(ROW_##symbol, hNode, (valid) ? &p : NULL);       \
	}
#define EXEC_SET(symbol, given, valid, kind, member, ...)                      \
	CUresult symbol(CUgraphExec hGraphExec, CUgraphNode hNode,             \
			UNWRAP given)                                          \
	{                                                                      \
		PARAMS(valid, kind, member, __VA_ARGS__)                       \
		return exec_set_by(ROW_##symbol, hGraphExec, hNode,            \
				   (valid) ? &p : NULL);                       \
	}

/* clang-format off */
SET(cuGraphKernelNodeSetParams, (const CUDA_KERNEL_NODE_PARAMS_v1 *nodeParams),
    nodeParams, KERNEL, kernel, {KERNEL_V1(nodeParams)})
SET(cuGraphKernelNodeSetParams_v2, (const CUDA_KERNEL_NODE_PARAMS *nodeParams),
    nodeParams, KERNEL, kernel, {KERNEL_V2(nodeParams)})
SET(cuGraphMemcpyNodeSetParams, (const CUDA_MEMCPY3D *nodeParams),
    nodeParams, MEMCPY, memcpy,
    {.copyCtx = context_of(hNode), .copyParams = *nodeParams})
SET(cuGraphMemsetNodeSetParams, (const CUDA_MEMSET_NODE_PARAMS *nodeParams),
    nodeParams, MEMSET, memset,
    {MEMSET_V1(nodeParams), .ctx = context_of(hNode)})
SET(cuGraphHostNodeSetParams, (const CUDA_HOST_NODE_PARAMS *nodeParams),
    nodeParams, HOST, host, {nodeParams->fn, nodeParams->userData})
SET(cuGraphBatchMemOpNodeSetParams,
    (const CUDA_BATCH_MEM_OP_NODE_PARAMS *nodeParams),
    nodeParams, BATCH_MEM_OP, memOp, {VALUES(nodeParams)})
SET(cuGraphEventRecordNodeSetEvent, (CUevent event),
    true, EVENT_RECORD, eventRecord, {event})
SET(cuGraphEventWaitNodeSetEvent, (CUevent event),
    true, WAIT_EVENT, eventWait, {event})

EXEC_SET(cuGraphExecKernelNodeSetParams,
	 (const CUDA_KERNEL_NODE_PARAMS_v1 *nodeParams),
	 nodeParams, KERNEL, kernel, {KERNEL_V1(nodeParams)})
EXEC_SET(cuGraphExecKernelNodeSetParams_v2,
	 (const CUDA_KERNEL_NODE_PARAMS *nodeParams),
	 nodeParams, KERNEL, kernel, {KERNEL_V2(nodeParams)})
EXEC_SET(cuGraphExecMemcpyNodeSetParams,
	 (const CUDA_MEMCPY3D *copyParams, CUcontext ctx),
	 copyParams, MEMCPY, memcpy,
	 {.copyCtx = ctx ? ctx : context_of(hNode), .copyParams = *copyParams})
EXEC_SET(cuGraphExecMemsetNodeSetParams,
	 (const CUDA_MEMSET_NODE_PARAMS *memsetParams, CUcontext ctx),
	 memsetParams, MEMSET, memset,
	 {MEMSET_V1(memsetParams), .ctx = ctx ? ctx : context_of(hNode)})
EXEC_SET(cuGraphExecHostNodeSetParams,
	 (const CUDA_HOST_NODE_PARAMS *nodeParams),
	 nodeParams, HOST, host, {nodeParams->fn, nodeParams->userData})
EXEC_SET(cuGraphExecChildGraphNodeSetParams, (CUgraph childGraph),
	 true, GRAPH, graph,
	 {childGraph, CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE})
EXEC_SET(cuGraphExecEventRecordNodeSetEvent, (CUevent event),
	 true, EVENT_RECORD, eventRecord, {event})
EXEC_SET(cuGraphExecEventWaitNodeSetEvent, (CUevent event),
	 true, WAIT_EVENT, eventWait, {event})
EXEC_SET(cuGraphExecBatchMemOpNodeSetParams,
	 (const CUDA_BATCH_MEM_OP_NODE_PARAMS *nodeParams),
	 nodeParams, BATCH_MEM_OP, memOp, {VALUES(nodeParams)})
/* clang-format on */

CUresult cuGraphNodeSetParams(CUgraphNode hNode, CUgraphNodeParams *nodeParams)
{
	return set_by(ROW_cuGraphNodeSetParams, hNode,
		      nodeParams && is_clean(nodeParams) ? nodeParams : NULL);
}

CUresult cuGraphExecNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
				  CUgraphNodeParams *nodeParams)
{
	return exec_set_by(ROW_cuGraphExecNodeSetParams, hGraphExec, hNode,
			   nodeParams && is_clean(nodeParams) ? nodeParams
							      : NULL);
}
