/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hook_graph.c - hooks of graphs that allocate. A driver may take their memory
 * when a node is made or when they are launched; it says how much it has
 * reserved for graphs.
 */
#include "limit/preload/memory/hook.h"

#include <sys/mman.h>

/* ---- nodes ---- */

static CUresult begin_node(struct memory_call *call, struct memory_pool *pool,
			   uint64_t bytes)
{
	CUresult r = pool_begin(call, pool, piece_most(bytes));

	if (r == CUDA_ERROR_OUT_OF_MEMORY)
		memory_refuse(pool->device, bytes);
	return r;
}

static struct memory_pool *pool_of_location(const CUmemLocation *location)
{
	return limited() && location->type == CU_MEM_LOCATION_TYPE_DEVICE
		   ? pool_find(NULL, location->id)
		   : NULL;
}

CUresult cuGraphAddMemAllocNode(CUgraphNode *phGraphNode, CUgraph hGraph,
				const CUgraphNode *dependencies,
				size_t numDependencies,
				CUDA_MEM_ALLOC_NODE_PARAMS *nodeParams)
{
	struct memory_pool *pool;
	struct memory_call call;
	CUresult r;

	if (MISSING(cuGraphAddMemAllocNode))
		return CUDA_ERROR_NO_DEVICE;
	pool = nodeParams ? pool_of_location(&nodeParams->poolProps.location)
			  : NULL;
	r = pool ? begin_node(&call, pool, nodeParams->bytesize) : CUDA_SUCCESS;
	if (r)
		return r;
	r = REAL(cuGraphAddMemAllocNode)(phGraphNode, hGraph, dependencies,
					 numDependencies, nodeParams);
	if (pool)
		pool_end(&call, pool);
	return r;
}

/* Defines hooks for adding nodes of any type, which may or may not allocate. */
#define ADD(symbol, params, values)                                            \
	CUresult symbol params                                                 \
	{                                                                      \
		struct memory_pool *pool = NULL;                               \
		struct memory_call call;                                       \
		CUresult r = CUDA_SUCCESS;                                     \
                                                                               \
		if (MISSING(symbol))                                           \
			return CUDA_ERROR_NO_DEVICE;                           \
		if (nodeParams &&                                              \
		    nodeParams->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC)          \
			pool = pool_of_location(                               \
			    &nodeParams->alloc.poolProps.location);            \
		if (pool)                                                      \
			r = begin_node(&call, pool,                            \
				       nodeParams->alloc.bytesize);            \
		if (r)                                                         \
			return r;                                              \
		r = REAL(symbol) values;                                       \
		if (pool)                                                      \
			pool_end(&call, pool);                                 \
		return r;                                                      \
	}

ADD(cuGraphAddNode,
    (CUgraphNode * phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
     size_t numDependencies, CUgraphNodeParams *nodeParams),
    (phGraphNode, hGraph, dependencies, numDependencies, nodeParams))
ADD(cuGraphAddNode_v2,
    (CUgraphNode * phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
     const CUgraphEdgeData *dependencyData, size_t numDependencies,
     CUgraphNodeParams *nodeParams),
    (phGraphNode, hGraph, dependencies, dependencyData, numDependencies,
     nodeParams))

/* ---- what an instance allocates ---- */

static uint64_t sum_nodes(CUgraph graph, CUdevice *ret_device);

static uint64_t size_node(CUgraphNode node, CUdevice *ret_device)
{
	CUDA_MEM_ALLOC_NODE_PARAMS alloc;
	CUgraphNodeType type;
	CUgraph child;

	if (REAL(cuGraphNodeGetType)(node, &type))
		return 0;
	if (type == CU_GRAPH_NODE_TYPE_GRAPH)
		return REAL(cuGraphChildGraphNodeGetGraph)(node, &child)
			   ? 0
			   : sum_nodes(child, ret_device);
	if (type != CU_GRAPH_NODE_TYPE_MEM_ALLOC ||
	    REAL(cuGraphMemAllocNodeGetParams)(node, &alloc) ||
	    alloc.poolProps.location.type != CU_MEM_LOCATION_TYPE_DEVICE)
		return 0;
	*ret_device = alloc.poolProps.location.id;
	return piece_most(alloc.bytesize);
}

/*
 * Adds up the bytes that a graph's nodes allocate. All of them count for one
 * device: that of the last node that allocates.
 */
