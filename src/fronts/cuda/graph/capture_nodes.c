/* SPDX-License-Identifier: Apache-2.0 */
/* capture_nodes.c - turns the work put in captured streams into nodes. */
#include "base/assert.h"
#include "fronts/cuda/graph/capture_private.h"
#include "fronts/cuda/memory/copy.h"
#include "fronts/cuda/graph/graph_kind.h"
#include "fronts/cuda/module/launch.h"

/*
 * Adds a node to the stream's capture. The stream's next node will depend on
 * it.
 */
static CUresult add_node(CUstream s, CUgraphNodeParams *params,
			 CUgraphNode *ret_node)
{
	struct capture *c = s->capture;
	struct graph_deps deps = {s->deps.node, s->deps.data, s->deps.count};
	CUresult r;

	if (!c || c->is_invalid)
		return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
	r = graph_add(c->graph, &deps, params, ret_node);
	if (r)
		return r;
	s->deps.count = 0;
	return capture_deps_add(&s->deps, ret_node, NULL, 1);
}

static CUresult add_any(CUstream s, CUgraphNodeParams *params)
{
	CUgraphNode node;

	return add_node(s, params, &node);
}

/*
 * The node gets the context of the stream, not the current one: the stream may
 * belong to a green context.
 */
CUresult capture_kernel(CUstream s, const struct launch *l)
{
	size_t size = l->function->ptx->param_size;
	void *whole[] = {
	    CU_LAUNCH_PARAM_BUFFER_POINTER, (void *)(uintptr_t)l->buffer,
	    CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
	CUgraphNodeParams p = {.type = CU_GRAPH_NODE_TYPE_KERNEL,
			       .kernel = {.func = l->function,
					  .gridDimX = l->grid[0],
					  .gridDimY = l->grid[1],
					  .gridDimZ = l->grid[2],
					  .blockDimX = l->block[0],
					  .blockDimY = l->block[1],
					  .blockDimZ = l->block[2],
					  .sharedMemBytes = l->dynamic_shared,
					  .kernelParams = l->params,
					  .extra = l->buffer ? whole : l->extra,
					  .ctx = s->ctx}};
	CUlaunchAttribute cooperative = {.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
					 .value.cooperative = 1};
	CUlaunchAttribute priority = {.id = CU_LAUNCH_ATTRIBUTE_PRIORITY,
				      .value.priority = s->priority};
	CUgraphNode node;
	CUresult r = add_node(s, &p, &node);

	GK_ASSERT(gk_lock_held(&graph_mutex));
	if (!r)
		r = kernel_node_attribute(node, &priority);
	if (!r && l->cooperative)
		r = kernel_node_attribute(node, &cooperative);
	for (unsigned i = 0; !r && i < l->attribute_count; i++)
		if (l->attributes[i].id != CU_LAUNCH_ATTRIBUTE_IGNORE)
			r = kernel_node_attribute(node, &l->attributes[i]);
	return r;
}

static void name_source(CUDA_MEMCPY3D *p, const struct copy_side *side)
{
	p->srcMemoryType = side->array    ? CU_MEMORYTYPE_ARRAY
			   : side->device ? CU_MEMORYTYPE_DEVICE
					  : CU_MEMORYTYPE_HOST;
	p->srcArray = side->array;
	p->srcXInBytes = side->x;
	p->srcY = side->y;
	p->srcZ = side->z;
	if (side->array)
		return;
	if (side->device)
		p->srcDevice = side->address;
	else
		p->srcHost = (const void *)(uintptr_t)side->address;
	p->srcPitch = side->pitch;
	p->srcHeight = side->pitch ? side->slice / side->pitch : 0;
}

static void name_target(CUDA_MEMCPY3D *p, const struct copy_side *side)
{
	CUDA_MEMCPY3D other = {0};

	name_source(&other, side);
	p->dstMemoryType = other.srcMemoryType;
	p->dstArray = other.srcArray;
	p->dstXInBytes = other.srcXInBytes;
	p->dstY = other.srcY;
	p->dstZ = other.srcZ;
	p->dstDevice = other.srcDevice;
	p->dstHost = (void *)(uintptr_t)other.srcHost;
	p->dstPitch = other.srcPitch;
	p->dstHeight = other.srcHeight;
}

CUresult capture_copy(CUstream s, const struct copy *copy)
{
	CUgraphNodeParams p = {.type = CU_GRAPH_NODE_TYPE_MEMCPY,
			       .memcpy.copyCtx = s->ctx};
	CUDA_MEMCPY3D *c = &p.memcpy.copyParams;

	GK_ASSERT(gk_lock_held(&graph_mutex));
	c->WidthInBytes = copy->width;
	c->Height = copy->height;
	c->Depth = copy->depth;
	name_source(c, &copy->src);
	name_target(c, &copy->dst);
	return add_any(s, &p);
}

CUresult capture_memset(CUstream s, const struct memset_ask *ask)
{
	CUgraphNodeParams p = {.type = CU_GRAPH_NODE_TYPE_MEMSET,
			       .memset = {.dst = ask->at,
					  .pitch = ask->pitch,
					  .value = ask->value,
					  .elementSize = ask->size,
					  .width = ask->width,
					  .height = ask->height,
					  .ctx = s->ctx}};

	GK_ASSERT(gk_lock_held(&graph_mutex));
	return add_any(s, &p);
}

CUresult capture_host(CUstream s, CUhostFn function, void *data)
{
	CUgraphNodeParams p = {.type = CU_GRAPH_NODE_TYPE_HOST,
			       .host = {function, data}};

	GK_ASSERT(gk_lock_held(&graph_mutex));
	return add_any(s, &p);
}

CUresult capture_values(CUstream s, CUstreamBatchMemOpParams *ops,
			unsigned count)
{
	CUgraphNodeParams p = {
	    .type = CU_GRAPH_NODE_TYPE_BATCH_MEM_OP,
	    .memOp = {.ctx = s->ctx, .count = count, .paramArray = ops}};

	GK_ASSERT(gk_lock_held(&graph_mutex));
	return add_any(s, &p);
}

CUresult capture_event(CUstream s, CUevent event, CUgraphNodeType type)
{
	CUgraphNodeParams p = {.type = type, .eventRecord.event = event};

	GK_ASSERT(gk_lock_held(&graph_mutex));
	return add_any(s, &p);
}

CUresult capture_alloc(CUstream s, CUdevice device, size_t size,
		       CUdeviceptr *ret_address)
{
	CUgraphNodeParams p = {
	    .type = CU_GRAPH_NODE_TYPE_MEM_ALLOC,
	    .alloc = {.poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
				    .location = {CU_MEM_LOCATION_TYPE_DEVICE,
						 device}},
		      .bytesize = size}};
	CUresult r = add_any(s, &p);

	GK_ASSERT(gk_lock_held(&graph_mutex));
	if (!r)
		*ret_address = p.alloc.dptr;
	return r;
}

CUresult capture_free(CUstream s, CUdeviceptr address)
{
	CUgraphNodeParams p = {.type = CU_GRAPH_NODE_TYPE_MEM_FREE,
			       .free.dptr = address};

	GK_ASSERT(gk_lock_held(&graph_mutex));
	return add_any(s, &p);
}

/* Captures the launch of an instance as a child graph. */
CUresult capture_graph(CUstream s, CUgraphExec exec)
{
	CUgraphNodeParams p = {.type = CU_GRAPH_NODE_TYPE_GRAPH};

	GK_ASSERT(gk_lock_held(&graph_mutex));
	if (!exec_is(exec))
		return CUDA_ERROR_INVALID_VALUE;
	p.graph.graph = exec->exec->graph;
	return add_any(s, &p);
}