static uint64_t sum_nodes(CUgraph graph, CUdevice *ret_device)
{
	size_t count = 0;
	CUgraphNode *nodes;
	uint64_t sum = 0;

	if (REAL(cuGraphGetNodes)(graph, NULL, &count) || !count)
		return 0;
	nodes = mmap(NULL, count * sizeof(CUgraphNode), PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (nodes == MAP_FAILED)
		return 0;
	if (!REAL(cuGraphGetNodes)(graph, nodes, &count))
		for (size_t i = 0; i < count; i++)
			sum += size_node(nodes[i], ret_device);
	munmap(nodes, count * sizeof(CUgraphNode));
	return sum;
}

static void note_exec(CUresult r, CUgraph graph, const CUgraphExec *exec)
{
	struct memory_state *s;
	struct table_row row = {0};
	CUdevice ordinal = 0;

	if (r || !graphs_allocate())
		return;
	s = memory_state();
	row.bytes = sum_nodes(graph, &ordinal);
	row.word = (uint32_t)ordinal;
	row.key = (uintptr_t)*exec;
	if (row.bytes && table_put(&s->execs, &row))
		atomic_fetch_add(&s->exec_count, 1);
}

#define INSTANTIATE(symbol, params, values)                                    \
	CUresult symbol params                                                 \
	{                                                                      \
		CUresult r;                                                    \
                                                                               \
		if (MISSING(symbol))                                           \
			return CUDA_ERROR_NO_DEVICE;                           \
		r = REAL(symbol) values;                                       \
		note_exec(r, hGraph, phGraphExec);                             \
		return r;                                                      \
	}

INSTANTIATE(cuGraphInstantiate,
	    (CUgraphExec * phGraphExec, CUgraph hGraph,
	     CUgraphNode *phErrorNode, char *logBuffer, size_t bufferSize),
	    (phGraphExec, hGraph, phErrorNode, logBuffer, bufferSize))
INSTANTIATE(cuGraphInstantiate_v2,
	    (CUgraphExec * phGraphExec, CUgraph hGraph,
	     CUgraphNode *phErrorNode, char *logBuffer, size_t bufferSize),
	    (phGraphExec, hGraph, phErrorNode, logBuffer, bufferSize))
INSTANTIATE(cuGraphInstantiateWithFlags,
	    (CUgraphExec * phGraphExec, CUgraph hGraph,
	     unsigned long long flags),
	    (phGraphExec, hGraph, flags))
INSTANTIATE(cuGraphInstantiateWithParams,
	    (CUgraphExec * phGraphExec, CUgraph hGraph,
	     CUDA_GRAPH_INSTANTIATE_PARAMS *instantiateParams),
	    (phGraphExec, hGraph, instantiateParams))
INSTANTIATE(cuGraphInstantiateWithParams_ptsz,
	    (CUgraphExec * phGraphExec, CUgraph hGraph,
	     CUDA_GRAPH_INSTANTIATE_PARAMS *instantiateParams),
	    (phGraphExec, hGraph, instantiateParams))

/* ---- launches ---- */

CUresult memory_graph_begin(CUgraphExec exec, struct memory_graph *ret_graph)
{
	struct memory_state *s = limited() ? memory_state() : NULL;
	struct memory_pool *pool;
	struct table_row row;
	CUresult r;

	ret_graph->pool = NULL;
	if (!s || !atomic_load_explicit(&s->exec_count, memory_order_relaxed) ||
	    !table_find(&s->execs, (uintptr_t)exec, &row))
		return CUDA_SUCCESS;
	pool = pool_find(NULL, (CUdevice)row.word);
	if (!pool)
		return CUDA_SUCCESS;
	/* Memory that the driver has reserved but does not use need not be
	 * reserved again. */
	ret_graph->idle = pool_claim_idle(pool, row.bytes);
	r = begin_node(&ret_graph->call, pool, row.bytes - ret_graph->idle);
	if (r)
		pool_unclaim(pool, ret_graph->idle);
	else
		ret_graph->pool = pool;
	return r;
}

void memory_graph_end(struct memory_graph *graph)
{
	if (!graph->pool)
		return;
	pool_end(&graph->call, graph->pool);
	pool_unclaim(graph->pool, graph->idle);
}

#define UPLOAD(symbol)                                                         \
	CUresult symbol(CUgraphExec hGraph, CUstream hStream)                  \
	{                                                                      \
		struct memory_graph graph;                                     \
		CUresult r;                                                    \
                                                                               \
		if (MISSING(symbol))                                           \
			return CUDA_ERROR_NO_DEVICE;                           \
		r = memory_graph_begin(hGraph, &graph);                        \
		if (r)                                                         \
			return r;                                              \
		r = REAL(symbol)(hGraph, hStream);                             \
		memory_graph_end(&graph);                                      \
		return r;                                                      \
	}

UPLOAD(cuGraphUpload)
UPLOAD(cuGraphUpload_ptsz)

/* ---- the end ---- */

/* Memory of an ended graph disappears once nothing uses it. */
static CUresult after_end(CUresult r)
{
	if (!r && graphs_allocate()) {
		for (int i = 0; i < GKL_DEVICES; i++)
			memory_expect(i, 0);
		memory_refresh_all();
	}
	return r;
}

CUresult cuGraphExecDestroy(CUgraphExec hGraphExec)
{
	struct memory_state *s = limited() ? memory_state() : NULL;
	struct table_row row;

	if (MISSING(cuGraphExecDestroy))
		return CUDA_ERROR_NO_DEVICE;
	if (s && atomic_load(&s->exec_count) &&
	    table_take(&s->execs, (uintptr_t)hGraphExec, &row))
		atomic_fetch_sub(&s->exec_count, 1);
	return after_end(REAL(cuGraphExecDestroy)(hGraphExec));
}

#define AFTER(symbol, params, values)                                          \
	CUresult symbol params                                                 \
	{                                                                      \
		return MISSING(symbol) ? CUDA_ERROR_NO_DEVICE                  \
				       : after_end(REAL(symbol) values);       \
	}

AFTER(cuDeviceGraphMemTrim, (CUdevice device), (device))
AFTER(cuGraphDestroy, (CUgraph hGraph), (hGraph))
AFTER(cuGraphDestroyNode, (CUgraphNode hNode), (hNode))
